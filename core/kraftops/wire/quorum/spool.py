"""Spool of a log that arrives over the wire: a file without a name that can be read repeatedly."""

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
from kraftops.memory import Meter

AddNext = Callable[[], Batch | None]
"""Adds the next batch to the spool and returns it; None at the end."""
_BLOCK_BYTES = 8 << 20
"""Bytes that a reader waits for, unless the log ends: to read single batches is slow."""


class Spool:
    """A log that grows; *name* opens it repeatedly, as long as this object exists."""

    def __init__(self, endpoint: str, file_name: str) -> None:
        """Make an empty spool of the file *file_name* at *endpoint*.

        Raises:
            SourceError: there is no room for it, or no directory that can be written to.
        """
        self._endpoint = endpoint
        self.size = 0
        try:
            self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - closed with this
        except FileNotFoundError as error:
            raise SourceError(
                f"cannot keep what {endpoint} sends: no directory of temporary files can be "
                "written to",
                hint="TMPDIR names one",
            ) from error
        except OSError as error:
            raise self._failed(error) from error
        fd = self._file.fileno()
        self._sources: list[AddNext] = []
        sources = self._sources

        # Not a method: a reference cycle would keep the file.
        def open_file(path: str) -> _SpoolFile:
            return _SpoolFile(path, fd, sources)

        self.name = OpenName(f"{endpoint}/{file_name}", endpoint, open_file)
        finalize(self, self._file.close)

    @contextmanager
    def growing(self, add_next: AddNext) -> Iterator[None]:
        """Let readers at the end of the spool go on with the batches that *add_next* adds."""
        self._sources.append(add_next)
        try:
            yield
        finally:
            self._sources.clear()

    def add(self, batch: Batch) -> Batch:
        """Append a batch; return it with its position here.

        Raises:
            SourceError: there is no room for it.
        """
        added = Batch(self.size, batch.size, batch.data)
        rest = memoryview(batch.data)
        try:
            while rest:
                # Not a write at the file's position, which readers share.
                written = os.pwrite(self._file.fileno(), rest, self.size)
                self.size += written
                rest = rest[written:]
        except OSError as error:
            raise self._failed(error) from error
        return added

    def _failed(self, error: OSError) -> SourceError:
        return SourceError(
            f"cannot keep what {self._endpoint} sends: {error.strerror}",
            hint="TMPDIR names a directory with more room",
        )


class _SpoolFile(LogFile):
    """A spool that is open for reading."""

    def __init__(self, path: str, fd: int, sources: list[AddNext]) -> None:
        self.path = path
        self._sources = sources
        self._file = os.fdopen(os.dup(fd), "rb", buffering=0)
        self.size = os.fstat(fd).st_size

    def batches(
        self, start: int = 0, stop: int | None = None, meter: Meter | None = None
    ) -> LogReader:
        if not self._sources:
            return super().batches(start, stop, meter)
        read = _growing(self._file.fileno(), start, self._sources[0])
        return LogReader(read, start, None, None, meter)


def _growing(fd: int, start: int, add_next: AddNext) -> Callable[[int], bytes]:
    """Read a file from byte *start* on; at its end, have *add_next* lengthen it."""
    position = start

    def read(size: int) -> bytes:
        nonlocal position
        data = os.pread(fd, size, position)
        added = 0
        while not data and added < _BLOCK_BYTES and (batch := add_next()):
            added += batch.size
        if added:
            data = os.pread(fd, size, position)
        position += len(data)
        return data

    return read
