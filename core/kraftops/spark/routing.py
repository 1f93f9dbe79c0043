"""Which group a metadata record belongs to, and batches with the records of one group.

Groups are by entity: a topic's name for all that is about the topic, else what the record names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast
from zlib import crc32

from kraftops.errors import DecodeError
from kraftops.image import recordtypes as types
from kraftops.image.dialects import RecordReader
from kraftops.image.store import held
from kraftops.log.batch import CODEC_MASK, HEADER, HEADER_SIZE, LOG_OVERHEAD, Batch, read_record
from kraftops.records.meaning import Unknown
from kraftops.schema.read import Data

_PARTITIONS = (types.PARTITION, types.PARTITION_CHANGE)
_KEY = slice(7, 23)  # the topic id, behind three bytes of frame and the number of the partition
_TOPIC_RESOURCE = 2
_ALL = frozenset(
    {
        types.BEGIN_TRANSACTION,
        types.END_TRANSACTION,
        types.ABORT_TRANSACTION,
        types.REGISTER_BROKER,
        types.UNREGISTER_BROKER,
        types.FENCE_BROKER,
        types.UNFENCE_BROKER,
        types.BROKER_REGISTRATION_CHANGE,
    }
)
"""What every group needs: transactions, and brokers, some of whose records change partitions."""
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


@dataclass(frozen=True)
class Router:
    """Knows the groups: how many there are, and which that of a topic is."""

    count: int
    groups: Mapping[bytes, str]
    aliases: Mapping[str, str]
    meaning: RecordReader
    is_kafka: bool

    def of_record(self, key: bytes | None, value: bytes | None) -> int | None:
        """Return the number of a record's group; None is all."""
        if value and len(value) >= _KEY.stop and self.is_kafka and key is None:
            version, number, of_record = value[:3]
            if version == 1 and number in _PARTITIONS and of_record < 128:
                return self.of_topic(value[_KEY])
        found = self.meaning(value)
        if isinstance(found, Unknown):
            return FIRST
        number, data = found
        if number in _ALL:
            return None
        return self._of_data(number, data)

    def of_topic(self, topic_id: bytes) -> int:
        """Return the number of the group of a topic."""
        name = self.groups.get(topic_id)
        return self._hash(topic_id if name is None else name.encode("utf-8", "surrogatepass"))

    def of_name(self, name: str) -> int:
        """Return the same by the topic's name."""
        return self._hash(self.aliases.get(name, name).encode("utf-8", "surrogatepass"))

    def _of_data(self, number: int, data: Data) -> int | None:
        if "topicId" in data:
            return self.of_topic(cast("bytes", data["topicId"]))
        if number == types.CLEAR_ELR:
            name = cast("str", data["topicName"])
            return self.of_name(name) if name else None
        if number == types.CONFIG:
            name = cast("str", data["resourceName"])
            if data["resourceType"] == _TOPIC_RESOURCE:
                return self.of_name(name)
            return self._hash(f"{data['resourceType']} {name}".encode("utf-8", "surrogatepass"))
        field = _BY_FIELD.get(number)
        if field is None:
            return FIRST
        value = data[field]
        return self._hash(
            value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
        )

    def _hash(self, key: bytes) -> int:
        return crc32(key) % self.count


def shares(batch: Batch, router: Router) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers of groups and a batch for each, with its records of those in *batch*.

    The records keep offsets and times. Control batches are the first group's. Of a batch that is
    damaged inside, these are the records before the damage.
    """
    header = batch.header
    if header.is_control:
        yield FIRST, batch.data
        return
    inside = held(batch)
    at, data = inside.start, inside.data
    found: dict[int, list[bytes]] = {}
    try:
        for _ in range(header.record_count):
            record, end = read_record(data, at, inside.base_offset, inside.base_timestamp)
            raw, at = data[at:end], end
            key = record.key if not record.headers else b""
            group = router.of_record(key, record.value)
            for number in range(router.count) if group is None else (group,):
                found.setdefault(number, []).append(raw)
    except DecodeError:
        pass  # the first pass has said so
    for number, records in found.items():
        body = b"".join(records)
        head = header._replace(
            length=HEADER_SIZE - LOG_OVERHEAD + len(body),
            attributes=header.attributes & ~CODEC_MASK,
            record_count=len(records),
        )
        yield number, HEADER.pack(*head) + body
