"""Offset, time and transaction indexes of a segment.

Layouts from Kafka's `OffsetIndex`, `TimeIndex`, `AbortedTxn`.
"""

from collections.abc import Iterator
from operator import le
from struct import Struct
from typing import NamedTuple

from kraftops.errors import SourceError
from kraftops.log.log_file import LogFile
from kraftops.log.reader import BLOCK

_OFFSET_ENTRY = Struct(">ii")
_TIME_ENTRY = Struct(">qi")
_HOT_ENTRIES = 1024  # 8 KiB (`AbstractIndex.warmEntries`)
_FIRST_BLOCK = 1 << 12  # a preallocated index of an idle partition has a few entries in 10 MiB
_ABORTED_TXN = Struct(">hqqqq")


class OffsetEntry(NamedTuple):
    """Last offset of a batch, and the position of the batch in the log."""

    offset: int
    position: int


class TimeEntry(NamedTuple):
    """Largest timestamp so far, and the last offset of its batch."""

    timestamp: int
    offset: int


class AbortedTxn(NamedTuple):
    """An aborted transaction."""

    version: int
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class _Entries:
    """Whole entries of an index file; offsets in it count from *base_offset*."""

    layout: Struct

    def __init__(self, file: LogFile, base_offset: int) -> None:
        self._file = file
        self.base_offset = base_offset
        self.left_over = file.size % self.layout.size

    def __len__(self) -> int:
        return self._file.size // self.layout.size

    @property
    def is_unused(self) -> bool:
        """Whether it was preallocated, and has no entry yet: more than one entry is zero."""
        size = 2 * self.layout.size
        return self._file.read_at(0, size) == bytes(size)

    def _entry(self, number: int) -> tuple[int, ...]:
        position = number * self.layout.size
        entry = self._file.read_at(position, self.layout.size)
        if len(entry) < self.layout.size:
            raise SourceError(f"{self._file.path} lost bytes from position {position} on")
        return self.layout.unpack(entry)

    def _last_used(self, most: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Return the last entry before the zeros; only the first one may begin with a zero.

        With *most*, no number of the entry is larger than the one there.
        """
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            numbers = self._entry(middle)
            if numbers[0] > 0 and all(map(le, numbers, most)):
                low = middle + 1
            else:
                high = middle
        return self._entry(low - 1) if low else (0, 0)

    def _all(self) -> Iterator[tuple[int, ...]]:
        size, end = self.layout.size, len(self) * self.layout.size
        position, block_size = 0, _FIRST_BLOCK // size * size
        while position < end:
            block = self._file.read_at(position, min(block_size, end - position))
            yield from self.layout.iter_unpack(block[: len(block) // size * size])
            position += block_size
            block_size = BLOCK // size * size


class OffsetIndex(_Entries):
    """The entries of an `.index` file."""

    layout = _OFFSET_ENTRY

    def __iter__(self) -> Iterator[OffsetEntry]:
        base = self.base_offset
        for relative, position in self._all():
            yield OffsetEntry(base + relative, position)

    def last(self) -> OffsetEntry:
        """Return the last entry; a preallocated file ends in zeros."""
        relative, position = self._entry(len(self) - 1)
        return OffsetEntry(self.base_offset + relative, position)

    def last_used(self) -> OffsetEntry:
        """Return the last entry before the zeros of a preallocated file; zeros without one."""
        relative, position = self._last_used()
        return OffsetEntry(self.base_offset + relative, position)

    def last_up_to(self, offset: int, position: int) -> OffsetEntry:
        """Return the last entry up to an offset and a position; zeros without one."""
        relative, entry_position = self._last_used((offset - self.base_offset, position))
        return OffsetEntry(self.base_offset + relative, entry_position)

    def position_below(self, offset: int) -> int:
        """Return the position in the log to search *offset* from (`OffsetIndex.lookup`)."""
        count = len(self)
        if not count:
            return 0
        # Kafka searches the end first; unordered entries must have the same result here.
        hot = max(0, count - 1 - _HOT_ENTRIES)
        if self._offset(hot) < offset:
            low, high = hot, count - 1
        elif self._offset(0) > offset:
            return 0
        else:
            low, high = 0, hot
        while low < high:
            middle = (low + high + 1) // 2
            middle_offset = self._offset(middle)
            if middle_offset == offset:
                low = high = middle
            elif middle_offset > offset:
                high = middle - 1
            else:
                low = middle
        return self._entry(low)[1]

    def _offset(self, number: int) -> int:
        return self.base_offset + self._entry(number)[0]


class TimeIndex(_Entries):
    """The entries of a `.timeindex` file."""

    layout = _TIME_ENTRY

    def __iter__(self) -> Iterator[TimeEntry]:
        base = self.base_offset
        for timestamp, relative in self._all():
            yield TimeEntry(timestamp, base + relative)

    def first(self) -> TimeEntry:
        timestamp, relative = self._entry(0)
        return TimeEntry(timestamp, self.base_offset + relative)

    def last(self) -> TimeEntry:
        """Return the last entry; a preallocated file ends in zeros."""
        timestamp, relative = self._entry(len(self) - 1)
        return TimeEntry(timestamp, self.base_offset + relative)

    def last_used(self) -> TimeEntry:
        """Return the last entry before the zeros of a preallocated file; zeros without one."""
        timestamp, relative = self._last_used()
        return TimeEntry(timestamp, self.base_offset + relative)

    def last_before(self, time: int) -> TimeEntry:
        """Return the last entry before a time; zeros without one."""
        timestamp, relative = self._last_used((time - 1,))
        return TimeEntry(timestamp, self.base_offset + relative)


class TxnIndex(_Entries):
    """The entries of a `.txnindex` file; its offsets are absolute."""

    layout = _ABORTED_TXN

    def __iter__(self) -> Iterator[AbortedTxn]:
        for values in self._all():
            yield AbortedTxn._make(values)
