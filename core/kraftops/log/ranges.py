"""Byte ranges of files, and how a log is cut into ranges that begin with a batch."""

import os
from collections.abc import Iterable, Iterator
from struct import Struct
from typing import NamedTuple

from kraftops.errors import SourceError
from kraftops.log.batch import HEADER_SIZE, LOG_OVERHEAD, SMALLEST_LENGTH
from kraftops.log.heads import head_in
from kraftops.log.indexes import OffsetEntry
from kraftops.log.log_file import LogFile

_BLOCK = 64 * 1024  # one read has the lengths of several small batches
_OPENING = Struct(">qiib")  # base offset, length, leader epoch (of old messages a checksum), magic
_NEWEST_MAGIC = 2  # `RecordBatch.CURRENT_MAGIC_VALUE`
# Offsets of a segment are kept relative to its base, in 4 bytes (`LogSegment.ensureOffsetInRange`).
_OFFSETS_OF_A_SEGMENT = 1 << 31

FileId = tuple[int, int]
"""Device and inode."""


class ByteRange(NamedTuple):
    """The bytes of a file from *start* up to *stop*.

    Without *stop* it is all that is there when the file is opened. *is_last* says that nothing of
    the file follows; *file_id* is the file that was cut, whatever has its name by then.
    """

    path: str
    start: int = 0
    stop: int | None = None
    is_last: bool = True
    file_id: FileId | None = None

    @property
    def size(self) -> int:
        """The number of bytes of a range that has a *stop*."""
        assert self.stop is not None
        return self.stop - self.start


def file_id(path: str) -> FileId:
    """Return the identity of the file that has this name now.

    Raises:
        SourceError: there is none.
    """
    try:
        status = os.stat(path)
    except OSError as error:
        raise SourceError.of(path, error) from None
    return status.st_dev, status.st_ino


def cut_log(
    log: LogFile,
    target_bytes: int,
    stop: int | None = None,
    file_id: FileId | None = None,
    *,
    start: int = 0,
) -> Iterator[ByteRange]:
    """Yield ranges of about *target_bytes* that together are a log from *start* up to *stop*.

    Each begins with a batch, as *start* does.
    """
    end = log.size if stop is None else min(log.size, stop)
    for position in _cuts(log, start, end, target_bytes):
        yield ByteRange(log.path, start, position, is_last=False, file_id=file_id)
        start = position
    yield ByteRange(log.path, start, end, is_last=True, file_id=file_id)


def cut_by_index(
    log: LogFile, entries: Iterable[OffsetEntry], target_bytes: int, stop: int | None = None
) -> list[ByteRange] | None:
    """Return ranges like `cut_log`, cut at entries of the offset index; None if they do not fit.

    Only the header at each cut is read: a batch must be there whose offsets are those that Kafka
    indexes (`LogSegment.append`: an entry has the position of a batch, and the last offset of what
    was appended with it), so that an index of another segment is noticed.
    """
    end = log.size if stop is None else min(log.size, stop)
    starts, before = [0], -1
    for entry in entries:
        if not entry.position:
            continue  # of a preallocated index; the batch at 0 has no entry
        if not starts[-1] <= entry.position < end:
            return None
        if entry.position >= starts[-1] + target_bytes:
            head = head_in(log.read_at(entry.position, HEADER_SIZE), 0, entry.position)
            if head is None or not before < head.base_offset <= head.last_offset <= entry.offset:
                return None
            starts.append(entry.position)
        before = entry.offset
    ends = [*starts[1:], end]
    return [
        ByteRange(log.path, start, until, is_last=until == end)
        for start, until in zip(starts, ends, strict=True)
    ]


def _cuts(log: LogFile, start: int, stop: int, target_bytes: int) -> Iterator[int]:
    """Yield the positions where ranges begin, except the first.

    Only the lengths of the batches are followed, from the first on: a payload may look like a
    batch, so that no other way is safe. After an impossible length nothing is known of batches, nor
    after one that leads to bytes with which no batch of this segment begins. A batch that is
    shorter than its header is shown with the bytes after it, hence not cut off from them.
    """
    base, size, next_cut, offset_before = start, HEADER_SIZE, target_bytes, None
    while base + _OPENING.size <= stop:
        try:
            block = log.read_at(base, min(_BLOCK, stop - base))
        except SourceError:
            return  # reading the range reports it
        index, last = 0, len(block) - _OPENING.size
        if last < 0:
            return
        while index <= last:
            offset, length, _, magic = _OPENING.unpack_from(block, index)
            if offset_before is None:
                offset_before = offset
            if length < SMALLEST_LENGTH or not 0 <= magic <= _NEWEST_MAGIC:
                return
            if not 0 <= offset - offset_before < _OFFSETS_OF_A_SEGMENT:
                return
            offset_before = offset
            if index >= next_cut and size >= HEADER_SIZE:
                yield base + index
                next_cut = index + target_bytes
            size = LOG_OVERHEAD + length
            index += size
        base += index
        next_cut -= index
