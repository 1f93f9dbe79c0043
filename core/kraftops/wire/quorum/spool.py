"""What comes over the wire of a log, kept in a file without a name, to be read at will."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from weakref import finalize

from kraftops.errors import SourceError
from kraftops.log.batch import Batch
from kraftops.log.log_file import LogFile
from kraftops.log.reader import LogReader
from kraftops.log.streams import OpenName

More = Callable[[], Batch | None]
_AT_ONCE = 8 << 20
"""Bytes that a reader waits for, unless there are no more: to read a batch by itself is slow."""


class Spool:
    """A log that grows; *name* opens it, as often as is wanted while this is there."""

    def __init__(self, place: str, name: str) -> None:
        """Begin an empty one, which came from *place* and has the file name *name* there.

        Raises:
            SourceError: there is no room for it.
        """
        self._place = place
        self.size = 0
        try:
            self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - closed with this
        except OSError as error:
            raise self._failed(error) from error
        fd = self._file.fileno()
        self._more: list[More] = []
        more = self._more
        # Not a method: without a cycle, the file goes as soon as nobody needs it.
        self.name = OpenName(f"{place}/{name}", place, lambda path: _SpoolFile(path, fd, more))
        finalize(self, self._file.close)

    @contextmanager
    def growing(self, more: More) -> Iterator[None]:
        """Let a reader that comes to the end go on with the batches that *more* adds."""
        self._more.append(more)
        try:
            yield
        finally:
            self._more.clear()

    def add(self, batch: Batch) -> Batch:
        """Append a batch; return it with its position here.

        Raises:
            SourceError: there is no room for it.
        """
        added = Batch(self.size, batch.size, batch.data)
        left = memoryview(batch.data)
        try:
            while left:
                # Whoever reads the file reads on from where it was.
                written = os.pwrite(self._file.fileno(), left, self.size)
                self.size += written
                left = left[written:]
        except OSError as error:
            raise self._failed(error) from error
        return added

    def _failed(self, error: OSError) -> SourceError:
        return SourceError(
            f"cannot keep what {self._place} sends: {error.strerror}",
            hint="TMPDIR names a directory with more room",
        )


class _SpoolFile(LogFile):
    """What is in a spool, open for reading."""

    def __init__(self, path: str, fd: int, more: list[More]) -> None:
        self.path = path
        self._more = more
        self._file = os.fdopen(os.dup(fd), "rb", buffering=0)
        self.size = os.fstat(fd).st_size

    def batches(self, start: int = 0, stop: int | None = None) -> LogReader:
        if not self._more:
            return super().batches(start, stop)
        return LogReader(_growing(self._file.fileno(), start, self._more[0]), start, None)


def _growing(fd: int, start: int, more: More) -> Callable[[int], bytes]:
    """Return what reads a file on from byte *start*, and has it grow at its end."""
    at = start

    def read(size: int) -> bytes:
        nonlocal at
        found = os.pread(fd, size, at)
        added = 0
        while not found and added < _AT_ONCE and (batch := more()):
            added += batch.size
        if added:
            found = os.pread(fd, size, at)
        at += len(found)
        return found

    return read
