"""Directories of partitions in memory, with small logs written by hand."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from kraftops.log.batch import Record
from kraftops.log.indexes import OffsetEntry
from tests.helpers.logs.written import batch_bytes, offset_index_bytes, producers_bytes

METADATA = b"version: 0\ntopic_id: WmCtq1ycVk9dBfdep1ym9A"


class MemoryFile:
    """An open file; counts what is read."""

    def __init__(self, folder: "MemoryFolder", content: bytes, size: int) -> None:
        self._folder, self._content = folder, content
        self.size = size

    def read_at(self, position: int, size: int) -> bytes:
        """Return bytes of the file, zeros where it is larger than its content."""
        count = max(0, min(size, self.size - position))
        self._folder.bytes_read += count
        return self._content[position : position + count].ljust(count, b"\0")


class MemoryFolder:
    """A directory; *sizes* are of files that are larger than their content."""

    def __init__(
        self,
        contents: Mapping[str, bytes],
        directories: Sequence[str] = (),
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self._contents = contents
        self.directories = directories
        self.files = {name: len(content) for name, content in contents.items()} | dict(sizes or {})
        self.bytes_read = 0
        self.opened: list[str] = []

    @contextmanager
    def open(self, name: str) -> Iterator[MemoryFile]:
        """Open a file."""
        self.opened.append(name)
        yield MemoryFile(self, self._contents[name], self.files[name])


def named(offset: int, suffix: str) -> str:
    """Return the name of a file of a segment."""
    return f"{offset:020}{suffix}"


def batch(first: int, last: int | None = None, epoch: int = 0, **fields: int) -> bytes:
    """Return a batch with the offsets from *first* to *last*."""
    records = [
        Record(offset, 1000 + offset, b"k", b"v")
        for offset in range(first, (first if last is None else last) + 1)
    ]
    return batch_bytes(records, leader_epoch=epoch, **fields)


def segment(
    base_offset: int, batches: Sequence[bytes], entries: Sequence[OffsetEntry] = ()
) -> dict[str, bytes]:
    """Return the files of a segment."""
    return {
        named(base_offset, ".log"): b"".join(batches),
        named(base_offset, ".index"): offset_index_bytes(entries, base_offset),
        named(base_offset, ".timeindex"): b"",
    }


def partition(*segments: Mapping[str, bytes], end: int | None = None) -> dict[str, bytes]:
    """Return the files of a partition; *end* is where it has a snapshot of a clean stop."""
    files: dict[str, bytes] = {}
    for files_of_segment in segments:
        files |= files_of_segment
    files |= {"leader-epoch-checkpoint": b"0\n1\n0 0\n", "partition.metadata": METADATA}
    if end is not None:
        files[named(end, ".snapshot")] = producers_bytes([])
    return files
