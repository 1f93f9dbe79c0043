"""Which groups a metadata record belongs to, and batches with the records of one group.

Groups are by entity: a topic's name for all that is about the topic, else what the record names.
Partitions of a large topic are dealt out by their numbers; what is about the whole topic goes to
all of its groups.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast
from zlib import crc32

from kraftops.engine.choice import index_records
from kraftops.engine.index_contract import RecordGroup
from kraftops.engine.metadata_state import TOPIC_RESOURCE
from kraftops.image.load.prescan import range_of
from kraftops.image.state.store import inflated_batch
from kraftops.log.batch import CODEC_MASK, HEADER, HEADER_SIZE, LOG_OVERHEAD, Batch, read_record
from kraftops.memo import Memo
from kraftops.records import metadata_numbers as types
from kraftops.records.kip_631 import record_reader
from kraftops.records.meaning import Unknown
from kraftops.schema.read import Data
from kraftops.spark.find.scan_job import Hashes, hash_of
from kraftops.tree.names import kafka_entity_name

_PARTITIONS = (types.PARTITION, types.PARTITION_CHANGE)
_BROKERS = frozenset(
    {
        types.REGISTER_BROKER,
        types.UNREGISTER_BROKER,
        types.FENCE_BROKER,
        types.UNFENCE_BROKER,
        types.BROKER_REGISTRATION_CHANGE,
    }
)
_WITHOUT_EFFECT = frozenset({types.NO_OP, types.ZK_MIGRATION_STATE})
_BY_FIELD = {
    types.DELEGATION_TOKEN: "tokenId",
    types.REMOVE_DELEGATION_TOKEN: "tokenId",
    types.USER_SCRAM_CREDENTIAL: "name",
    types.REMOVE_USER_SCRAM_CREDENTIAL: "name",
    types.ACCESS_CONTROL_ENTRY: "id",
    types.REMOVE_ACCESS_CONTROL_ENTRY: "id",
}
FIRST = 0
"""The group of all that is there once."""
_ONLY_FIRST = (FIRST,)
_STEP = 0x9E3779B1  # spreads ranges of a topic over groups, whatever their count


class Topics(NamedTuple):
    """What is known of topics; see `kraftops.spark.find.scan_job.FirstPass`."""

    groups: Hashes
    aliases: Mapping[str, str]
    ranges: Mapping[int, int]


class Router:
    """Knows the groups: how many there are, and which those of a record are."""

    def __init__(self, count: int, topics: Topics, dialect: str) -> None:
        """Deal out to *count* groups the records of a dialect.

        Raises:
            UsageError: there is no such dialect.
        """
        self.count = count
        self.dialect = dialect
        self._topics = topics
        self._meaning = record_reader(dialect)
        self._all = tuple(range(count))
        self._hashes = Memo(self._hash_of)
        self._by_id = Memo(self._of_id)

    def of_seen(self, seen: RecordGroup, data: bytes) -> tuple[int, ...]:
        """Return the numbers of the groups of records in a batch's *data*: see `of_record`."""
        if seen.topic_id is not None and seen.partition is not None:
            return self._of_partition(seen.topic_id, seen.partition)
        if seen.type in _WITHOUT_EFFECT:
            return ()
        record, _ = read_record(data, seen.start, 0, 0)
        return self.of_record(b"" if record.headers else record.key, record.value)

    def of_record(self, key: bytes | None, value: bytes | None) -> tuple[int, ...]:
        """Return the numbers of a record's groups, none of what has no effect.

        The first is the one that answers for the record.
        """
        found = self._meaning(value)
        if isinstance(found, Unknown):
            return _ONLY_FIRST
        number, data = found
        if number in _WITHOUT_EFFECT and key is None:
            return ()
        if number in types.TRANSACTION_MARKERS:
            return self._all
        if number in _BROKERS:
            # What becomes of a broker changes partitions in the dialects of KIP-631's text.
            return _ONLY_FIRST if self.dialect == "kafka" else self._all
        return self._of_data(number, data)

    def _of_partition(self, topic_id: bytes, number: int) -> tuple[int, ...]:
        """Return the group of a partition."""
        if not self._topics.ranges:
            return self._by_id[topic_id][:1]
        topic = self._hashes[topic_id]
        mask, at = self._topics.ranges.get(topic, 0), range_of(number)
        return (self._of_range(topic, at if mask >> at & 1 else 0),)

    def _hash_of(self, topic_id: bytes) -> int:
        found = self._topics.groups.get(topic_id)
        return crc32(topic_id) if found is None else found

    def _of_id(self, topic_id: bytes) -> tuple[int, ...]:
        return self._of_topic(self._hashes[topic_id])

    def _of_name(self, name: str) -> tuple[int, ...]:
        """Return the groups of all that is about topics of a name."""
        return self._of_topic(hash_of(self._topics.aliases.get(name, name)))

    def _of_topic(self, topic: int) -> tuple[int, ...]:
        mask, found = self._topics.ranges.get(topic, 0), [self._of_range(topic, 0)]
        found += [self._of_range(topic, at) for at in range(1, mask.bit_length()) if mask >> at & 1]
        return tuple(dict.fromkeys(found))

    def _of_range(self, topic: int, at: int) -> int:
        return (topic + at * _STEP) % self.count

    def _of_data(self, number: int, data: Data) -> tuple[int, ...]:
        if number in _PARTITIONS:
            partition = cast("int", data["partitionId"])
            return self._of_partition(cast("bytes", data["topicId"]), partition)
        if "topicId" in data:
            return self._by_id[cast("bytes", data["topicId"])]
        if number == types.CLEAR_ELR:
            name = cast("str", data["topicName"])
            return self._of_name(name) if name else self._all
        if number == types.CONFIG:
            name = cast("str", data["resourceName"])
            if data["resourceType"] == TOPIC_RESOURCE:
                return self._of_name(name)[:1]
            return (self._hash(_bytes(f"{data['resourceType']} {name}")),)
        if number == types.CLIENT_QUOTA:
            parts = cast("list[Data]", data["entity"])
            entity = {
                cast("str", one["entityType"]): cast("str | None", one["entityName"])
                for one in parts
            }
            # Kafka's name of one entity may be that of another, which is then shown for it.
            return (self._hash(_bytes(kafka_entity_name(tuple(sorted(entity.items()))))),)
        field = _BY_FIELD.get(number)
        if field is None:
            return _ONLY_FIRST
        value = data[field]
        return (self._hash(value if isinstance(value, bytes) else _bytes(str(value))),)

    def _hash(self, key: bytes) -> int:
        return crc32(key) % self.count


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class Share(NamedTuple):
    """A batch with those records of another that are of one group, which keep offsets and times.

    *numbers* has, by pairs of 4 bytes each, the number in their batch of the first of some records
    that follow one another, and how many they are.
    """

    position: int
    data: bytes
    numbers: bytes

    @property
    def batch(self) -> Batch:
        """The batch."""
        return Batch(self.position, len(self.data), self.data)


class _Lot:
    """Records of a group, as they are gathered: where they are, and their numbers."""

    __slots__ = ("count", "numbers", "places")

    def __init__(self) -> None:
        self.places: list[tuple[int, int]] = []
        self.numbers = array("I")
        self.count = 0

    def add(self, number: int, count: int, start: int, end: int) -> None:
        """Add records that follow one another."""
        if self.numbers and self.numbers[-2] + self.numbers[-1] == number:
            self.numbers[-1] += count
            self.places[-1] = self.places[-1][0], end
        else:
            self.numbers.extend((number, count))
            self.places.append((start, end))
        self.count += count


def shares(
    batch: Batch, router: Router, counted: tuple[int, int] | None = None
) -> Iterator[tuple[int, Share]]:
    """Yield the numbers of groups and the share of each in *batch*.

    Of control batches, the first group has all. Of a batch that is damaged inside, the records
    before the damage are dealt out.

    Args:
        batch: one whose checksum holds.
        router: knows the groups.
        counted: the numbers of the first record that counts and of the one after the last; all if
            None.
    """
    header = batch.header
    inside = inflated_batch(batch)
    first, stop = counted or (0, header.record_count)
    lots: dict[int, _Lot] = {}
    at = inside.start
    for _ in range(first):
        _, at = read_record(inside.data, at, 0, 0)
    for seen in index_records(router.dialect, inside.data, at, first, stop):
        for group in _ONLY_FIRST if header.is_control else router.of_seen(seen, inside.data):
            if group not in lots:
                lots[group] = _Lot()
            lots[group].add(seen.number, seen.total, seen.start, seen.end)
    for group, lot in lots.items():
        records = b"".join([inside.data[start:end] for start, end in lot.places])
        head = header._replace(
            length=HEADER_SIZE - LOG_OVERHEAD + len(records),
            attributes=header.attributes & ~CODEC_MASK,
            record_count=lot.count,
        )
        yield group, Share(batch.position, HEADER.pack(*head) + records, lot.numbers.tobytes())
