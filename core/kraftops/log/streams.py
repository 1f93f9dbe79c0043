"""Logs that are no plain files: standard input, and segments in archives."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Self

from kraftops.errors import SourceError
from kraftops.log.files import ARCHIVES, STANDARD_INPUT
from kraftops.log.reader import BLOCK, LogFile, LogReader

_STDIN_FD = 0


def open_log(path: str) -> LogFile | LogStream:
    """Open what *path* names: a file, `-` for standard input, or an archive by its ending.

    Raises:
        SourceError: it cannot be opened.
    """
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
        if self._file:
            from kraftops.log.archives import inflated_blocks

            blocks = inflated_blocks(self._file, os.path.splitext(self.path)[1])
        elif self._is_used:
            raise SourceError("standard input can be read only once")
        else:
            blocks = _stdin_blocks()
        self._is_used = True
        return LogReader(_read_in(_between(blocks, start, stop)), start, None)


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
