"""A cluster in memory that moves replicas, behind connections that can be cut at any request."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Self
from unittest.mock import patch

from kraftops.errors import AnswerError
from kraftops.placement.placement import Replicas, TopicPartition
from kraftops.reassign.access import ClusterAccess
from kraftops.wire import cluster as connections
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.connection import NodeKind, VersionRange
from kraftops.wire.rpc.endpoints import Endpoints

Answer = SimpleNamespace
_TOPIC = 2
_SET, _DELETE, _APPEND, _SUBTRACT = range(4)
_OWN = {2: 1, 4: 2}  # sources of values by the type of the resource
_KNOWN = "cordoned.log.dirs"
_DEFAULTS = ""


class Killed(BaseException):
    """The process ends here."""


class MovingCluster:
    """Brokers by id: whether each is fenced; partitions, and configurations by type and name.

    Partitions have *sizes* in bytes; brokers have *directories*, by default one, each with its usable
    bytes: a replica comes to the one that was asked for, else to the one with the fewest.

    A reassignment ends some requests later, and a broker is behind for one answer then. *cut_at* is
    the number of the request at which the process is killed: with its effect if it is even, before
    it if it is odd.
    """

    def __init__(
        self, brokers: range, partitions: dict[TopicPartition, tuple[int, ...]], *, is_old: bool
    ) -> None:
        self.brokers = dict.fromkeys(brokers, False)
        self.partitions = {
            partition: Replicas(replicas, replicas, replicas[0])
            for partition, replicas in partitions.items()
        }
        self.configs: dict[tuple[int, str], dict[str, str]] = {}
        self.is_old = is_old
        self.requests_of: dict[TopicPartition, int] = {}
        """Requests after which the reassignment of a partition ends, if not after four."""
        self.sizes: dict[TopicPartition, int] = {}
        self.directories: dict[int, dict[str, int]] = {}
        self.most_in_flight = 0
        self.requests = 0
        self.cut_at: int | None = None
        self._age: dict[TopicPartition, int] = {}
        self._behind: dict[TopicPartition, Replicas] = {}  # brokers do not know of an end yet
        self.asked: dict[tuple[int, TopicPartition], str] = {}
        self._paths: dict[tuple[int, TopicPartition], str] = {}
        self.copies_slowly = False
        """Whether copies between directories are in flight until a test says so, half done."""
        self.coming: dict[tuple[int, TopicPartition], str] = {}

    @contextmanager
    def reached(self) -> Iterator[ClusterAccess]:
        """Give access to the cluster; time does not pass."""

        def connection(address: Address, *_: object) -> "_Connection":
            if self.brokers[address.port]:
                raise AssertionError(f"broker {address.port} is down")
            return _Connection(self, address)

        def connect(
            bootstrap: list[Bootstrap], *_: object, first: Callable[["_Connection"], None]
        ) -> "_Connection":
            running = [
                each.address for each in bootstrap if not self.brokers.get(each.address.port, 1)
            ]
            connection = _Connection(self, running[0])
            first(connection)
            return connection

        endpoints = Endpoints([Bootstrap(Address("b", each)) for each in self.brokers], Settings())
        with (
            patch.object(connections, "Connection", connection),
            patch.object(connections, "connect", connect),
            patch("time.sleep"),
            ClusterAccess(endpoints) as found,
        ):
            yield found

    def answer(self, broker: int, api: str, values: dict[str, Any]) -> Answer:
        self.requests += 1
        self._advance()
        if self.cut_at is not None and self.requests * 2 - 1 == self.cut_at:
            raise Killed
        found: Answer = getattr(self, re.sub(r"([A-Z])", r"_\1", api).lower())(broker, **values)
        if self.cut_at is not None and self.requests * 2 == self.cut_at:
            raise Killed
        return found

    def _advance(self) -> None:
        in_flight = sum(found.is_moving for found in self.partitions.values())
        self.most_in_flight = max(self.most_in_flight, in_flight)
        for partition, found in self.partitions.items():
            if not found.is_moving:
                continue
            self._age[partition] = self._age.get(partition, 0) + 1
            if self._age[partition] > self.requests_of.get(partition, 4):
                target = found.target
                leader = found.leader if found.leader in target else target[0]
                self._behind[partition] = found
                self.partitions[partition] = Replicas(target, target, leader)
                del self._age[partition]

    def contents(self, broker: int) -> dict[str, list[TopicPartition]]:
        """Return the partitions in each log directory of a broker."""
        paths: dict[str, list[TopicPartition]] = {
            path: [] for path in self.directories.get(broker, {"/d": 1 << 40})
        }
        for partition, replicas in self.partitions.items():
            if broker in replicas.replicas:
                fewest = min(paths, key=lambda path: len(paths[path]))
                chosen = self.asked.get((broker, partition), fewest)
                paths[self._paths.setdefault((broker, partition), chosen)].append(partition)
        return paths

    def _describe_log_dirs(self, broker: int, *, topics: list[Any] | None, **__: Any) -> Answer:
        usable = self.directories.get(broker, {"/d": 1 << 40})
        asked = {topic["topic"] for topic in topics or ()}
        return Answer(
            error_code=0,
            results=[
                Answer(
                    error_code=0,
                    log_dir=path,
                    total_bytes=1 << 50 | number,
                    usable_bytes=usable[path],
                    is_cordoned=False,
                    topics=[
                        Answer(
                            name=topic,
                            partitions=[
                                Answer(
                                    partition_index=index,
                                    partition_size=self._size(TopicPartition(topic, index), broker)
                                    // (2 if is_future else 1),
                                    offset_lag=0,
                                    is_future_key=is_future,
                                )
                            ],
                        )
                        for is_future, names in (
                            (False, partitions),
                            (True, self._future(broker, path)),
                        )
                        for topic, index in names
                        if topics is None or topic in asked
                    ],
                )
                for number, (path, partitions) in enumerate(self.contents(broker).items())
            ],
        )

    def end_copies(self) -> None:
        """Have copies between directories end, those in flight and all later ones."""
        self._paths |= self.coming
        self.coming.clear()
        self.copies_slowly = False

    def _future(self, broker: int, path: str) -> list[TopicPartition]:
        return [p for (own, p), to in self.coming.items() if (own, to) == (broker, path)]

    def _alter_replica_log_dirs(self, broker: int, *, dirs: list[Any]) -> Answer:
        results = []
        for directory in dirs:
            for topic in directory["topics"]:
                answers = []
                for index in topic["partitions"]:
                    place = (broker, TopicPartition(topic["name"], index))
                    self.asked[place] = directory["path"]
                    if broker in self.partitions[place[1]].replicas:
                        self.coming.pop(place, None)
                        if self.copies_slowly and directory["path"] != self._paths[place]:
                            self.coming[place] = directory["path"]
                        else:
                            self._paths[place] = directory["path"]
                        answers.append(Answer(partition_index=index, error_code=0))
                    else:
                        answers.append(Answer(partition_index=index, error_code=9))
                results.append(Answer(topic_name=topic["name"], partitions=answers))
        return Answer(results=results)

    def _describe_cluster(self, _: int, **values: Any) -> Answer:
        nodes = [
            Answer(broker_id=each, host="b", port=each, rack=None, is_fenced=is_fenced)
            for each, is_fenced in self.brokers.items()
            if not is_fenced or values.get("include_fenced_brokers")
        ]
        return Answer(
            error_code=0, cluster_id="c", brokers=nodes, controller_id=-1,
            cluster_authorized_operations=0x1FFF,
        )  # fmt: skip

    def _metadata(self, _: int, **__: Any) -> Answer:
        topics: dict[str, list[Answer]] = {}
        known = {**self.partitions, **self._behind}
        self._behind.clear()
        for (topic, number), found in known.items():
            topics.setdefault(topic, []).append(
                Answer(
                    partition_index=number,
                    replica_nodes=[*found.replicas],
                    isr_nodes=[*found.isr],
                    leader_id=found.leader,
                )
            )
        return Answer(
            topics=[
                Answer(name=name, error_code=0, partitions=each) for name, each in topics.items()
            ]
        )

    def _list_partition_reassignments(self, _: int, **__: Any) -> Answer:
        return Answer(
            error_code=0,
            topics=[
                Answer(
                    name=topic,
                    partitions=[
                        Answer(
                            partition_index=number,
                            replicas=found.replicas,
                            adding_replicas=found.adding,
                            removing_replicas=found.removing,
                        )
                    ],
                )
                for (topic, number), found in self.partitions.items()
                if found.is_moving
            ],
        )

    def _alter_partition_reassignments(
        self, _: int, *, topics: list[Any], allow_replication_factor_change: bool, **__: Any
    ) -> Answer:
        for topic in topics:
            for each in topic["partitions"]:
                partition = TopicPartition(topic["name"], each["partition_index"])
                self._reassign(
                    partition, each["replicas"], changes_counts=allow_replication_factor_change
                )
        return Answer(error_code=0, responses=[])

    def _reassign(
        self, partition: TopicPartition, wanted: list[int] | None, *, changes_counts: bool = False
    ) -> None:
        found = self.partitions[partition]
        before = tuple(each for each in found.replicas if each not in found.adding)
        if wanted is None:
            self.partitions[partition] = Replicas(before, found.isr, found.leader)
            return
        is_same = len(wanted) == len(found.target)
        assert is_same or changes_counts, "the number of replicas changes"
        assert {*wanted} <= {each for each, is_fenced in self.brokers.items() if not is_fenced}
        removing = tuple(each for each in before if each not in wanted)
        adding = tuple(each for each in wanted if each not in before)
        self.partitions[partition] = Replicas(
            (*wanted, *removing), found.isr, found.leader, adding, removing
        )

    def _elect_leaders(
        self, _: int, *, election_type: int, topic_partitions: list[Any], **__: Any
    ) -> Answer:
        assert election_type == 1, "an unclean election"
        for topic in topic_partitions:
            for index in topic["partitions"]:
                partition = TopicPartition(topic["topic"], index)
                replicas = self.partitions[partition]
                leader = next(each for each in replicas.target if not self.brokers.get(each, True))
                self.partitions[partition] = replicas._replace(isr=(leader,), leader=leader)
        return Answer(error_code=0, replica_election_results=[])

    def _describe_quorum(self, _: int, **__: Any) -> Answer:
        voter = Answer(
            replica_id=1, replica_directory_id=None, log_end_offset=0, last_fetch_timestamp=0,
            last_caught_up_timestamp=0,
        )  # fmt: skip
        partition = Answer(
            error_code=0, leader_id=1, leader_epoch=1, high_watermark=1, current_voters=[voter],
            observers=[],
        )  # fmt: skip
        return Answer(error_code=0, topics=[Answer(partitions=[partition])], nodes=[])

    def _size(self, partition: TopicPartition, broker: int) -> int:
        """Return the bytes of a replica: those of a copy grow until it has all."""
        size = self.sizes.get(partition, 1000)
        if broker in self.partitions[partition].isr:
            return size
        return size * self._age.get(partition, 0) // (self.requests_of.get(partition, 4) + 1)

    def _describe_configs(self, broker: int, *, resources: list[Any], **__: Any) -> Answer:
        results = []
        for each in resources:
            kind, name = each["resource_type"], each["resource_name"]
            own = name in (str(broker), _DEFAULTS)
            assert kind == _TOPIC or own, "only a broker tells its configuration"
            values = self.configs.get((kind, name), {})
            source = _OWN[kind] if name != _DEFAULTS else 3
            found = [
                Answer(name=key, value=values[key], config_source=source)
                if key in values
                else Answer(name=key, value=None, config_source=5)
                for key in each["configuration_keys"] or {**values, _KNOWN: None}
                if key in values or (key == _KNOWN and not self.is_old)
            ]
            results.append(Answer(error_code=0, resource_name=name, configs=found))
        return Answer(results=results)

    def _incremental_alter_configs(self, broker: int, *, resources: list[Any], **__: Any) -> Answer:
        for each in resources:
            kind, name = each["resource_type"], each["resource_name"]
            own = name in (str(broker), _DEFAULTS)
            assert kind == _TOPIC or own, "only a broker changes its configuration"
            values = self.configs.setdefault((kind, name), {})
            for change in each["configs"]:
                _change(values, change["name"], change["config_operation"], change["value"])
        return Answer(responses=[])

    def _unregister_broker(self, _: int, *, broker_id: int) -> Answer:
        if broker_id not in self.brokers:
            return Answer(error_code=102, error_message=None)
        assert self.brokers[broker_id], "a broker that runs is unregistered"
        held = [p for p, found in self.partitions.items() if broker_id in found.replicas]
        assert held == [], "a broker with replicas is unregistered"
        del self.brokers[broker_id]
        return Answer(error_code=0, error_message=None)


def _change(values: dict[str, str], key: str, operation: int, value: str | None) -> None:
    if operation == _DELETE:
        values.pop(key, None)
        return
    assert value is not None
    old = [each for each in values.get(key, "").split(",") if each]
    some = value.split(",")
    if operation == _APPEND:
        value = ",".join([*old, *(each for each in some if each not in old)])
    elif operation == _SUBTRACT:
        value = ",".join(each for each in old if each not in some)
    values[key] = value


class _Connection:
    kind = NodeKind.BROKER

    def __init__(self, cluster: MovingCluster, address: Address) -> None:
        self.address = address
        self.deadline = Deadline(1)
        self._cluster = cluster

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass

    def versions_of(self, _: str) -> VersionRange:
        return VersionRange(0, 1 if self._cluster.is_old else 2)

    def error_of(self, code: int, message: str | None, _: str = "") -> AnswerError:
        return AnswerError(f"{self.address}: {message}", error_code=code)

    def ask(self, api: str, /, *, lowest: int = 0, **values: Any) -> Answer:
        del lowest
        return self.change(api, **values)

    def change(self, api: str, /, **values: Any) -> Answer:
        return self._cluster.answer(self.address.port, api, values)
