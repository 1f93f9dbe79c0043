"""Metadata logs of known records: written by hand or at random, and cut anywhere."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple

from kraftops.log.batch import CONTROL, LOG_APPEND_TIME, Record
from kraftops.schema.compile import compiled
from kraftops.schema.tables import messages
from kraftops.varint import uvarint_bytes
from tests.helpers.logs.written import batch_bytes

Data = Mapping[str, Any]

_TABLES = {"kafka": "metadata", "kip-631": "kip_631", "kip-631-draft": "kip_631_draft"}
_FRAMES = {"kafka": b"\1", "kip-631": b"\0", "kip-631-draft": b""}
FIRST_TIME = 1_700_000_000_000
ZERO = bytes(16)


class MetadataRecord(NamedTuple):
    """A metadata record; *name* is empty if the *value* cannot be read."""

    name: str
    version: int
    data: Data
    value: bytes | None
    timestamp: int = FIRST_TIME


class LogBatch(NamedTuple):
    """A batch of records with consecutive offsets."""

    base_offset: int
    records: Sequence[MetadataRecord]
    epoch: int = 1
    attributes: int = 0

    @property
    def end(self) -> int:
        """The offset after the batch."""
        return self.base_offset + len(self.records)

    def __bytes__(self) -> bytes:
        return batch_bytes(
            [
                Record(self.base_offset + at, one.timestamp, None, one.value)
                for at, one in enumerate(self.records)
            ],
            attributes=self.attributes,
            leader_epoch=self.epoch,
        )


def new_record(
    name: str,
    /,
    _version: int | None = None,
    *,
    dialect: str = "kafka",
    time: int = FIRST_TIME,
    **data: Any,
) -> MetadataRecord:
    """Return a record, by default of the newest version; what is not said has its default."""
    message = messages(_TABLES[dialect])[name]
    version = message.versions.last if _version is None else _version
    assert message.key is not None
    assert version is not None
    head = _FRAMES[dialect] + uvarint_bytes(message.key) + uvarint_bytes(version)
    return MetadataRecord(name, version, data, head + compiled(message, version).write(data), time)


def unreadable(value: bytes | None, time: int = FIRST_TIME) -> MetadataRecord:
    """Return a record with a value that nobody can read."""
    return MetadataRecord("", 0, {}, value, time)


def log_batches(
    *batches: Sequence[MetadataRecord], first: int = 0, epoch: int = 1
) -> list[LogBatch]:
    """Return batches, one offset after the other."""
    found = []
    for records in batches:
        found.append(LogBatch(first, records, epoch))
        first += len(records)
    return found


def log_bytes(log: Iterable[LogBatch]) -> bytes:
    """Return a segment of these batches."""
    return b"".join(map(bytes, log))


def cut(log: Iterable[LogBatch], offset: int) -> list[LogBatch]:
    """Return the log as it was after the record at *offset*."""
    found = []
    for batch in log:
        left = batch.records[: max(0, offset + 1 - batch.base_offset)]
        if left:
            found.append(batch._replace(records=left))
    return found


@cache
def leader_change(offset: int, leader: int, epoch: int = 1) -> bytes:
    """Return a batch that tells of a new leader."""
    voters = [{"voterId": 1}, {"voterId": 2}]
    data = {"version": 0, "leaderId": leader, "voters": voters, "grantingVoters": voters}
    value = compiled(messages("control")["LeaderChangeMessage"], 0).write(data)
    record = Record(offset, FIRST_TIME, bytes(2) + (2).to_bytes(2), value)
    return batch_bytes([record], attributes=CONTROL, leader_epoch=epoch)


def uuid(number: int) -> bytes:
    """Return an id."""
    return number.to_bytes(16)


# At random


class Taste(NamedTuple):
    """The options of random logs."""

    unknown_topics: bool = True
    """Partitions and changes of topics that there are not: Kafka loses their batches."""
    shared_names: bool = True
    """Names that go from topic to topic: Kafka's index of names does not follow."""
    after_abort: bool = True
    """Records behind an abort in its batch: Kafka keeps what was aborted."""
    unreadable: bool = True
    runs: bool = True
    """Topics of up to 300 partitions."""
    odd_quotas: bool = True
    """Entities without parts, or with unknown ones: Kafka's tree breaks off."""
    double_begin: bool = True
    """Transactions that begin twice in a row: by Kafka's provenance, the first is in the image."""
    mixed_scram: bool = True
    """Credentials put and removed in one batch: Kafka loses some where a mechanism is emptied."""


BEGIN = ("BeginTransactionRecord",)
BROKERS = (1, 2, 3, 10)
TOPICS = tuple(uuid(number) for number in (1, 2, 1 << 100, 1 << 127))
NAMES = ("a", "b", "orders", "\u00e4\U0001f600")
CONFIGS = ("retention.ms", "cleanup.policy", "min.insync.replicas", "message.format.version", "x")
_RESOURCES = (2, 2, 2, 4, 4, 16, 32, 8, 0, 77, -1)
_DIRECTORIES = tuple(uuid(number) for number in (0, 1, 2, 77, 1 << 90, 1 << 127))
_USERS = ("u", "v(w)", "\\", "")
_TIMES = (
    0,
    100,
    60_000,
    FIRST_TIME,
    FIRST_TIME + 1_234,
    -1,
    -86_400_001,
    253_402_300_800_000,
    -62_198_755_200_001,
)
_UNREADABLE = (
    None,
    b"",
    b"\1",
    b"\0\2\0",
    b"\2\24\0\0",
    b"\1\6\0\0",
    b"\1\35\0\0",
    b"\1\3\0",
    b"\1\3\2" + bytes(25),
    b"\1\24\0\0\0",
    b"\1\5\1" + bytes(20),
    b"\xff" * 9,
)


class RandomLog:
    """Makes up logs in which records meet those that they are about, often but not always."""

    def __init__(self, random: Random, taste: Taste | None = None) -> None:
        """Choose by *random*."""
        self.random = random
        self.taste = taste or Taste()
        self._live: set[bytes] = set()  # as far as no transaction has a say in it
        self._saved: set[bytes] = set()
        self._open = False
        self._has_begun = False  # with the last record
        self._removes_scram = False
        self._time = FIRST_TIME

    def log(self, most_batches: int = 8, most_records: int = 8) -> list[LogBatch]:
        """Return a log."""
        random, offset, epoch, found = self.random, 0, 1, []
        for _ in range(random.randint(1, most_batches)):
            records = list(self._batch(random.randint(1, most_records)))
            attributes = random.choice((0, 0, 0, 1, 4)) | random.choice((0, 0, 0, LOG_APPEND_TIME))
            found.append(LogBatch(offset, records, epoch, attributes))
            offset += len(records) + random.choice((0, 0, 0, 0, 3))
            epoch += random.choice((0, 0, 1))
        return found

    def _batch(self, count: int) -> Iterator[MetadataRecord]:
        random = self.random
        if not self._open:
            self._removes_scram = random.random() < 0.4
        if self.taste.runs and random.random() < 0.1:
            yield from self._run()
        for number in range(count):
            # Kafka's reader of snapshots dies where it can read nothing of a batch.
            if number and self.taste.unreadable and random.random() < 0.04:
                yield self._at(unreadable(random.choice(_UNREADABLE)))
                continue
            one = self.record()
            yield one
            if one.name == "AbortTransactionRecord" and not self.taste.after_abort:
                return

    def _run(self) -> Iterator[MetadataRecord]:
        """Yield partitions one after the other, as a new topic has them, most of them alike."""
        random = self.random
        topic_id = random.choice(TOPICS)
        self._live.add(topic_id)
        yield self._at(self._made("TopicRecord", topicId=topic_id, name=self._name_of(topic_id)))
        first = random.choice((0, 0, 0, 0, 1))
        version = random.choice((0, 1, 1, 2))
        count = random.choice((0, 1, 2, 3))
        for number in range(first, first + random.choice((7, 9, 18, 40, 300))):
            is_odd = random.random() < 0.03
            replicas = self._ids() if is_odd else random.sample(BROKERS, count)
            yield self._at(
                self._made(
                    "PartitionRecord",
                    version,
                    partitionId=self._number() if is_odd and random.random() < 0.3 else number,
                    topicId=self._topic_id() if is_odd and random.random() < 0.3 else topic_id,
                    replicas=replicas,
                    isr=replicas[:1] if is_odd else replicas,
                    removingReplicas=self._ids(1) if is_odd else [],
                    addingReplicas=self._ids(1) if is_odd else [],
                    leader=random.choice(BROKERS),
                    leaderRecoveryState=int(is_odd and random.random() < 0.3),
                    leaderEpoch=number,
                    partitionEpoch=0,
                    directories=self._uuids(len(replicas)) if is_odd else [uuid(9)] * len(replicas),
                    eligibleLeaderReplicas=self._some_ids() if is_odd else None,
                    lastKnownElr=None,
                )
            )
            if random.random() < 0.01:
                yield self._at(self._other())

    def _at(self, record: MetadataRecord) -> MetadataRecord:
        self._time += self.random.choice((0, 1, 1000, -5))
        is_odd = self.random.random() < 0.05
        return record._replace(timestamp=self.random.choice(_TIMES) if is_odd else self._time)

    def record(self) -> MetadataRecord:
        """Return a record."""
        random = self.random
        has_begun, self._has_begun = self._has_begun, False
        if random.random() < (0.2 if self._open else 0.05):
            self._has_begun = has_begun
            return self._at(self._marker())
        generators = random.choices(
            (self._partition, self._change, self._topic, self._broker, self._other),
            (24, 30, 14, 12, 30),
        )
        return self._at(generators[0]())

    def _made(self, name: str, version: int | None = None, /, **data: Any) -> MetadataRecord:
        return new_record(name, version, **data)

    def _ids(self, most: int = 4) -> list[int]:
        return self.random.sample(BROKERS, self.random.randint(0, most))

    def _some_ids(self) -> list[int] | None:
        return self._ids() if self.random.random() < 0.3 else None

    def _uuids(self, count: int) -> list[bytes]:
        random = self.random
        kind = random.random()
        if kind < 0.2:
            return []
        if kind < 0.3:
            return [ZERO] * count
        if kind < 0.34:
            return [ZERO] * random.randint(0, 4)
        if kind < 0.4:
            count = random.randint(0, 4)
        return [random.choice(_DIRECTORIES) for _ in range(count)]

    def _topic_id(self) -> bytes:
        """Return the id of a topic for records of partitions."""
        live = sorted(self._live)
        if live and (not self.taste.unknown_topics or self.random.random() < 0.9):
            return self.random.choice(live)
        return self.random.choice(TOPICS)

    def _name_of(self, topic_id: bytes) -> str:
        if self.taste.shared_names:
            return self.random.choice(NAMES)
        return NAMES[TOPICS.index(topic_id)]

    def _number(self) -> int:
        return self.random.choice((0, 0, 0, 1, 1, 2, 3, 7, 1040, 5000, -1, -(1 << 31)))

    def _topic(self) -> MetadataRecord:
        random = self.random
        topic_id = random.choice(TOPICS)
        kind = random.random()
        if kind < 0.55 or not self._live:
            self._live.add(topic_id)
            return self._made("TopicRecord", topicId=topic_id, name=self._name_of(topic_id))
        if kind < 0.8:
            self._live.discard(topic_id)
            return self._made("RemoveTopicRecord", topicId=topic_id)
        return self._made("ClearElrRecord", topicName=random.choice(("", *NAMES)))

    def _partition(self) -> MetadataRecord:
        random = self.random
        if not self._live and not self.taste.unknown_topics:
            return self._topic()
        replicas = self._ids()
        return self._made(
            "PartitionRecord",
            random.choice((0, 1, 1, 2, 2)),
            partitionId=self._number(),
            topicId=self._topic_id(),
            replicas=replicas,
            isr=self._ids(),
            removingReplicas=self._ids(1),
            addingReplicas=self._ids(1),
            leader=random.choice((-1, 1, 2)),
            leaderRecoveryState=random.choice((0,) * 20 + (1, 1, 2, -1)),
            leaderEpoch=random.choice((0, 5, (1 << 31) - 1)),
            partitionEpoch=random.choice((0, 7, (1 << 31) - 1)),
            directories=self._uuids(len(replicas)),
            eligibleLeaderReplicas=self._some_ids(),
            lastKnownElr=self._some_ids(),
        )

    def _change(self) -> MetadataRecord:
        random = self.random
        if not self._live and not self.taste.unknown_topics:
            return self._topic()
        is_odd = random.random() < 0.3
        replicas = self._some_ids() if is_odd else None
        count = random.randint(0, 4) if replicas is None else len(replicas)
        return self._made(
            "PartitionChangeRecord",
            random.choice((0, 1, 2, 2)),
            partitionId=self._number(),
            topicId=self._topic_id(),
            isr=self._some_ids(),
            leader=random.choice((-2, -2, -1, 1, 2)),
            replicas=replicas,
            removingReplicas=self._some_ids() if is_odd else None,
            addingReplicas=self._some_ids() if is_odd else None,
            leaderRecoveryState=random.choice((-1,) * 20 + (0, 1, 1, 2)),
            directories=self._uuids(count) if is_odd and random.random() < 0.6 else None,
            eligibleLeaderReplicas=self._some_ids(),
            lastKnownElr=self._some_ids(),
        )

    def _endpoints(self) -> list[Data]:
        random = self.random
        return [
            {
                "name": random.choice(("PLAINTEXT", "EXTERNAL", "\u00e4")),
                "host": random.choice(("localhost", "")),
                "port": random.choice((0, 9092, 65535)),
                "securityProtocol": random.choice((0, 0, 1, 2, 3, 3, 3, 4, -1)),
            }
            for _ in range(random.randint(0, 3))
        ]

    def _features(self) -> list[Data]:
        random = self.random
        return [
            {
                "name": random.choice(("metadata.version", "group.version", "x")),
                "minSupportedVersion": first,
                "maxSupportedVersion": random.choice((first, first + 3, 32767)),
            }
            for first in (random.choice((0, 1, 7)) for _ in range(random.randint(0, 3)))
        ]

    def _broker(self) -> MetadataRecord:
        random = self.random
        broker = random.choice(BROKERS)
        epoch = random.choice((1, 1, 1, 2))
        kind = random.random()
        if kind < 0.4:
            return self._made(
                "RegisterBrokerRecord",
                random.randint(0, 4),
                brokerId=broker,
                isMigratingZkBroker=random.random() < 0.2,
                incarnationId=random.choice(_DIRECTORIES),
                brokerEpoch=epoch,
                endPoints=self._endpoints(),
                features=self._features(),
                rack=random.choice((None, "", "r1")),
                fenced=random.random() < 0.5,
                inControlledShutdown=random.random() < 0.3,
                logDirs=self._uuids(random.randint(0, 3)),
                cordonedLogDirs=random.choice((None, self._uuids(2))),
            )
        if kind < 0.5:
            return self._made("UnregisterBrokerRecord", brokerId=broker, brokerEpoch=epoch)
        if kind < 0.6:
            name = random.choice(("FenceBrokerRecord", "UnfenceBrokerRecord"))
            return self._made(name, id=broker, epoch=epoch)
        if kind < 0.9:
            return self._made(
                "BrokerRegistrationChangeRecord",
                random.randint(0, 3),
                brokerId=broker,
                brokerEpoch=epoch,
                fenced=random.choice((-1, 0, 0, 1, 1, 2)),
                inControlledShutdown=random.choice((0, 0, 0, 1, 1, -1)),
                logDirs=self._uuids(random.randint(0, 3)),
                cordonedLogDirs=random.choice((None, self._uuids(2))),
            )
        return self._made(
            "RegisterControllerRecord",
            controllerId=broker,
            incarnationId=random.choice(_DIRECTORIES),
            zkMigrationReady=random.random() < 0.5,
            endPoints=self._endpoints(),
            features=self._features(),
        )

    def _marker(self) -> MetadataRecord:
        random = self.random
        ends = ("EndTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord")
        begins = () if self._has_begun and not self.taste.double_begin else BEGIN
        name = random.choice((*begins, *ends) if self._open else BEGIN)
        if random.random() < 0.08:
            name = random.choice(("EndTransactionRecord", "AbortTransactionRecord"))
        if name == "BeginTransactionRecord":
            if not self._open:
                self._saved = set(self._live)
            self._open = self._has_begun = True
        elif self._open:
            if name == "AbortTransactionRecord":
                self._live = self._saved
            self._open = self._has_begun = False
        return self._made(name)

    def _other(self) -> MetadataRecord:
        generators = (
            *((self._config,) * 6),
            *((self._quota,) * 4),
            *((self._acl,) * 4),
            *((self._scram,) * 3),
            *((self._token,) * 2),
            *((self._feature,) * 3),
            self._producer_ids,
            self._nothing,
        )
        return self.random.choice(generators)()

    def _config(self) -> MetadataRecord:
        random = self.random
        kind = random.choice(_RESOURCES)
        return self._made(
            "ConfigRecord",
            resourceType=kind,
            resourceName=random.choice(NAMES if kind == 2 else ("", "1", "g")),
            name=random.choice(CONFIGS),
            value=random.choice((None, None, "", "1", "compact\n  x")),
        )

    def _quota(self) -> MetadataRecord:
        random = self.random
        kinds: tuple[str, ...] = ("user", "client-id", "ip")
        if self.taste.odd_quotas:
            kinds += ("planet",)
        count = random.randint(0 if self.taste.odd_quotas else 1, 3)
        entity = [
            {"entityType": random.choice(kinds), "entityName": random.choice((None, *_USERS))}
            for _ in range(count)
        ]
        return self._made(
            "ClientQuotaRecord",
            entity=entity,
            key=random.choice(("producer_byte_rate", "x")),
            value=random.choice((0.0, -0.0, 1e7, 1.5, 1e-5, 123456789012.0, 2.0**-1074)),
            remove=random.random() < 0.4,
        )

    def _acl(self) -> MetadataRecord:
        random = self.random
        acl_id = uuid(random.choice((1, 2, 3)))
        if random.random() < 0.4:
            return self._made("RemoveAccessControlEntryRecord", id=acl_id)
        return self._made(
            "AccessControlEntryRecord",
            id=acl_id,
            resourceType=random.choice((0, 1, 2, 3, 7, 8, -1)),
            resourceName=random.choice(NAMES),
            patternType=random.choice((0, 3, 4, 5)),
            principal=f"User:{random.choice(_USERS)}",
            host="*",
            operation=random.choice((0, 2, 15, 16)),
            permissionType=random.choice((0, 2, 3, 4)),
        )

    def _scram(self) -> MetadataRecord:
        random = self.random
        name, mechanism = random.choice(_USERS), random.choice((1, 1, 2, 2, 0, 3, -1))
        removes = random.random() < 0.35 if self.taste.mixed_scram else self._removes_scram
        if removes:
            return self._made("RemoveUserScramCredentialRecord", name=name, mechanism=mechanism)
        return self._made(
            "UserScramCredentialRecord",
            name=name,
            mechanism=mechanism,
            salt=random.randbytes(3),
            storedKey=random.randbytes(3),
            serverKey=b"",
            iterations=random.choice((4096, 8192)),
        )

    def _token(self) -> MetadataRecord:
        random = self.random
        token = random.choice(("t1", "t2"))
        if random.random() < 0.35:
            return self._made("RemoveDelegationTokenRecord", tokenId=token)
        return self._made(
            "DelegationTokenRecord",
            owner="User:u",
            requester=random.choice(("User:u", "User:v")),
            renewers=random.choice(([], ["User:x", "User:y"])),
            issueTimestamp=1,
            maxTimestamp=random.choice((2, -1)),
            expirationTimestamp=3,
            tokenId=token,
        )

    def _feature(self) -> MetadataRecord:
        random = self.random
        name = random.choice(("metadata.version", "kraft.version", "group.version", "x"))
        return self._made(
            "FeatureLevelRecord",
            name=name,
            featureLevel=random.choice((0, 1, 6, 7, 30, 31, 32, -2)),
        )

    def _producer_ids(self) -> MetadataRecord:
        return self._made(
            "ProducerIdsRecord",
            brokerId=1,
            brokerEpoch=1,
            nextProducerId=self.random.choice((0, 1000, 1 << 62, -7)),
        )

    def _nothing(self) -> MetadataRecord:
        if self.random.random() < 0.5:
            return self._made("NoOpRecord")
        return self._made("ZkMigrationStateRecord", zkMigrationState=self.random.randint(-1, 5))


def random_log(random: Random, taste: Taste | None = None) -> list[LogBatch]:
    """Return a log at random that any reader can read."""
    return RandomLog(random, taste).log()
