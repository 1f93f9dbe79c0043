"""Log and snapshot files, on this machine or at a URI."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from io import FileIO
from typing import TYPE_CHECKING, Self, cast

from kraftops.errors import SourceError
from kraftops.fileio.mounts import Extent, extent_at
from kraftops.log.reader import BLOCK, LogReader
from kraftops.memory import Meter
from kraftops.uris import is_remote

if TYPE_CHECKING:
    from kraftops.log.remote import RemoteFile


class LogFile:
    """Log or snapshot file, open for reading only; a context manager."""

    _remote: RemoteFile | _PackedFile | None = None

    def __init__(self, path: str) -> None:
        """Open the file.

        Raises:
            SourceError: it cannot be opened.
        """
        self.path = path
        if is_remote(path):
            from kraftops.log.remote import RemoteFile  # a door: pyarrow

            self._remote = RemoteFile(path)
            self._file, self.size = cast("FileIO", self._remote), self._remote.size
            return
        try:
            if extent := extent_at(path):
                self._remote = _PackedFile(extent)
                self._file, self.size = cast("FileIO", self._remote), extent.size
                return
            self._file = FileIO(path, opener=_open_at_once)
            status = os.fstat(self._file.fileno())
        except OSError as error:
            raise _unreadable(path, error) from None
        if not stat.S_ISREG(status.st_mode):
            self._file.close()
            raise SourceError(f"cannot read {path}: it is not a regular file")
        self.size = status.st_size
        """Bytes when it was opened; bytes that are appended later are not read."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # all that is wanted of it is read
            self._file.close()

    def batches(
        self, start: int = 0, stop: int | None = None, meter: Meter | None = None
    ) -> LogReader:
        """Return the batches from byte *start*, a batch's first, up to byte *stop* or the end.

        Only one iteration at a time: they share the position of the file.

        Raises:
            SourceError: while iterating, the file cannot be read.
        """
        stop = self.size if stop is None else min(stop, self.size)
        self.expect(start, stop)
        try:
            self._file.seek(start)
        except OSError as error:
            raise _unreadable(self.path, error) from None
        seek_data = None if is_remote(self.path) else self._seek_data
        return LogReader(self._read, start, stop, seek_data, meter)

    def expect(self, start: int, stop: int) -> None:
        """Announce that the bytes from *start* to *stop* are read next, in order."""
        if self._remote:
            self._remote.expect(start, stop)

    def read_at(self, position: int, size: int) -> bytes:
        """Return up to *size* bytes at *position*, fewer only at the end of the file.

        An iteration over the batches goes on undisturbed.

        Raises:
            SourceError: the file cannot be read.
        """
        parts: list[bytes] = []
        while size > 0 and (part := self._read_part(position, min(size, BLOCK))):
            parts.append(part)
            position, size = position + len(part), size - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def next_data(self, position: int) -> int:
        """Return the first position from *position* on that is not in a hole of a sparse file.

        It is the end of the file if nothing but a hole follows, and *position* itself where the
        file system does not tell holes.
        """
        if self._remote or position >= self.size:
            return self._remote.next_data(position) if self._remote else position
        try:
            position_before = self._file.tell()
            try:
                return os.lseek(self._file.fileno(), position, os.SEEK_DATA)
            finally:
                self._file.seek(position_before)
        except OSError as error:
            if error.errno != errno.ENXIO:
                return position
            # A server may have cut the file.
            return max(position, min(self.size, os.fstat(self._file.fileno()).st_size))

    def _seek_data(self, position: int) -> int:
        """Move on to the data from *position* on, and return where it begins."""
        start = self.next_data(position)
        self._file.seek(start)
        return start

    def _read_part(self, position: int, size: int) -> bytes:
        try:
            if self._remote is None:
                return os.pread(self._file.fileno(), size, position)
            position_before = self._remote.tell()
            self._remote.seek(position)
            part = self._remote.read(size)
            self._remote.seek(position_before)
        except OSError as error:
            raise _unreadable(self.path, error) from None
        return part

    def _read(self, size: int) -> bytes:
        try:
            return self._file.read(size) or b""
        except OSError as error:
            raise _unreadable(self.path, error) from None


class _PackedFile:
    """A file in an archive, with the interface of files in stores."""

    def __init__(self, extent: Extent) -> None:
        self._extent = extent
        self._position = 0

    def read(self, size: int) -> bytes:
        part = self._extent.read_at(self._position, size)
        self._position += len(part)
        return part

    def seek(self, position: int) -> None:
        self._position = position

    def tell(self) -> int:
        return self._position

    def expect(self, start: int, stop: int) -> None:
        """Nothing has to be fetched."""

    def close(self) -> None:
        """Leave the archive open: other files are in it."""

    def next_data(self, position: int) -> int:
        """Return the first position from *position* on that is not in a hole."""
        start, size = self._extent.start, self._extent.size
        if position >= size:
            return position
        try:  # no reader uses the position of the descriptor
            data = os.lseek(self._extent.fd, start + position, os.SEEK_DATA)
        except OSError as error:
            return size if error.errno == errno.ENXIO else position
        return min(data - start, size)


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for a writer, as a FIFO would."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _unreadable(path: str, error: OSError) -> SourceError:
    return SourceError.of(path, error)
