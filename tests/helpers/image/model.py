"""The rules of replay, written down once more in the plainest way: dicts that are changed at once.

They come from the behaviour of Kafka 4.3.1 and not from the code under test. What Kafka gets wrong
is left out: a record of an unknown topic costs nothing but itself, an abort takes back all since
the begin, and a topic's name stands for the topic that had it last.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any

from kraftops.engine.metadata_state import PartitionState
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import LOG_APPEND_TIME
from tests.helpers.logs.random_logs import ZERO, LogBatch, MetadataRecord

State = dict[str, Any]
_BEGIN = "BeginTransactionRecord"
_MARKERS = ("BeginTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord")
_CONTROLS_NO_STATE = ("NoOpRecord", "ZkMigrationStateRecord")


class Refused(Exception):
    """A record cannot apply."""


def _empty() -> State:
    return {
        "topics": {},
        "names": {},
        "brokers": {},
        "controllers": {},
        "configs": {},
        "quotas": {},
        "acls": {},
        "scram": {},
        "tokens": {},
        "features": {},
        "metadata.version": None,
        "producer ids": None,
        "provenance": (-1, -1, -1),
        "findings": [],
    }


class Model:
    """Replays a log."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.state = _empty()
        self.before: State = {}
        self.waiting: list[tuple[int, MetadataRecord]] | None = None

    def unit(self) -> None:
        """Begin a batch or a transaction; some rules use the state before it."""
        self.before = deepcopy(self.state)
        self.before["removed"] = set()

    def load(self, log: Iterable[LogBatch]) -> State:
        """Return the state after a log."""
        for batch in log:
            self.batch(batch)
        self.state["findings"].sort()
        return self.state

    def batch(self, batch: LogBatch) -> None:
        """Replay a batch."""
        newest = max(one.timestamp for one in batch.records)
        if self.waiting is None:
            self.unit()
        for offset, record in enumerate(batch.records, batch.base_offset):
            if record.name in _MARKERS:
                if record.name == _BEGIN and self.waiting is None and offset > batch.base_offset:
                    self.state["provenance"] = (offset - 1, batch.epoch, newest)
                self.marker(offset, record.name)
            elif self.waiting is None:
                self.replay(offset, record)
            else:
                self.waiting.append((offset, record))
        if self.waiting is None:
            self.state["provenance"] = (batch.end - 1, batch.epoch, newest)

    def marker(self, offset: int, name: str) -> None:
        """Begin, end or abort a transaction."""
        if (name == _BEGIN) != (self.waiting is None):
            self.refuse(offset)
            return
        waiting, self.waiting = self.waiting, [] if name == _BEGIN else None
        if name == "EndTransactionRecord":
            for each in waiting or ():
                self.replay(*each)
        else:
            self.unit()

    def refuse(self, offset: int) -> None:
        """Note that a record is left out."""
        self.state["findings"].append(offset)

    def replay(self, offset: int, record: MetadataRecord) -> None:
        """Replay a record."""
        if not record.name:
            self.refuse(offset)
            return
        if record.name in _CONTROLS_NO_STATE:
            return
        rule: Callable[[Any, int], None] = getattr(self, record.name.removesuffix("Record"))
        try:
            rule(record.data, record.version)
        except Refused:
            self.refuse(offset)

    # Topics

    def Topic(self, data: Any, _: int) -> None:  # noqa: N802 - named as the record
        topic_id = data["topicId"]
        self._drop(topic_id)
        self.state["topics"][topic_id] = {"name": data["name"], "partitions": {}}
        self.state["names"][data["name"]] = topic_id

    def _drop(self, topic_id: bytes) -> None:
        old = self.state["topics"].pop(topic_id, None)
        if old is not None and self.state["names"].get(old["name"]) == topic_id:
            del self.state["names"][old["name"]]

    def RemoveTopic(self, data: Any, _: int) -> None:  # noqa: N802
        topic_id = data["topicId"]
        topic = self.state["topics"].get(topic_id) or self.before["topics"].get(topic_id)
        if topic is None:
            raise Refused
        self._drop(topic_id)
        resource = (2, topic["name"])
        if resource in self.before["configs"]:
            self.state["configs"].pop(resource, None)

    def _topic(self, topic_id: bytes) -> Any:
        if topic_id not in self.state["topics"]:
            raise Refused
        return self.state["topics"][topic_id]

    def Partition(self, data: Any, version: int) -> None:  # noqa: N802
        topic = self._topic(data["topicId"])
        replicas = data["replicas"]
        directories = data["directories"] if version >= 1 else []
        if directories and len(directories) != len(replicas):
            raise Refused
        if not any(one != ZERO for one in directories):
            directories = [ZERO] * len(replicas)
        if data["leaderRecoveryState"] not in (0, 1):
            raise Refused
        has_elr = version >= 2
        topic["partitions"][data["partitionId"]] = {
            "replicas": replicas,
            "directories": directories,
            "isr": data["isr"],
            "removingReplicas": data["removingReplicas"],
            "addingReplicas": data["addingReplicas"],
            "eligibleLeaderReplicas": (data["eligibleLeaderReplicas"] or []) if has_elr else [],
            "lastKnownElr": (data["lastKnownElr"] or []) if has_elr else [],
            "leader": data["leader"],
            "leaderRecoveryState": data["leaderRecoveryState"],
            "leaderEpoch": data["leaderEpoch"],
            "partitionEpoch": data["partitionEpoch"],
        }

    def PartitionChange(self, data: Any, version: int) -> None:  # noqa: N802
        partitions = self._topic(data["topicId"])["partitions"]
        if data["partitionId"] not in partitions:
            raise Refused
        new = dict(partitions[data["partitionId"]])
        fields = ["isr", "replicas", "removingReplicas", "addingReplicas"]
        if version >= 2:
            fields += ["eligibleLeaderReplicas", "lastKnownElr"]
        new |= {field: data[field] for field in fields if data[field] is not None}
        new["directories"] = self._directories(new, data, version)
        if data["leader"] != -2:
            new["leader"] = data["leader"]
            new["leaderEpoch"] = _next(new["leaderEpoch"])
        if data["leaderRecoveryState"] not in (-1, 0, 1):
            raise Refused
        if data["leaderRecoveryState"] >= 0:
            new["leaderRecoveryState"] = data["leaderRecoveryState"]
        new["partitionEpoch"] = _next(new["partitionEpoch"])
        partitions[data["partitionId"]] = new

    @staticmethod
    def _directories(new: Any, data: Any, version: int) -> Any:
        given = data["directories"] if version >= 1 else None
        if given and data["replicas"] is not None and len(given) != len(data["replicas"]):
            raise Refused
        directories = new["directories"] if given is None else given
        if not any(one != ZERO for one in directories):
            return [ZERO] * len(new["replicas"])
        if len(directories) != len(new["replicas"]):
            raise Refused
        return directories

    def ClearElr(self, data: Any, _: int) -> None:  # noqa: N802
        chosen = list(self.state["topics"].values())
        if name := data["topicName"]:
            if name not in self.state["names"]:
                if name in self.before["names"]:
                    return
                raise Refused
            chosen = [self.state["topics"][self.state["names"][name]]]
        for topic in chosen:
            for partition in topic["partitions"].values():
                if partition["eligibleLeaderReplicas"] or partition["lastKnownElr"]:
                    partition["eligibleLeaderReplicas"] = partition["lastKnownElr"] = []
                    partition["partitionEpoch"] = _next(partition["partitionEpoch"])

    # Nodes

    def RegisterBroker(self, data: Any, version: int) -> None:  # noqa: N802
        absent = {
            "inControlledShutdown": (1, False),
            "isMigratingZkBroker": (2, False),
            "logDirs": (3, []),
            "cordonedLogDirs": (4, None),
        }
        state = dict(data)
        for field, (first, default) in absent.items():
            if version < first:
                state[field] = default
        self.state["brokers"][data["brokerId"]] = state

    def UnregisterBroker(self, data: Any, _: int) -> None:  # noqa: N802
        self.state["brokers"].pop(data["brokerId"], None)

    def _broker(self, broker: int, epoch: int) -> Any:
        found = self.state["brokers"].get(broker)
        if found is None or found["brokerEpoch"] != epoch:
            raise Refused
        return found

    def FenceBroker(self, data: Any, _: int) -> None:  # noqa: N802
        self._broker(data["id"], data["epoch"])["fenced"] = True

    def UnfenceBroker(self, data: Any, _: int) -> None:  # noqa: N802
        self._broker(data["id"], data["epoch"])["fenced"] = False

    def BrokerRegistrationChange(self, data: Any, version: int) -> None:  # noqa: N802
        state = self._broker(data["brokerId"], data["brokerEpoch"])
        shutdown = data["inControlledShutdown"] if version >= 1 else 0
        if data["fenced"] not in (-1, 0, 1) or shutdown not in (0, 1):
            raise Refused
        if data["fenced"]:
            state["fenced"] = data["fenced"] == 1
        if shutdown:
            state["inControlledShutdown"] = True
        if version >= 2 and data["logDirs"]:
            state["logDirs"] = data["logDirs"]
        if version >= 3 and data["cordonedLogDirs"] is not None:
            state["cordonedLogDirs"] = data["cordonedLogDirs"]

    def RegisterController(self, data: Any, _: int) -> None:  # noqa: N802
        if any(one["securityProtocol"] not in (0, 1, 2, 3) for one in data["endPoints"]):
            raise Refused
        self.state["controllers"][data["controllerId"]] = data

    # All else

    def Config(self, data: Any, _: int) -> None:  # noqa: N802
        resource = (data["resourceType"], data["resourceName"])
        _set(self.state["configs"], resource, data["name"], data["value"])

    def ClientQuota(self, data: Any, _: int) -> None:  # noqa: N802
        names = {one["entityType"]: one["entityName"] for one in data["entity"]}
        value = None if data["remove"] else data["value"]
        _set(self.state["quotas"], tuple(sorted(names.items())), data["key"], value)

    def ProducerIds(self, data: Any, _: int) -> None:  # noqa: N802
        self.state["producer ids"] = data["nextProducerId"]

    def AccessControlEntry(self, data: Any, _: int) -> None:  # noqa: N802
        self.state["acls"][data["id"]] = data

    def RemoveAccessControlEntry(self, data: Any, _: int) -> None:  # noqa: N802
        known = data["id"] in self.before["acls"] or data["id"] in self.state["acls"]
        if not known:
            raise Refused
        self.state["acls"].pop(data["id"], None)

    def UserScramCredential(self, data: Any, _: int) -> None:  # noqa: N802
        self.state["scram"][data["mechanism"], data["name"]] = data

    def RemoveUserScramCredential(self, data: Any, _: int) -> None:  # noqa: N802
        self.state["scram"].pop((data["mechanism"], data["name"]), None)

    def DelegationToken(self, data: Any, _: int) -> None:  # noqa: N802
        self.state["tokens"][data["tokenId"]] = data

    def RemoveDelegationToken(self, data: Any, _: int) -> None:  # noqa: N802
        self.state["tokens"].pop(data["tokenId"], None)

    def FeatureLevel(self, data: Any, _: int) -> None:  # noqa: N802
        name, level = data["name"], data["featureLevel"]
        if name == "metadata.version":
            if not 7 <= level <= 31:
                raise Refused
            self.state[name] = level
        elif name != "kraft.version":
            self.state["features"].pop(name, None)
            if level:
                self.state["features"][name] = level


def _next(epoch: int) -> int:
    return -(1 << 31) if epoch == (1 << 31) - 1 else epoch + 1


def _set(table: dict[Any, Any], whom: Any, key: str, value: Any) -> None:
    keys = table.setdefault(whom, {})
    keys.pop(key, None)
    if value is not None:
        keys[key] = value
    if not keys:
        del table[whom]


def model_of(log: Iterable[LogBatch]) -> State:
    """Return what an image of the log holds by the rules."""
    return Model().load(log)


def without_append_times(log: Iterable[LogBatch]) -> list[LogBatch]:
    """Return the log with the times of its records, not those of its appending."""
    return [batch._replace(attributes=batch.attributes & ~LOG_APPEND_TIME) for batch in log]


def state_of(image: MetadataImage) -> State:
    """Return what an image holds, in the shape of the model."""
    provenance = image.provenance
    state = _empty()
    fold = image.fold
    state["topics"] = {
        topic_id: {
            "name": topic.name,
            "partitions": {
                number: partition_fields(partition)
                for number, partition in fold.partitions(topic_id)
            },
        }
        for topic_id, topic in image.topics.items()
    }
    for topic_id in image.topics:
        numbers = fold.numbers(topic_id)
        assert numbers == [number for number, _ in fold.partitions(topic_id)]
        assert numbers == sorted(set(numbers))
        assert fold.partition_count(topic_id) == len(numbers)
    assert fold.partition_count() == sum(map(fold.partition_count, image.topics))
    assert fold.topic_count() == len(list(image.topics))
    state["names"] = image.topic_ids
    state["brokers"] = {number: image.broker(number) for number in image.brokers}
    state["controllers"] = _data(image, image.controllers)
    state["configs"] = {
        resource: {key: image.read(at)[1]["value"] for key, at in keys.items()}
        for resource, keys in image.configs.items()
    }
    state["quotas"] = {
        entity: {key: image.read(at)[1]["value"] for key, at in keys.items()}
        for entity, keys in image.quotas.items()
    }
    state["acls"] = _data(image, image.acls)
    state["scram"] = {
        (mechanism, user): image.read(at)[1]
        for mechanism, users in image.scram.items()
        for user, at in users.items()
    }
    state["tokens"] = _data(image, image.tokens)
    state["features"] = {name: level for name, (level, _) in image.features.items()}
    state["metadata.version"] = image.metadata_version and image.metadata_version[0]
    if image.producer_ids is not None:
        state["producer ids"] = image.read(image.producer_ids)[1]["nextProducerId"]
    state["provenance"] = (provenance.offset, provenance.epoch, provenance.timestamp)
    state["findings"] = sorted(image.record(at).offset for at, _ in image.record_findings)
    return state


def _data(image: MetadataImage, addresses: Mapping[Any, int]) -> Any:
    return {key: image.read(address)[1] for key, address in addresses.items()}


def partition_fields(state: PartitionState) -> State:
    """Return a partition's state in the fields of its record."""
    return {
        "replicas": state.replicas,
        "directories": state.directories,
        "isr": state.isr,
        "removingReplicas": state.removing_replicas,
        "addingReplicas": state.adding_replicas,
        "eligibleLeaderReplicas": state.eligible_leader_replicas,
        "lastKnownElr": state.last_known_elr,
        "leader": state.leader,
        "leaderRecoveryState": state.leader_recovery_state,
        "leaderEpoch": state.leader_epoch,
        "partitionEpoch": state.partition_epoch,
    }


def partition_states(image: MetadataImage) -> dict[tuple[bytes, int], PartitionState]:
    """Return all partitions of an image, each asked for by itself."""
    found = {}
    for topic_id in image.topics:
        for number in image.fold.numbers(topic_id):
            state = image.partition(topic_id, number)
            assert state is not None
            found[topic_id, number] = state
    return found
