"""Checks of offset and time indexes, entry by entry beside the batches of their log.

The rules are those by which Kafka's `LogSegment` writes and reads them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from kraftops.display.sizes import many
from kraftops.dump.check.findings import Findings
from kraftops.engine.scan_contract import SeenBatch
from kraftops.errors import SourceError
from kraftops.findings.finding import Severity
from kraftops.log.indexes import OffsetIndex, TimeIndex
from kraftops.log.log_file import LogFile
from kraftops.log.zeros import are_zeros

_BLOCK = 1 << 16  # of a preallocated index a server writes a few pages; the rest are holes


class IndexContext(NamedTuple):
    """What decides whether an oddity of an index is one.

    *may_be_open* says that a server may still write it, *severity* is that of a wrong index.
    """

    may_be_open: bool
    severity: Severity


class _Entries:
    """The entries of an index before the zeros at its end, as (number, first, second)."""

    def __init__(
        self,
        file: LogFile,
        index: OffsetIndex | TimeIndex,
        prefix: str,
        findings: Findings,
        context: IndexContext,
    ) -> None:
        self.path, self.size = file.path, index.layout.size
        self._file, self._index = file, index
        self._prefix, self._findings, self._context = prefix, findings, context
        if index.left_over:
            reason = not_an_entry(index.left_over)
            self.add("torn", len(index) * self.size, reason)

    def add(self, kind: str, position: int | None, reason: str) -> None:
        self._findings.add(
            f"{self._prefix}-{kind}", self.path, reason, self._context.severity, position
        )

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        base = self._index.base_offset
        zero = (base, 0) if isinstance(self._index, OffsetIndex) else (0, base)
        with suppress(SourceError):  # a server has cut the file
            for number, entry in enumerate(self._index):
                if tuple(entry) == zero and (number or self._is_zero(1)):
                    self._zeros(number)
                    return
                yield number, *entry

    def _is_zero(self, number: int) -> bool:
        return self._file.read_at(number * self.size, self.size) == bytes(self.size)

    def _zeros(self, number: int) -> None:
        """Check that nothing but zeros is left from an entry on."""
        start, end = number * self.size, len(self._index) * self.size
        position = start
        while (position := self._file.next_data(position)) < end:
            block = self._file.read_at(position, min(_BLOCK, end - position))
            position += len(block)
            if not block:
                return  # a server has cut the file
            if not are_zeros(block):
                if self._context.may_be_open and not self._is_zero(number):
                    return  # a server has added entries
                self.add("order", start, "zeros, then more entries")
                return
        if not self._context.may_be_open:
            self.add("zeros", start, f"{many(end - start, 'byte')} of zeros")


def not_an_entry(size: int) -> str:
    """Return, in words, that bytes at the end of an index are too few for an entry."""
    return f"{many(size, 'byte')} {'is' if size == 1 else 'are'} not an entry"


class IndexCheck(ABC):
    """Check of an index that is fed with the batches of its log."""

    def __init__(self, entries: _Entries) -> None:
        self._entries, self._rest = entries, iter(entries)
        self._number = self._first = self._second = -1
        self._has_entry = True
        self._advance()

    def _advance(self) -> None:
        """Go on to the next entry; what follows one that is out of order leads nowhere."""
        before = self._first, self._second
        entry = next(self._rest, None)
        self._has_entry = entry is not None
        if entry is None:
            return
        self._number, self._first, self._second = entry
        if self._number and (reason := self._disorder(*before)):
            self._entries.add("order", self._number * self._entries.size, reason)
            self._has_entry = False

    @abstractmethod
    def _disorder(self, first: int, second: int) -> str:
        """Return why the entry cannot come after another one; empty if it can."""

    @abstractmethod
    def batch(self, batch: SeenBatch) -> None:
        """Check the entries about a batch; those before it were checked."""

    @abstractmethod
    def end(self) -> None:
        """Check the entries after the last batch."""

    def _differs(self, reason: str, number: int | None = None) -> None:
        number = self._number if number is None else number
        self._entries.add("differs", number * self._entries.size, f"entry {number}: {reason}")


class OffsetIndexCheck(IndexCheck):
    """Check of an offset index.

    An entry has the last offset of a batch and its position. Releases before 4.0 write the last
    offset of all batches that were appended together, with the position of the first of them.
    """

    def __init__(
        self, file: LogFile, base_offset: int, findings: Findings, context: IndexContext
    ) -> None:
        """Check the open *file* of the segment *base_offset*."""
        super().__init__(_Entries(file, OffsetIndex(file, base_offset), "index", findings, context))
        self._last_offset = base_offset - 1  # of the batch before
        self._end = 0  # its last byte, exclusive
        self._open_offset = -1  # the offset of the last entry, until a batch ends there
        self._open_number = -1

    def _disorder(self, first: int, second: int) -> str:
        if self._first > first and self._second > second:
            return ""
        return (
            f"offset {self._first} at position {self._second} comes after "
            f"offset {first} at position {second}"
        )

    def batch(self, batch: SeenBatch) -> None:
        """Check the entries about a batch."""
        while self._has_entry and self._second < batch.position:
            self._differs(f"no batch begins at position {self._second}")
            self._advance()
        if batch.last_offset > self._open_offset:
            self._close_entry()
        elif batch.last_offset == self._open_offset:
            self._open_offset = -1
        if self._has_entry and self._second == batch.position:
            self._close_entry()
            if not batch.base_offset <= self._first or self._first <= self._last_offset:
                self._differs(f"the batch at {self._second} begins at {batch.base_offset}")
            elif self._first < batch.last_offset:
                self._differs(f"the batch at {self._second} ends at {batch.last_offset}")
            elif self._first > batch.last_offset:
                self._open_offset, self._open_number = self._first, self._number
            self._advance()
        self._last_offset = batch.last_offset
        self._end = batch.position + batch.size

    def _close_entry(self) -> None:
        """Report the entry at whose offset no batch has ended, if there is one."""
        if self._open_offset >= 0:
            self._differs(f"no batch ends at offset {self._open_offset}", self._open_number)
            self._open_offset = -1

    def end(self) -> None:
        """Check the entries after the last batch."""
        self._close_entry()
        while self._has_entry:
            self._differs(f"position {self._second} is not before {self._end}, the end of the log")
            self._advance()


class TimeIndexCheck(IndexCheck):
    """Check of a time index.

    An entry has the largest timestamp so far, and an offset of the batch that has it: its last one,
    in releases before 4.0 that of a record. The last entry of a segment that is complete has the
    largest timestamp of all.
    """

    def __init__(
        self, file: LogFile, base_offset: int, findings: Findings, context: IndexContext
    ) -> None:
        """Check the open *file* of the segment *base_offset*."""
        super().__init__(
            _Entries(file, TimeIndex(file, base_offset), "time-index", findings, context)
        )
        self._may_be_open = context.may_be_open
        self._largest = -1
        self._end = base_offset

    def _disorder(self, first: int, second: int) -> str:
        if self._first > first and self._second >= second:
            return ""
        return (
            f"timestamp {self._first} of offset {self._second} comes after "
            f"{first} of offset {second}"
        )

    def batch(self, batch: SeenBatch) -> None:
        """Check the entries about a batch."""
        while self._has_entry and self._second <= batch.last_offset:
            if self._second < batch.base_offset:
                self._differs(f"no batch has offset {self._second}")
            elif self._first != batch.max_timestamp:
                self._differs(
                    f"timestamp {self._first}, where the batch of offset {self._second} "
                    f"has {batch.max_timestamp}"
                )
            elif self._first <= self._largest:
                self._differs(f"timestamp {self._first} is not the first of its size")
            self._advance()
        self._largest = max(self._largest, batch.max_timestamp)
        self._end = batch.last_offset + 1

    def end(self) -> None:
        """Check the entries after the last batch."""
        while self._has_entry:
            self._differs(f"offset {self._second} is not before {self._end}, the end of the log")
            self._advance()
        if not self._may_be_open and self._first < self._largest:
            reason = f"it ends before {self._largest}, the largest timestamp"
            self._entries.add("short", None, reason)
