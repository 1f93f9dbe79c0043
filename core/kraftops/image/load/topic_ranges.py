"""Topic names and ranges of partitions in a log, collected without applying its records."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from kraftops.engine.choice import index_records
from kraftops.engine.fold_contract import FoldProgress
from kraftops.engine.index_contract import RANGE_BITS, RecordGroup
from kraftops.log.batch import read_record
from kraftops.records.kip_631 import record_reader
from kraftops.records.meaning import Unknown
from kraftops.records.metadata_numbers import PARTITION, TOPIC, TRANSACTION_MARKERS

if TYPE_CHECKING:
    from kraftops.records.metadata_types import TopicRecord

_RANGES = 64  # several ranges share a bit, so that a mask is small


def range_of(number: int) -> int:
    """Return the number of a partition's range, 0 for nearly all."""
    return (number >> RANGE_BITS) % _RANGES


class TopicRanges(NamedTuple):
    """Topics in records: names by id, and by topic id a mask of ranges of partitions.

    *renamed* are pairs of an id and another name than its first. A mask has no bit for the first
    range.
    """

    names: dict[bytes, str]
    renamed: dict[tuple[bytes, str], None]
    ranges: dict[bytes, int]

    def add_topic(self, topic_id: bytes, name: str) -> None:
        """Add a topic."""
        if self.names.setdefault(topic_id, name) != name:
            self.renamed[topic_id, name] = None

    def update(self, others: TopicRanges) -> None:
        """Add the topics of another part of the log."""
        for topic_id, name in chain(others.names.items(), others.renamed):
            self.add_topic(topic_id, name)
        for topic_id, mask in others.ranges.items():
            self.ranges[topic_id] = self.ranges.get(topic_id, 0) | mask

    def add_partition(self, topic_id: bytes, number: int) -> None:
        """Add a partition."""
        bit = 1 << range_of(number)
        if bit > 1:
            self.ranges[topic_id] = self.ranges.get(topic_id, 0) | bit


class _Remaining(NamedTuple):
    """The groups of a batch after a marker of a transaction, from *number* up to *stop*."""

    data: bytes
    number: int
    stop: int
    groups: Iterator[RecordGroup]


class TopicRangeCollector:
    """An applier for a replay: it collects topics, and applies no record."""

    def __init__(self, dialect: str) -> None:
        """Collect from records of a dialect."""
        self.topics = TopicRanges({}, {}, {})
        self._dialect = dialect
        self._read = record_reader(dialect)
        self._remaining = _Remaining(b"", 0, 0, iter(()))

    def begin_unit(self) -> None:
        """Do nothing: units matter only to records that a fold refuses."""

    def drop(self, address: int, reason: str) -> None:
        """Do nothing: the load of the image drops the record again."""

    def apply(
        self,
        data: bytes,
        address: int,  # noqa: ARG002 - see `Applier`
        position: int,
        number: int,
        stop: int,
    ) -> FoldProgress:
        """Collect from records, up to a marker of a transaction."""
        return self._step(data, position, number, stop, is_applied=True)

    def skim(self, data: bytes, position: int, number: int, stop: int) -> FoldProgress:
        """Read records up to a marker of a transaction."""
        return self._step(data, position, number, stop, is_applied=False)

    def _step(
        self, data: bytes, position: int, number: int, stop: int, *, is_applied: bool
    ) -> FoldProgress:
        remaining = self._remaining
        if data is remaining.data and (number, stop) == (remaining.number, remaining.stop):
            groups = remaining.groups
        else:
            groups = iter(index_records(self._dialect, data, position, number, stop))
        first, last, unreadable, marker = number, position, 0, None
        for group in groups:
            last, position, number = group.start, group.end, group.number + group.total
            if group.type in TRANSACTION_MARKERS:
                marker = group.type
                self._remaining = _Remaining(data, number, stop, groups)
                break
            unreadable += group.type is None
            if is_applied:
                self._collect(data, group)
        total = number - first - (marker is not None)
        applied, dropped = (total - unreadable, unreadable) if is_applied else (0, 0)
        is_malformed = marker is None and number < stop
        return FoldProgress(
            *(position, number, last, marker, is_malformed),
            has_changes=False,
            applied=applied,
            dropped=dropped,
            unreadable=unreadable,
        )

    def _collect(self, data: bytes, group: RecordGroup) -> None:
        if group.type == PARTITION and group.topic_id is not None and group.partition is not None:
            self.topics.add_partition(group.topic_id, group.partition)
        elif group.type == TOPIC:
            body = self._read(read_record(data, group.start, 0, 0)[0].value)
            if not isinstance(body, Unknown):
                record: TopicRecord = body[1]
                self.topics.add_topic(record["topicId"], record["name"])
