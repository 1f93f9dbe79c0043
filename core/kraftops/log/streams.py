"""Logs that are no plain files: standard input, segments in archives, what is in memory."""

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

_STDIN_FD = 0


class OpenName(str):
    """The name of a log that no file has: whoever gives the name knows how to open it.

    It looks like that of a file, whose ending says what it holds. *place* is where it is from.
    """

    __slots__ = ("opener", "place")

    place: str
    opener: Callable[[str], LogFile | LogStream]

    def __new__(cls, name: str, place: str, opener: Callable[[str], LogFile | LogStream]) -> Self:
        """Make the name of what *opener* returns, when it is called with the name."""
        made = super().__new__(cls, name)
        made.place, made.opener = place, opener
        return made


def open_log(path: str) -> LogFile | LogStream:
    """Open what *path* names: a file, `-` for standard input, or an archive by its ending.

    Raises:
        SourceError: it cannot be opened.
    """
    if isinstance(path, OpenName):
        return path.opener(path)
    if path == STANDARD_INPUT or path.endswith(ARCHIVES):
        return LogStream(path)
    return LogFile(path)


class LogStream:
    """A log that can only be read in order, and whose end nobody knows; a context manager.

    Positions are those of the log, not of the archive that it is in.
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

    def batches(self, start: int = 0, stop: int | None = None) -> LogReader:
        """Return the batches from byte *start*, a batch's first, up to byte *stop* or the end.

        What lies before *start* is read too. Only one such walk at a time; of standard input, only
        one at all.

        Raises:
            SourceError: standard input was read already; while iterating, there is no reading on.
        """
        return LogReader(_read_in(_between(self._blocks(), start, stop)), start, None)

    def kept(self) -> KeptLog:
        """Return all of the log in a file of its own, to be read at will; a context manager.

        Raises:
            SourceError: it cannot be read, or kept, or is standard input, and was read already.
        """
        return KeptLog(self.path, self._blocks())

    def _blocks(self) -> Iterator[bytes]:
        if self._file:
            from kraftops.log.archives import inflated_blocks

            return inflated_blocks(self._file, os.path.splitext(self.path)[1])
        if self._is_used:
            raise SourceError("standard input can be read only once")
        self._is_used = True
        return _stdin_blocks()


class HeldLog(LogStream):
    """Batches that are in memory, which have no positions unless they say so themselves."""

    def __init__(self, path: str, batches: Sequence[Batch]) -> None:
        """Make a log of *batches* under the name *path*."""
        self.path = path
        self._file = None
        self._batches = batches

    def batches(self, start: int = 0, stop: int | None = None) -> LogReader:  # noqa: ARG002 - it is all there is
        """Return the batches, of which the first begins at byte *start* of some whole."""
        return _HeldReader(self._batches, start)

    def _blocks(self) -> Iterator[bytes]:
        return (batch.data for batch in self._batches)


class _HeldReader(LogReader):
    """Walks batches that are there already."""

    def __init__(self, batches: Sequence[Batch], start: int) -> None:
        super().__init__(lambda _: b"", start, None)
        self._left_batches = iter(batches)
        self._end_position = start + sum(batch.size for batch in batches)

    def window(self) -> None:
        """Give them one by one, each with its own position."""

    def next_batch(self) -> Batch | None:
        """Return the next batch."""
        batch = next(self._left_batches, None)
        if batch is None:
            self.end = LogEnd(EndReason.END, self._end_position, 0)
        return batch


class KeptLog(LogFile):
    """What a stream gave, in a temporary file without a name."""

    def __init__(self, path: str, blocks: Iterable[bytes]) -> None:
        """Keep *blocks* of the log *path*.

        Raises:
            SourceError: they cannot be read, or kept.
        """
        from tempfile import TemporaryFile

        self.path = path
        self.damage = ""
        """Why the archive gave no more, if it is damaged."""
        self.size = 0
        try:
            with ExitStack() as on_error:
                self._file = on_error.enter_context(TemporaryFile(buffering=0))
                try:
                    for block in blocks:
                        self._add(block)
                except DamagedArchive as error:
                    self.damage = error.message
                on_error.pop_all()
        except OSError as error:
            name = "standard input" if path == STANDARD_INPUT else path
            raise SourceError(f"cannot keep {name} to salvage it: {error.strerror}") from None

    def _add(self, block: bytes) -> None:
        left = memoryview(block)
        while left:
            left = left[self._file.write(left) :]
        self.size += len(block)


def _between(blocks: Iterator[bytes], start: int, stop: int | None) -> Iterator[bytes]:
    """Yield what lies from byte *start* to byte *stop*."""
    position = 0
    while stop is None or position < stop:
        block = next(blocks, b"")
        if not block:
            return
        part = block[max(0, start - position) : None if stop is None else stop - position]
        if part:
            yield part
        position += len(block)


def _read_in(blocks: Iterator[bytes]) -> Callable[[int], bytes]:
    """Return a function that reads on in *blocks*."""
    left = b""

    def read(size: int) -> bytes:
        nonlocal left
        block = left or next(blocks, b"")
        left = block[size:]
        return block[:size]

    return read


def _stdin_blocks() -> Iterator[bytes]:
    while True:
        try:
            block = os.read(_STDIN_FD, BLOCK)
        except BlockingIOError:
            # A pipe that another process has told not to wait.
            import select

            select.select([_STDIN_FD], [], [])
            continue
        except OSError as error:
            raise SourceError(f"cannot read standard input: {error.strerror}") from None
        if not block:
            return
        yield block
