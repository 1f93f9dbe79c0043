"""Logs that are not plain files: standard input, archives, batches in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Self

from kraftops.errors import SourceError
from kraftops.log.batch import Batch
from kraftops.log.files import ARCHIVES, STANDARD_INPUT
from kraftops.log.log_file import LogFile
from kraftops.log.reader import BLOCK, DamagedArchive, EndReason, LogEnd, LogReader
from kraftops.log.zeros import are_zeros
from kraftops.memory import MOST_RATIO, Meter

_STDIN_FD = 0
_ANY_RATIO_BYTES = 1 << 31
"""Inflated bytes of an archive that are never too many: a segment, preallocated, may have them."""


class OpenName(str):
    """Name of a log that is not a file, with a function that opens it.

    It looks like the name of a file, with an ending for its kind. *place* is its origin,
    *log* the topic and partition, if they are known.
    """

    __slots__ = ("log", "opener", "place")

    place: str
    log: tuple[str, int] | None
    opener: Callable[[str], LogFile | LogStream]

    def __new__(
        cls,
        name: str,
        place: str,
        opener: Callable[[str], LogFile | LogStream],
        log: tuple[str, int] | None = None,
    ) -> Self:
        """Make the name of a log that *opener* returns when it is called with the name."""
        source_name = super().__new__(cls, name)
        source_name.place, source_name.opener, source_name.log = place, opener, log
        return source_name


def open_log(path: str) -> LogFile | LogStream:
    """Open a log: a file, `-` for standard input, or an archive by its ending.

    Raises:
        SourceError: it cannot be opened.
    """
    if isinstance(path, OpenName):
        return path.opener(path)
    if path == STANDARD_INPUT or path.endswith(ARCHIVES):
        return LogStream(path)
    return LogFile(path)


class LogStream:
    """Log that can only be read in order, and has no known end; a context manager.

    Positions are positions in the log, not in its archive.
    """

    size = None

    def __init__(self, path: str) -> None:
        """Open standard input (`-`), which will not be closed, or the archive *path*.

        Raises:
            SourceError: the archive cannot be opened.
        """
        self.path = path
        self._file = None if path == STANDARD_INPUT else LogFile(path)
        self._is_used = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file:
            self._file.__exit__(*error)

    def batches(
        self, start: int = 0, stop: int | None = None, meter: Meter | None = None
    ) -> LogReader:
        """Return the batches from byte *start*, a batch's first, up to byte *stop* or the end.

        Bytes before *start* are read too. Only one iteration at a time; of standard input, only
        one at all.

        Raises:
            SourceError: standard input was read already; while iterating, it cannot be read.
        """
        read = _reader_of(_between(self._blocks(), start, stop))
        return LogReader(read, start, None, None, meter)

    def spooled(self) -> SpooledLog:
        """Return the log copied to a temporary file, which can be read in any order.

        Raises:
            SourceError: it cannot be read or written, or standard input was read already.
        """
        return SpooledLog(self.path, self._blocks())

    def _blocks(self) -> Iterator[bytes]:
        if self._file:
            from kraftops.log.archives import inflated_blocks

            most = max(_ANY_RATIO_BYTES, MOST_RATIO * self._file.size)
            return _bounded(inflated_blocks(self._file, os.path.splitext(self.path)[1]), most)
        if self._is_used:
            raise SourceError("standard input can be read only once")
        self._is_used = True
        return _stdin_blocks()


class MemoryLog(LogStream):
    """Batches in memory, with the positions that they have."""

    def __init__(self, path: str, batches: Sequence[Batch]) -> None:
        self.path = path
        self._file = None
        self._batches = batches

    def batches(
        self,
        start: int = 0,
        stop: int | None = None,  # noqa: ARG002 - there are no others
        meter: Meter | None = None,  # noqa: ARG002 - they are held already
    ) -> LogReader:
        """Return the batches; the first begins at byte *start* of a log."""
        return _MemoryReader(self._batches, start)

    def _blocks(self) -> Iterator[bytes]:
        return (batch.data for batch in self._batches)


class _MemoryReader(LogReader):
    """Reader of batches in memory."""

    def __init__(self, batches: Sequence[Batch], start: int) -> None:
        super().__init__(lambda _: b"", start, None)
        self._left_batches = iter(batches)
        self._end_position = start + sum(batch.size for batch in batches)

    def window(self) -> None:
        """Return None: batches are read one by one, each with its own position."""

    def next_batch(self) -> Batch | None:
        """Return the next whole batch; None at the end, with `end` set."""
        batch = next(self._left_batches, None)
        if batch is None:
            self.end = LogEnd(EndReason.END, self._end_position, 0)
        return batch


class SpooledLog(LogFile):
    """Content of a stream, in a temporary file without a name."""

    def __init__(self, path: str, blocks: Iterable[bytes]) -> None:
        """Write *blocks* of the log *path* to a file.

        Raises:
            SourceError: they cannot be read, or written.
        """
        from tempfile import TemporaryFile

        self.path = path
        self.damage = ""
        """Reason why the archive ended early; empty if it is not damaged."""
        self.size = 0
        try:
            with ExitStack() as on_error:
                self._file = on_error.enter_context(TemporaryFile(buffering=0))
                try:
                    for block in blocks:
                        self._add(block)
                except DamagedArchive as error:
                    self.damage = error.message
                self._file.truncate(self.size)
                on_error.pop_all()
        except OSError as error:
            name = "standard input" if path == STANDARD_INPUT else path
            raise SourceError(f"cannot keep {name} to salvage it: {error.strerror}") from None

    def _add(self, block: bytes) -> None:
        self.size += len(block)
        if are_zeros(block):
            self._file.seek(self.size)
            return
        unwritten = memoryview(block)
        while unwritten:
            unwritten = unwritten[self._file.write(unwritten) :]


def _bounded(blocks: Iterator[bytes], most: int) -> Iterator[bytes]:
    """Yield blocks of an archive up to so many bytes.

    Raises:
        DamagedArchive: there are more.
    """
    allowance = most
    for block in blocks:
        if len(block) > allowance:
            raise DamagedArchive(f"it inflates to more than {most} bytes")
        allowance -= len(block)
        yield block


def _between(blocks: Iterator[bytes], start: int, stop: int | None) -> Iterator[bytes]:
    position = 0
    while stop is None or position < stop:
        block = next(blocks, b"")
        if not block:
            return
        part = block[max(0, start - position) : None if stop is None else stop - position]
        if part:
            yield part
        position += len(block)


def _reader_of(blocks: Iterator[bytes]) -> Callable[[int], bytes]:
    """Return a function that reads *blocks* in order."""
    unread = b""

    def read(size: int) -> bytes:
        nonlocal unread
        block = unread or next(blocks, b"")
        unread = block[size:]
        return block[:size]

    return read


def _stdin_blocks() -> Iterator[bytes]:
    while True:
        try:
            block = os.read(_STDIN_FD, BLOCK)
        except BlockingIOError:
            # Another process has set the pipe to non-blocking.
            import select

            select.select([_STDIN_FD], [], [])
            continue
        except OSError as error:
            raise SourceError(f"cannot read standard input: {error.strerror}") from None
        if not block:
            return
        yield block
