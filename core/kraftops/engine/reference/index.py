"""What records of a metadata log are about, found without applying them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftops.engine.fold_contract import RANGE_BITS, Seen
from kraftops.errors import DecodeError
from kraftops.log.batch import read_record
from kraftops.records.dialects import dialect
from kraftops.records.kip_631 import record_reader
from kraftops.records.meaning import Unknown
from kraftops.records.metadata_numbers import NO_OP, PARTITION, PARTITION_CHANGE, ZK_MIGRATION_STATE

if TYPE_CHECKING:
    from kraftops.records.metadata_types import PartitionChangeRecord, PartitionRecord

_OF_PARTITIONS = (PARTITION, PARTITION_CHANGE)
_GROUPED = (NO_OP, ZK_MIGRATION_STATE, *_OF_PARTITIONS)


def index_records(
    dialect_name: str, data: bytes, position: int, number: int, stop: int
) -> list[Seen]:
    """Return what the records of a batch from *number* up to *stop* are.

    Where there is no record, the list ends with those before.

    Args:
        dialect_name: how records are framed and numbered; types are those of Kafka's.
        data: the inflated batch.
        position: of the first record in it.
        number: of that record in the batch.
        stop: the number of the one after the last.

    Raises:
        UsageError: there is no such dialect.
    """
    meaning, spoken = record_reader(dialect_name), dialect(dialect_name)
    found: list[Seen] = []
    while number < stop:
        try:
            record, end = read_record(data, position, 0, 0)
        except DecodeError:
            break
        kind = version = topic_id = partition = None
        if record.key is None and not record.headers:
            said = meaning(record.value)
            if not isinstance(said, Unknown):
                kind = said[0]
                version = spoken.read_frame(record.value or b"").version
                if kind in _OF_PARTITIONS:
                    fields: PartitionRecord | PartitionChangeRecord = said[1]
                    topic_id, partition = fields["topicId"], fields["partitionId"]
        seen = Seen(number, 1, position, end, kind, version, topic_id, partition)
        if found and _is_like(found[-1], seen):
            found[-1] = found[-1]._replace(total=found[-1].total + 1, end=end)
        else:
            found.append(seen)
        number, position = number + 1, end
    return found


def _is_like(group: Seen, seen: Seen) -> bool:
    """Tell whether a record is one more of a group."""
    return seen.type in _GROUPED and _essence(group) == _essence(seen)


def _essence(seen: Seen) -> tuple[object, ...]:
    number = seen.partition
    return seen.type, seen.version, seen.topic_id, number and number >> RANGE_BITS
