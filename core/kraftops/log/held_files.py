"""The files of a directory for several readers in turn: a small one is read once."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from itertools import pairwise
from typing import NamedTuple

from kraftops.fileio.mounts import Extent, extent_at
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
        content = _content(path, self._largest)
        if content is None:  # it has grown, or cannot be read
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
        content = _content(path, LARGEST_OF_CHECK)
        if content is None:
            continue
        read.append(path)
        contents.append(content)
        stops.append(stops[-1] + len(content))
        if stops[-1] >= BLOCK:
            yield SmallFiles(read, b"".join(contents), stops[1:])
            read, contents, stops = [], [], [0]
    yield SmallFiles(read, b"".join(contents), stops[1:])


def _content(path: str, largest: int) -> bytes | None:
    """Return the bytes of a file as it is when it is opened; None if it cannot be held."""
    try:
        if extent := extent_at(path):
            return _whole(extent, largest)
        fd = os.open(path, _FLAGS)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                return None
            return _whole(Extent(fd, 0, status.st_size, status.st_mtime), largest)
        finally:
            os.close(fd)
    except OSError:
        return None


def _whole(file: Extent, largest: int) -> bytes | None:
    content = file.read_at(0, file.size) if file.size <= largest else b""
    # A network file system may give less than is asked for.
    return content if len(content) == file.size else None


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
