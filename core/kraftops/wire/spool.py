"""What comes over the wire of a log, kept in a file without a name, to be read at will."""

from __future__ import annotations

import os
from tempfile import TemporaryFile
from weakref import finalize

from kraftops.errors import SourceError
from kraftops.log.reader import LogFile
from kraftops.log.streams import OpenName


class Spool:
    """A log that grows; *name* opens it, as often as is wanted."""

    def __init__(self, place: str, name: str) -> None:
        """Begin an empty one, which came from *place* and has the file name *name* there.

        Raises:
            SourceError: there is no room for it.
        """
        self.name = OpenName(f"{place}/{name}", place, self._opened)
        self.size = 0
        try:
            self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - closed with this
        except OSError as error:
            raise self._failed(error) from error
        finalize(self, self._file.close)

    def add(self, data: bytes) -> None:
        """Append bytes.

        Raises:
            SourceError: there is no room for them.
        """
        left = memoryview(data)
        try:
            while left:
                # Whoever reads the file reads on from where it was.
                written = os.pwrite(self._file.fileno(), left, self.size)
                self.size += written
                left = left[written:]
        except OSError as error:
            raise self._failed(error) from error

    def _opened(self, _: str) -> LogFile:
        return _SpoolFile(self.name, self._file.fileno(), self.size)

    def _failed(self, error: OSError) -> SourceError:
        return SourceError(
            f"cannot keep what {self.name.place} sends: {error.strerror}",
            hint="TMPDIR names a directory with more room",
        )


class _SpoolFile(LogFile):
    """What is in a spool now, open for reading."""

    def __init__(self, path: str, fd: int, size: int) -> None:
        self.path = path
        self.size = size
        self._file = os.fdopen(os.dup(fd), "rb", buffering=0)
