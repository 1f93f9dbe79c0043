"""The files of a partition while it loads: what Kafka would write stays in memory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kraftops.errors import SourceError
from kraftops.java.numbers import parse_integer
from kraftops.server.loader import thrown
from kraftops.server.loader.batches import walk
from kraftops.server.loader.contract import Depth, DiskFolder, LoadRequest, LogBatch
from kraftops.server.loader.thrown import LoadError

LOG, INDEX, TIME_INDEX, TXN_INDEX = ".log", ".index", ".timeindex", ".txnindex"
SNAPSHOT, DELETED, CLEANED, SWAP = ".snapshot", ".deleted", ".cleaned", ".swap"
DELETED_CHECKPOINT = ".checkpoint.deleted"
INDEXES = (INDEX, TIME_INDEX, TXN_INDEX)
_LARGEST_WHOLE = 64 << 20  # bytes of a file that Kafka reads whole: a million producers


@dataclass(slots=True)
class DiskFile:
    """A file: bytes of a file of the folder, or what Kafka would have written into it.

    *origin* names the file whose bytes it has, from *start* on; None for a new one. *entries* are
    the bytes of an offset index that was rebuilt: zeros follow them up to *size*. *open_txns* are
    those of a producer snapshot that was written: first offsets by producer.
    """

    origin: str | None
    size: int
    start: int = 0
    entries: bytearray | None = None
    open_txns: Mapping[int, int] = field(default_factory=dict)


class Disk:
    """The directory of a partition."""

    def __init__(self, folder: DiskFolder, request: LoadRequest) -> None:
        """Begin with the files that are there."""
        self._folder, self.request = folder, request
        self.files = {name: DiskFile(name, size) for name, size in folder.files.items()}
        self._directories = folder.directories
        self.rebuilt: set[str] = set()
        """Names of indexes and checkpoints that were written."""
        self.snapshots_written: list[int] = []

    def exists(self, name: str) -> bool:
        return name in self.files or name in self._directories

    def file(self, name: str, size: int = 0) -> tuple[DiskFile, bool]:
        """Return a file, and whether it had to be made, with *size* bytes of zeros.

        Raises:
            LoadError: there is a directory in its place.
        """
        if name in self._directories:
            raise LoadError(thrown.IO, f"{name} (Is a directory)", name)
        if name in self.files:
            return self.files[name], False
        self.rebuilt.add(name)
        self.files[name] = DiskFile(None, size)
        return self.files[name], True

    def delete(self, name: str) -> bool:
        """Delete a file, if it exists; tell whether it did."""
        return self.files.pop(name, None) is not None

    def rename(self, name: str, to: str) -> bool:
        """Rename a file, over another if there is one; tell whether it existed."""
        moved = self.files.pop(name, None)
        if moved is None:
            return False
        self.files[to] = moved
        return True

    def names(self, suffixes: str | tuple[str, ...]) -> list[str]:
        return [name for name in self.files if name.endswith(suffixes)]

    def read(self, file: DiskFile, position: int, count: int) -> bytes:
        """Return the bytes of a file, with the zeros of its preallocated end."""
        count = max(0, min(count, file.size - position))
        if file.entries is not None:
            part = bytes(file.entries[position : position + count])
        elif file.origin is None or not count:
            part = b""
        else:
            with self._folder.open(file.origin) as source:
                part = source.read_at(file.start + position, count)
        return part.ljust(count, b"\0")

    def read_whole(self, name: str) -> bytes:
        """Return the bytes of a file that Kafka reads whole.

        Raises:
            LoadError: there is a directory in its place: an IOException as of all text files.
            SourceError: it is far larger than such a file can be.
        """
        if name in self._directories:
            raise LoadError(thrown.STORAGE, f"Error while reading {name} (Is a directory)", name)
        file, _ = self.file(name)
        if file.size > _LARGEST_WHOLE:
            raise SourceError(f"{name} has {file.size} bytes, more than are read of such a file")
        return self.read(file, 0, file.size)

    def batches(
        self, file: DiskFile, start: int, depth: Depth, stop: int | None = None
    ) -> Iterator[LogBatch]:
        """Return the batches of a log from a position on, up to *stop* or its end.

        Raises:
            LoadError: while iterating, Kafka's exception at damage.
        """
        end = file.size if stop is None else min(stop, file.size)
        if file.origin is None or start >= end:
            return iter(())
        shift = file.start
        batches = walk(self._folder, file.origin, shift + start, shift + end, depth)
        if not shift:
            return batches
        return (batch._replace(position=batch.position - shift) for batch in batches)

    def snapshots(self) -> dict[int, str]:
        """Return the names of the producer snapshots by offset (`listSnapshotFiles`).

        Raises:
            LoadError: a name has no offset.
        """
        return {offset_of(name): name for name in self.names(SNAPSHOT)}


def offset_of(name: str) -> int:
    """Return the offset before the first dot of a name (`LogFileUtils.offsetFromFileName`).

    Raises:
        LoadError: that is not a number.
    """
    number = parse_integer(name.partition(".")[0], 64)
    if number is None:
        raise LoadError(thrown.NUMBER_FORMAT, f'For input string: "{name.partition(".")[0]}"', name)
    return number


def name_of(offset: int, suffix: str) -> str:
    """Return the name of a file of a segment, with twenty digits whatever the sign."""
    return f"{'-' * (offset < 0)}{abs(offset):020}{suffix}"
