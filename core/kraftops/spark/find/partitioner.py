"""Partitioner of metadata records by entity.

All records about topics of one name go to one shard; any other record is placed by the entity that
it names. The partitions of a large topic are spread over several shards by their numbers; records
about the whole topic go to all of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast
from zlib import crc32

from kraftops.engine.index_contract import RecordGroup
from kraftops.engine.metadata_state import TOPIC_RESOURCE
from kraftops.image.load.topic_ranges import range_of
from kraftops.log.batch import read_record
from kraftops.memo import Memo
from kraftops.records import metadata_numbers as types
from kraftops.records.dialects import dialect
from kraftops.records.kip_631 import record_reader
from kraftops.records.meaning import Unknown
from kraftops.schema.message import Data
from kraftops.spark.find.scan_job import TopicHashes, hash_of
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
FIRST_SHARD = 0
"""Shard of all entities that exist once."""
_ONLY_FIRST = (FIRST_SHARD,)
_STEP = 0x9E3779B1  # spreads the partition ranges of a topic over shards, whatever their count


class Topics(NamedTuple):
    """Names and partitions of topics; see `kraftops.spark.find.scan_job.LogScan`."""

    hashes: TopicHashes
    aliases: Mapping[str, str]
    ranges: Mapping[int, int]


class Partitioner:
    """Assigns records to shards, by their numbers."""

    def __init__(self, count: int, topics: Topics, dialect: str) -> None:
        """Spread the records of a dialect over *count* shards.

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

    def of_group(self, group: RecordGroup, data: bytes) -> tuple[int, ...]:
        """Return the shards of records in a batch's *data*; see `of_record`."""
        if group.topic_id is not None and group.partition is not None:
            return self._of_partition(group.topic_id, group.partition)
        if group.type in _WITHOUT_EFFECT:
            return ()
        record, _ = read_record(data, group.start, 0, 0)
        return self.of_record(b"" if record.headers else record.key, record.value)

    def of_record(self, key: bytes | None, value: bytes | None) -> tuple[int, ...]:
        """Return the shards of a record, none if it has no effect.

        The first one reports findings about the record.
        """
        body = self._meaning(value)
        if isinstance(body, Unknown):
            return _ONLY_FIRST
        number, data = body
        if number in _WITHOUT_EFFECT and key is None:
            return ()
        if number in types.TRANSACTION_MARKERS:
            return self._all
        if number in _BROKERS:
            # In the dialects of KIP-631's text a change of a broker changes partitions.
            return _ONLY_FIRST if dialect(self.dialect).is_released else self._all
        return self._of_data(number, data)

    def _of_partition(self, topic_id: bytes, number: int) -> tuple[int, ...]:
        if not self._topics.ranges:
            return self._by_id[topic_id][:1]
        topic = self._hashes[topic_id]
        mask, hash_range = self._topics.ranges.get(topic, 0), range_of(number)
        return (self._of_range(topic, hash_range if mask >> hash_range & 1 else 0),)

    def _hash_of(self, topic_id: bytes) -> int:
        digest = self._topics.hashes.get(topic_id)
        return crc32(topic_id) if digest is None else digest

    def _of_id(self, topic_id: bytes) -> tuple[int, ...]:
        return self._of_topic(self._hashes[topic_id])

    def _of_name(self, name: str) -> tuple[int, ...]:
        """Return the shards of all records about topics of a name."""
        return self._of_topic(hash_of(self._topics.aliases.get(name, name)))

    def _of_topic(self, topic: int) -> tuple[int, ...]:
        mask = self._topics.ranges.get(topic, 0)
        ranges = (0, *(number for number in range(1, mask.bit_length()) if mask >> number & 1))
        return tuple(dict.fromkeys(self._of_range(topic, number) for number in ranges))

    def _of_range(self, topic: int, number: int) -> int:
        return (topic + number * _STEP) % self.count

    def _of_data(self, number: int, data: Data) -> tuple[int, ...]:
        if number in _PARTITIONS:
            partition = cast("int", data["partitionId"])
            return self._of_partition(cast("bytes", data["topicId"]), partition)
        if "topicId" in data:
            return self._by_id[cast("bytes", data["topicId"])]
        if number == types.CLEAR_ELR:
            name = cast("str", data["topicName"])
            return self._of_name(name) if name else self._all
        if number == types.CONFIG and data["resourceType"] == TOPIC_RESOURCE:
            return self._of_name(cast("str", data["resourceName"]))[:1]
        key = _entity_key(number, data)
        return _ONLY_FIRST if key is None else (crc32(key) % self.count,)


def _entity_key(number: int, data: Data) -> bytes | None:
    """Return the key of the entity that a record names; None if the entity exists once."""
    if number == types.CONFIG:
        return _bytes(f"{data['resourceType']} {data['resourceName']}")
    if number == types.CLIENT_QUOTA:
        parts = cast("list[dict[str, Any]]", data["entity"])
        entity = {part["entityType"]: part["entityName"] for part in parts}
        # Kafka gives two entities the same name in rare cases, and shows one of them for both.
        return _bytes(kafka_entity_name(tuple(sorted(entity.items()))))
    field = _BY_FIELD.get(number)
    if field is None:
        return None
    value = data[field]
    return value if isinstance(value, bytes) else _bytes(str(value))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
