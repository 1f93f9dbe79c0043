"""A random cluster, and the values of its metadata records."""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import NamedTuple

from kraftops.schema.compile import compiled
from kraftops.schema.tables import messages
from kraftops.varint import uvarint_bytes

FRAME_VERSION = 1

BROKERS = range(1, 13)
FIRST_TOPICS = 200
MAX_TOPICS = 5000
MIX = {"change": 62, "partition": 20, "topic": 6, "config": 6, "other": 6}
NOUNS = [
    *("orders", "payments", "audit", "clicks", "users", "sessions", "stock", "mail", "ledger"),
    *("events", "metrics", "traces", "billing", "search"),
]
CONFIGS = {
    "cleanup.policy": "compact",
    "retention.ms": "604800000",
    "min.insync.replicas": "2",
    "segment.bytes": "1073741824",
    "compression.type": "zstd",
    "retention.bytes": "-1",
    "max.message.bytes": "2097164",
    "message.timestamp.type": "LogAppendTime",
}
LISTENERS = (
    {"name": "INTERNAL", "port": 9093, "securityProtocol": 2},
    {"name": "PLAINTEXT", "port": 9092, "securityProtocol": 0},
)


def framed(name: str, version: int, data: Mapping[str, object]) -> bytes:
    """Return a metadata record's value."""
    message = messages("metadata")[name]
    assert message.key is not None, f"{name} is not a record"
    head = bytes([FRAME_VERSION]) + uvarint_bytes(message.key) + uvarint_bytes(version)
    return head + compiled(message, version).write(data)


class Topic(NamedTuple):
    """A topic that later records name."""

    name: str
    id: bytes
    partitions: int


class Cluster:
    """A random cluster that yields metadata records of its changes."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.directories = {broker: random.randbytes(16) for broker in BROKERS}
        self.topics = [self._new_topic(number) for number in range(FIRST_TOPICS)]
        self.made = FIRST_TOPICS

    def values(self) -> Iterator[bytes]:
        """Yield values without end: the first topics, then every kind as often as `MIX` says."""
        yield framed("FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 30})
        for topic in self.topics:
            yield self._topic(topic)
        generators: dict[str, Callable[[], bytes]] = {
            "change": self._change,
            "partition": self._partition,
            "topic": self._created_topic,
            "config": self._config,
            "other": self._other,
        }
        kinds, weights = [generators[kind] for kind in MIX], list(MIX.values())
        while True:
            for make in self.random.choices(kinds, weights, k=100):
                yield make()

    def _new_topic(self, number: int) -> Topic:
        random = self.random
        first, second = random.choice(NOUNS), random.choice(NOUNS)
        name = f"{first}{random.choice('-._')}{second}-{number}"
        return Topic(name, random.randbytes(16), random.randint(1, 60))

    def _brokers(self, count: int) -> list[int]:
        return self.random.sample(BROKERS, count)

    def _topic(self, topic: Topic) -> bytes:
        return framed("TopicRecord", 0, {"name": topic.name, "topicId": topic.id})

    def _created_topic(self) -> bytes:
        topic = self._new_topic(self.made)
        self.made += 1
        if len(self.topics) < MAX_TOPICS:
            self.topics.append(topic)
        else:
            self.topics[self.made % MAX_TOPICS] = topic
        return self._topic(topic)

    def _partition(self) -> bytes:
        random = self.random
        topic = random.choice(self.topics)
        replicas = self._brokers(3)
        isr = replicas if random.random() < 0.9 else replicas[: random.randint(1, 2)]
        is_moving = random.random() < 0.02
        data = {
            "partitionId": random.randrange(topic.partitions),
            "topicId": topic.id,
            "replicas": replicas,
            "isr": isr,
            "removingReplicas": replicas[:1] if is_moving else [],
            "addingReplicas": [12] if is_moving else [],
            "leader": isr[0],
            "leaderRecoveryState": int(random.random() < 0.01),
            "leaderEpoch": random.randint(0, 300),
            "partitionEpoch": random.randint(0, 900),
            "directories": [self.directories[broker] for broker in replicas],
        }
        return framed("PartitionRecord", 1, data)

    def _change(self) -> bytes:
        """Make a change of leader, ISR or both, now and then a reassignment.

        What the version drawn does not have, the writer leaves out.
        """
        random = self.random
        version = random.choice((0, 1, 1, 1, 2))
        topic = random.choice(self.topics)
        isr = self._brokers(random.randint(1, 3))
        kind = random.random()
        data: dict[str, object] = {
            "partitionId": random.randrange(topic.partitions),
            "topicId": topic.id,
        }
        if kind < 0.5:
            data["leader"] = isr[0]
        if not 0.45 <= kind <= 0.5:
            data["isr"] = isr
        if 0.45 < kind < 0.46:
            data["leaderRecoveryState"] = 0
        if kind > 0.97:
            data["replicas"] = self._brokers(3)
            data["removingReplicas"] = []
            data["addingReplicas"] = self._brokers(1)
            data["directories"] = random.sample(list(self.directories.values()), 3)
        if kind < 0.2:
            data["eligibleLeaderReplicas"] = self._brokers(1)
        if kind < 0.02:
            data["lastKnownElr"] = []
        return framed("PartitionChangeRecord", version, data)

    def _config(self) -> bytes:
        random = self.random
        is_topic = random.random() < 0.9
        name, value = random.choice(list(CONFIGS.items()))
        data = {
            "resourceType": 2 if is_topic else 4,
            "resourceName": self._topic_name() if is_topic else str(random.choice(BROKERS)),
            "name": name,
            "value": value if random.random() < 0.9 else None,
        }
        return framed("ConfigRecord", 0, data)

    def _topic_name(self) -> str:
        return self.random.choice(self.topics).name

    def _other(self) -> bytes:
        """Make one of the rare records: a third of them are no-ops."""
        rare = (
            self._producer_ids,
            self._broker_change,
            self._acl,
            self._quota,
            self._broker,
            self._removed_topic,
        )
        kind = self.random.randrange(len(rare) + 3)
        return rare[kind]() if kind < len(rare) else framed("NoOpRecord", 0, {})

    def _broker_epoch(self) -> dict[str, object]:
        return {
            "brokerId": self.random.choice(BROKERS),
            "brokerEpoch": self.random.randrange(1 << 40),
        }

    def _producer_ids(self) -> bytes:
        data = self._broker_epoch() | {"nextProducerId": self.random.randrange(1 << 33)}
        return framed("ProducerIdsRecord", 0, data)

    def _broker_change(self) -> bytes:
        random = self.random
        data = self._broker_epoch() | {
            "fenced": random.choice((0, 1, -1)),
            "inControlledShutdown": random.choice((0, 1)),
            "logDirs": random.choice(((), list(self.directories.values())[:2])),
        }
        return framed("BrokerRegistrationChangeRecord", 2, data)

    def _acl(self) -> bytes:
        random = self.random
        data = {
            "id": random.randbytes(16),
            "resourceType": 2,
            "resourceName": self._topic_name(),
            "patternType": 3,
            "principal": f"User:app-{random.randint(1, 500)}",
            "host": "*",
            "operation": random.randint(2, 4),
            "permissionType": 3,
        }
        return framed("AccessControlEntryRecord", 0, data)

    def _quota(self) -> bytes:
        random = self.random
        data = {
            "entity": [
                {"entityType": "user", "entityName": f"app-{random.randint(1, 500)}"},
                {"entityType": "client-id", "entityName": None},
            ],
            "key": "consumer_byte_rate",
            "value": random.choice((1048576.0, 1e7, 0.5)),
            "remove": random.random() < 0.5,
        }
        return framed("ClientQuotaRecord", 0, data)

    def _broker(self) -> bytes:
        random = self.random
        data = self._broker_epoch()
        host = f"kafka-{data['brokerId']}.example.org"
        listeners = LISTENERS[: random.randint(1, len(LISTENERS))]
        data |= {
            "incarnationId": random.randbytes(16),
            "endPoints": [{"host": host, **listener} for listener in listeners],
            "features": [_feature("metadata.version", 7, 30), _feature("kraft.version", 0, 1)],
            "rack": random.choice((None, "rack-a", "rack-b")),
            "fenced": random.random() < 0.5,
            "logDirs": [self.directories[BROKERS[0]]],
        }
        return framed("RegisterBrokerRecord", 3, data)

    def _removed_topic(self) -> bytes:
        return framed("RemoveTopicRecord", 0, {"topicId": self.random.choice(self.topics).id})


def _feature(name: str, first: int, last: int) -> dict[str, object]:
    return {"name": name, "minSupportedVersion": first, "maxSupportedVersion": last}
