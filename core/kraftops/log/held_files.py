"""The files of a directory for several readers in turn: a small one is read once."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from itertools import pairwise
from typing import NamedTuple

from kraftops.errors import SourceError
from kraftops.fileio.mounts import extent_at
from kraftops.log.log_file import LogFile
from kraftops.log.reader import BLOCK, LogReader
from kraftops.memory import Meter

LARGEST_OF_LOAD = 4 << 10  # bytes: checkpoints; of a larger index or log a load reads little
LARGEST_OF_CHECK = 64 << 10  # bytes: most indexes, and the logs of idle partitions: all is read
_MOST_BYTES = 4 << 20  # that are held; the files that were opened first go first
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0)


class HeldFiles:
    """Files of a directory as they were when they were first opened, if they are small."""

    def __init__(self, path: str, sizes: Mapping[str, int], largest: int) -> None:
        """Hold none yet; *sizes* are of the regular files listed, *largest* of one held."""
        self._prefix, self._sizes, self._largest = os.path.join(path, ""), sizes, largest
        self._files: dict[str, _HeldFile] = {}
        self._bytes = 0

    def open(self, name: str) -> LogFile:
        """Open a file.

        Raises:
            SourceError: it cannot be read.
        """
        file = self._files.get(name)
        if file is not None:
            return file
        path = self._prefix + name
        size = self._sizes.get(name, self._largest)
        if size >= self._largest:
            return LogFile(path)
        content = _content(path, size, self._largest)
        if len(content) > self._largest:  # it has grown
            return LogFile(path)
        file = self._files[name] = _HeldFile(path, content)
        self._bytes += file.size
        while self._bytes > _MOST_BYTES:
            self._bytes -= self._files.pop(next(iter(self._files))).size
        return file


class SmallFiles(NamedTuple):
    """Files whose contents follow each other, each up to its index in *stops*."""

    paths: list[str]
    content: bytes
    stops: list[int]

    @property
    def sizes(self) -> list[int]:
        return [stop - start for start, stop in pairwise([0, *self.stops])]


def small_files(paths: Iterable[str]) -> Iterator[SmallFiles]:
    """Yield the small ones of some files, about a megabyte at a time.

    Those that are larger than a check holds, or cannot be read, are left out.
    """
    read: list[str] = []
    contents: list[bytes] = []
    stops = [0]
    for path in paths:
        content = _small_content(path)
        if content is None:
            continue
        read.append(path)
        contents.append(content)
        stops.append(stops[-1] + len(content))
        if stops[-1] >= BLOCK:
            yield SmallFiles(read, b"".join(contents), stops[1:])
            read, contents, stops = [], [], [0]
    yield SmallFiles(read, b"".join(contents), stops[1:])


def _small_content(path: str) -> bytes | None:
    """Return the bytes of a file as it is when it is opened; None of one that is left out."""
    try:
        if extent := extent_at(path):
            return extent.read_at(0, extent.size) if extent.size < LARGEST_OF_CHECK else None
        fd = os.open(path, _FLAGS)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_size >= LARGEST_OF_CHECK:
                return None
            content = os.read(fd, status.st_size)
        finally:
            os.close(fd)
    except OSError:
        return None
    return content if len(content) == status.st_size else None


def _content(path: str, size: int, largest: int) -> bytes:
    """Return the bytes of a file that had *size*, at most one more than are held."""
    try:
        if extent := extent_at(path):
            return extent.read_at(0, largest + 1)
        fd = os.open(path, _FLAGS)
        try:
            content = os.read(fd, largest + 1)
            # A network file system may give less than is asked for.
            while len(content) < size and (rest := os.read(fd, largest + 1 - len(content))):
                content += rest
            return content
        finally:
            os.close(fd)
    except OSError as error:
        raise SourceError.of(path, error) from None


class _HeldFile(LogFile):
    """A file whose bytes are in memory."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path, self.size = path, len(content)
        self._content = content

    def __exit__(self, *_: object) -> None:
        """Keep it: others read it too."""

    def batches(
        self, start: int = 0, stop: int | None = None, meter: Meter | None = None
    ) -> LogReader:
        """Return the batches from byte *start* up to byte *stop* or the end."""
        stop = self.size if stop is None else min(stop, self.size)
        return LogReader(BytesIO(self._content[start:stop]).read, start, stop, None, meter)

    def read_at(self, position: int, size: int) -> bytes:
        """Return up to *size* bytes at *position*, fewer only at the end of the file."""
        return self._content[position : position + size]

    def next_data(self, position: int) -> int:
        """Return *position* itself: zeros are as quick as a hole."""
        return position
