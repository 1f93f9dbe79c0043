"""The index of a batch of metadata records, made without applying them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftops.engine.index_contract import RANGE_BITS, RecordGroup
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
) -> list[RecordGroup]:
    """Return the groups of similar records of a batch, from *number* up to *stop*.

    The list ends before the first bytes that are not a record.

    Args:
        dialect_name: how records are framed and numbered; types are Kafka's.
        data: the inflated batch.
        position: of the first record in it.
        number: of that record in the batch.
        stop: the number of the one after the last.

    Raises:
        UsageError: there is no such dialect.
    """
    read, dialect_ = record_reader(dialect_name), dialect(dialect_name)
    groups: list[RecordGroup] = []
    while number < stop:
        try:
            record, end = read_record(data, position, 0, 0)
        except DecodeError:
            break
        kind = version = topic_id = partition = None
        if record.key is None and not record.headers:
            body = read(record.value)
            if not isinstance(body, Unknown):
                kind = body[0]
                version = dialect_.read_frame(record.value or b"").version
                if kind in _OF_PARTITIONS:
                    fields: PartitionRecord | PartitionChangeRecord = body[1]
                    topic_id, partition = fields["topicId"], fields["partitionId"]
        group = RecordGroup(
            number=number,
            total=1,
            start=position,
            end=end,
            type=kind,
            version=version,
            topic_id=topic_id,
            partition=partition,
        )
        if groups and _is_similar(groups[-1], group):
            groups[-1] = groups[-1]._replace(total=groups[-1].total + 1, end=end)
        else:
            groups.append(group)
        number, position = number + 1, end
    return groups


def _is_similar(group: RecordGroup, following: RecordGroup) -> bool:
    return following.type in _GROUPED and _subject(group) == _subject(following)


def _subject(group: RecordGroup) -> tuple[object, ...]:
    number = group.partition
    return group.type, group.version, group.topic_id, number and number >> RANGE_BITS
