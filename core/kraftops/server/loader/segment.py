"""A segment while it loads (Kafka's `LogSegment`), and the segments of a log in order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator

from kraftops.server.loader import thrown
from kraftops.server.loader.contract import Cut, Depth, LogBatch
from kraftops.server.loader.disk import (
    DELETED,
    INDEX,
    INDEXES,
    LOG,
    TIME_INDEX,
    TXN_INDEX,
    Disk,
    name_of,
)
from kraftops.server.loader.indexes import RELATIVE, OffsetIndex, TimeIndex, TxnIndex
from kraftops.server.loader.producers import ProducerState
from kraftops.server.loader.text_files import LEADER_EPOCHS, EpochEntry, LeaderEpochs
from kraftops.server.loader.thrown import LoadError

LAST_OFFSET = (1 << 63) - 1  # `Long.MAX_VALUE`
_BY_BASE_OFFSET = (4, 1)
"""The release in which `FileRecords` begins to search by base offsets, before by last ones."""
MOST_BYTES = (1 << 31) - 1  # `FileRecords`
_END_OF_RECOVERY = (thrown.CORRUPT_RECORD, thrown.INVALID_RECORD)


class SegmentOverflow(Exception):
    """An offset of a segment does not fit its indexes (`LogSegmentOffsetOverflowException`)."""

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment.base_offset)
        self.segment = segment


class Segment:
    """A segment with its indexes; those are opened when they are needed, and made if missing."""

    def __init__(self, disk: Disk, base_offset: int, suffix: str = "") -> None:
        """Open the log, or make it.

        Raises:
            LoadError: it is larger than Kafka allows.
        """
        self._disk, self.base_offset, self._suffix = disk, base_offset, suffix
        self.log, _ = disk.file(self._name(LOG))
        if self.log.size > MOST_BYTES:
            reason = f"The size of segment {self.log_name} ({self.log.size}) is larger than allowed"
            raise LoadError(thrown.KAFKA, reason, self.log_name)
        self.txn_index = TxnIndex(disk, self._name(TXN_INDEX), base_offset)
        self._offset_index: OffsetIndex | None = None
        self._time_index: TimeIndex | None = None
        self._largest: tuple[int, int] | None = None
        """The largest timestamp so far, and the last offset of its batch."""

    def _name(self, kind: str) -> str:
        return name_of(self.base_offset, kind + self._suffix)

    @property
    def log_name(self) -> str:
        return self._name(LOG)

    @property
    def offset_index(self) -> OffsetIndex:
        if self._offset_index is None:
            self._offset_index = OffsetIndex(self._disk, self._name(INDEX), self.base_offset)
        return self._offset_index

    @property
    def time_index(self) -> TimeIndex:
        if self._time_index is None:
            self._time_index = TimeIndex(self._disk, self._name(TIME_INDEX), self.base_offset)
        return self._time_index

    def batches(self, position: int, depth: Depth, stop: int | None = None) -> Iterator[LogBatch]:
        return self._disk.batches(self.log, position, depth, stop)

    def is_sane(self, *, has_new_time_index: bool) -> bool:
        """Tell whether its indexes need no recovery (`sanityCheck`).

        Offset and time indexes are not looked at, but a missing offset index is rebuilt.
        """
        if not self._disk.exists(self._name(INDEX)):
            return False
        if has_new_time_index:
            self.time_index.resize(0)
        return self.txn_index.is_sane()

    def resize_indexes(self) -> None:
        """Grow the indexes to segment.index.bytes, as Kafka does for the active segment."""
        self.offset_index.resize_to_most()
        self.time_index.resize_to_most()

    def close(self) -> None:
        """Cut off what has no entries in the indexes that are open."""
        for index in (self._offset_index, self._time_index):
            if index is not None:
                index.trim()

    def find(self, offset: int) -> LogBatch | None:
        """Return the first batch that ends at an offset or after it (`translateOffset`).

        Batches out of order are found as Kafka finds them.
        """
        return self._first_reaching(offset, self._batches_near(offset))

    def _batches_near(self, offset: int) -> Iterator[LogBatch]:
        position = max(self.offset_index.position_below(offset), 0)
        return self.batches(position, Depth.HEADS)

    def _first_reaching(self, offset: int, batches: Iterator[LogBatch]) -> LogBatch | None:
        version = self._disk.request.version
        if version < _BY_BASE_OFFSET:
            first = next((batch for batch in batches if batch.last_offset >= offset), None)
            return _with_base_offset(first) if first and version >= (4, 0) else first
        before = None
        for batch in map(_with_base_offset, batches):
            if batch.base_offset == offset:
                return batch
            if batch.base_offset > offset:
                return before if before and before.last_offset >= offset else batch
            before = batch
        return before if before and before.last_offset >= offset else None

    def next_offset(self) -> int:
        """Return the offset after the last batch, searched from the last index entry on.

        An entry that leads beyond the log makes it the base offset (`readNextOffset`).
        """
        offset, last = self.offset_index.last_offset, None

        def noted() -> Iterator[LogBatch]:
            nonlocal last
            for batch in self._batches_near(offset):
                last = batch
                yield batch

        batches = noted()
        if self._first_reaching(offset, batches) is None:
            return self.base_offset
        for _ in batches:
            pass
        assert last
        return last.last_offset + 1

    def has_in_range(self, offset: int) -> bool:
        """Tell whether an offset is within 2³¹ of the base, as indexes store it in 32 bits."""
        return offset - self.base_offset in RELATIVE

    def has_overflow(self) -> bool:
        """Tell whether the last offset does not fit into the indexes (`LogSegment.hasOverflow`)."""
        next_offset = self.next_offset()
        return next_offset > self.base_offset and not self.has_in_range(next_offset - 1)

    def recover(self, producers: ProducerState, epochs: LeaderEpochs) -> Cut | None:
        """Rebuild the indexes and cut the log at the first bad batch.

        Returns:
            What is cut off; None if nothing is.

        Raises:
            LoadError: Kafka's exception, where it does not end the log there.
            SegmentOverflow: an offset does not fit into the indexes.
        """
        self.offset_index.reset()
        self.time_index.reset()
        self.txn_index.reset()
        self._largest = None
        end = indexed = 0
        next_offset, reason = self.base_offset, "an incomplete batch"
        try:
            for batch in self.batches(0, Depth.WHOLE):
                if batch.damage is not None:
                    reason = batch.damage
                    break
                if not self.has_in_range(batch.last_offset):
                    raise SegmentOverflow(self)
                self._note_timestamp(batch)
                if end - indexed > self._disk.request.index_interval_bytes:
                    self._index(batch, end)
                    indexed = end
                # A batch counts as valid before its marker is read: an odd one stays.
                end += batch.size
                next_offset = batch.last_offset + 1
                if batch.magic >= 2:
                    self._note_epoch(batch, epochs)
                    self._note_producer(batch, producers)
        except LoadError as error:
            if error.java_class not in _END_OF_RECOVERY:
                raise
            reason = error.message
        size, self.log.size = self.log.size, end
        self.offset_index.trim()
        self.time_index.append(*self._largest_or_none(), is_last=True)
        self.time_index.trim()
        return (
            Cut(
                file=self.log_name,
                position=end,
                size=size - end,
                first_offset=next_offset,
                reason=reason,
            )
            if end < size
            else None
        )

    def _largest_or_none(self) -> tuple[int, int]:
        return self._largest or (-1, self.base_offset)

    def _note_timestamp(self, batch: LogBatch) -> None:
        if batch.max_timestamp > self._largest_or_none()[0]:
            self._largest = (batch.max_timestamp, batch.last_offset)

    def _index(self, batch: LogBatch, position: int) -> None:
        self.offset_index.append(batch.last_offset, position)
        self.time_index.append(*self._largest_or_none())

    def _note_epoch(self, batch: LogBatch, epochs: LeaderEpochs) -> None:
        latest = -1 if epochs.latest is None else epochs.latest
        if batch.leader_epoch > latest:
            epochs.assign(EpochEntry(batch.leader_epoch, batch.base_offset))
            self._disk.rebuilt.add(LEADER_EPOCHS)

    def _note_producer(self, batch: LogBatch, producers: ProducerState) -> None:
        producers.add([batch], self.txn_index.append)
        producers.end_offset = batch.last_offset + 1

    def empty(self, reason: str) -> Cut | None:
        """Cut off everything from the base offset on (`truncateTo`).

        A log whose batches are all below it stays.
        """
        first = self.find(self.base_offset)
        for index in (self.offset_index, self.time_index):
            index.reset()
        self.txn_index.reset()
        size, end = self.log.size, first.position if first else self.log.size
        self.log.size = end
        if self._largest_or_none()[0] >= 0:
            # `readLargestTimestamp` reads what is left, and fails where that is damaged.
            self._largest = None
            for batch in self.batches(0, Depth.HEADS):
                self._note_timestamp(batch)
        return (
            Cut(
                file=self.log_name,
                position=end,
                size=size - end,
                first_offset=self.base_offset,
                reason=reason,
            )
            if end < size
            else None
        )

    def append_from(self, other: Segment, start: int) -> int:
        """Take over the batches of another segment from a position on, as far as they fit.

        Returns:
            Their bytes (`appendFromFile`).
        """
        self.offset_index.reset()
        self.time_index.reset()
        size = since_entry = 0
        for batch in other.batches(start, Depth.HEADS):
            if not self.has_in_range(batch.last_offset):
                break
            if batch.magic > 2:
                raise LoadError(
                    thrown.CORRUPT_RECORD, f"Invalid magic found in record: {batch.magic}"
                )
            self._note_timestamp(batch)
            if since_entry > self._disk.request.index_interval_bytes:
                self._index(batch, size)
                since_entry = 0
            size += batch.size
            since_entry += batch.size
        self.log.origin, self.log.start = other.log.origin, other.log.start + start
        self.log.size = size
        return size

    def become_inactive(self) -> None:
        """Complete the time index and trim both indexes (`LogSegment.onBecomeInactiveSegment`)."""
        self.time_index.append(*self._largest_or_none(), is_last=True)
        self.close()

    def rename(self, suffix: str) -> None:
        """Give its files another suffix (`changeFileSuffixes`).

        Raises:
            LoadError: there is no log.
        """
        before = {kind: self._name(kind) for kind in (LOG, *INDEXES)}
        self._suffix = suffix
        self.txn_index.name = self._name(TXN_INDEX)
        for kind, name in before.items():
            if not self._disk.rename(name, self._name(kind)) and kind == LOG:
                raise LoadError(thrown.NO_SUCH_FILE, name, name)

    def mark_for_deletion(self) -> None:
        """Rename its files, so that they are deleted a minute later."""
        self.rename(DELETED)

    def delete(self) -> None:
        for kind in (LOG, *INDEXES):
            self._disk.delete(self._name(kind))


def _with_base_offset(batch: LogBatch) -> LogBatch:
    """Return a batch whose first offset Kafka asks for: that of a wrapper is in its records.

    Raises:
        LoadError: those cannot be read.
    """
    if isinstance(batch.marker, LoadError):
        raise batch.marker
    return batch


class Segments:
    """Segments by base offset (`LogSegments`)."""

    def __init__(self) -> None:
        self._segments: dict[int, Segment] = {}
        self.base_offsets: list[int] = []

    def __len__(self) -> int:
        return len(self.base_offsets)

    def __contains__(self, base_offset: int) -> bool:
        return base_offset in self._segments

    def __iter__(self) -> Iterator[Segment]:
        return iter([self._segments[base] for base in self.base_offsets])

    def add(self, segment: Segment) -> None:
        """Add a segment; it replaces one with the same base offset (`LogSegments.add`)."""
        if segment.base_offset not in self._segments:
            insort(self.base_offsets, segment.base_offset)
        self._segments[segment.base_offset] = segment

    def remove(self, base_offset: int) -> None:
        if self._segments.pop(base_offset, None) is not None:
            self.base_offsets.remove(base_offset)

    def clear(self) -> None:
        self._segments.clear()
        self.base_offsets.clear()

    @property
    def last(self) -> Segment:
        """The active segment."""
        return self._segments[self.base_offsets[-1]]

    def floor(self, offset: int) -> Segment | None:
        """Return the last segment that begins at or before an offset (`floorSegment`)."""
        index = bisect_right(self.base_offsets, offset)
        return self._segments[self.base_offsets[index - 1]] if index else None

    def between(self, start: int, stop: int = LAST_OFFSET) -> list[Segment]:
        """Return the segments before *stop*, from the one with *start* on, or from the first."""
        if start == stop:
            return []  # also of the segment with *start*
        first = max(bisect_right(self.base_offsets, start) - 1, 0)
        last = bisect_left(self.base_offsets, stop)
        return [self._segments[base] for base in self.base_offsets[first:last]]
