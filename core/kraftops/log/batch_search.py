"""Find a batch in the middle of a log: by its offset index, else by the chain of batches before it.

A value may itself be whole batches, so that a right checksum proves nothing. But a batch that
begins before a window of twice the largest size ends in its first half, so that a batch of the log
begins there. Of all chains of right lengths, checksums and growing offsets from there on, the first
one that leads through the window is the log's: one that begins inside of a batch ends with it, or
goes on as the log does.
"""

from collections.abc import Iterator
from itertools import pairwise

from google_crc32c import value as crc32c

from kraftops.errors import SourceError, UsageError
from kraftops.log.batch import CRC_START, HEADER_SIZE
from kraftops.log.damage.candidates import candidates
from kraftops.log.files import FileKind, file_name
from kraftops.log.heads import Head, head_in, heads
from kraftops.log.indexes import OffsetEntry, OffsetIndex
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange

LARGEST = 1_048_588
"""Bytes of a batch: Kafka's default for `message.max.bytes`. A larger one breaks a chain."""
_WINDOWS = 64  # that a range has at least, so that searches read 2 % of a file at most
NO_LIMIT = (1 << 63) - 1


def batch_at(log: LogFile, near: int, stop: int, boundary: int = 0) -> Head | None:
    """Return the batch that has byte *near*, before *stop*; None if no chain tells it.

    At *boundary*, a batch begins. From there, lengths lead to it, if that is not far.

    Raises:
        SourceError: the file cannot be read.
    """
    begin = near - 2 * LARGEST
    if begin <= boundary:
        return next((head for head in heads(log, boundary, stop) if head.end > near), None)
    end = min(near + HEADER_SIZE, stop)
    log.expect(begin, end)
    block = log.read_at(begin, end - begin)
    read = lambda index, size: block[index : index + size]  # noqa: E731
    chains = (
        _last_of_chain(block, candidate.start, begin, near)
        for candidate in candidates(block, 0, LARGEST, len(block), read)
    )
    last = next(filter(None, chains), None)
    return last if last and last.end <= stop else None


def _last_of_chain(block: bytes, index: int, begin: int, near: int) -> Head | None:
    before = -1
    while (head := head_in(block, index, begin)) and head.size <= LARGEST:
        if head.base_offset <= before:  # also of old messages, which have none
            return None
        if head.end > near:
            return head
        if crc32c(block[index + CRC_START : index + head.size]) != head.crc:
            return None
        index, before = index + head.size, head.last_offset
    return None


def cut_by_size(log: LogFile, target_bytes: int, stop: int | None = None) -> list[ByteRange]:
    """Return ranges like `cut_log`, and read little; where no batch is proven, none begins.

    Raises:
        SourceError: the file cannot be read.
    """
    end = log.size if stop is None else min(log.size, stop)
    starts = [*_starts(log, max(target_bytes, _WINDOWS * 2 * LARGEST), end), end]
    return [
        ByteRange(log.path, start, until, is_last=until == end) for start, until in pairwise(starts)
    ]


def _starts(log: LogFile, target: int, end: int) -> Iterator[int]:
    start, near = 0, target
    yield start
    while near < end:
        head = batch_at(log, near, end, start)
        if head and head.end < end:
            start = head.position if head.position == near else head.end
            yield start
        near = max(start, near) + target


def last_entry(path: str, offset: int = NO_LIMIT, position: int = NO_LIMIT) -> OffsetEntry | None:
    """Return the last index entry of a segment up to an offset and a position; None without one."""
    name = file_name(path)
    if name is None or name.kind is not FileKind.LOG or name.is_tiered:
        return None
    try:
        with LogFile(name.sibling(FileKind.INDEX)) as file:
            return OffsetIndex(file, name.base_offset).last_up_to(offset, position)
    except (SourceError, UsageError):
        return None  # it is not there, or no offset names the segment


def indexed_position(
    log: LogFile, stop: int, *, offset: int = NO_LIMIT, near: int = NO_LIMIT
) -> int:
    """Return the position of a batch before *stop* whose records are not after *offset*.

    It is the last one up to the position *near* that an index entry tells, else 0. The header there
    must have offsets that Kafka would index so (`LogSegment.append`), so that an index of another
    segment is noticed.
    """
    entry = last_entry(log.path, offset, min(near, stop - HEADER_SIZE))
    if entry is None:
        return 0
    head = head_in(log.read_at(entry.position, HEADER_SIZE), 0, entry.position)
    fits = head is not None and head.last_offset <= entry.offset and head.end <= stop
    return entry.position if fits else 0


def resumed(part: ByteRange) -> ByteRange:
    """Return a range from the first batch on that ends after its start.

    What was read before may have ended amid a batch, and a payload may look like one: a chain of
    batches before it tells, else the lengths of all from an index entry on.
    """
    with LogFile(part.path) as log:
        stop = log.size if part.stop is None else min(part.stop, log.size)
        begin = indexed_position(log, stop, near=part.start)
        first = batch_at(log, part.start, stop, begin)
        if first is None:
            chain = (head for head in heads(log, begin, stop) if head.end > part.start)
            first = next(chain, None)
    return part._replace(start=stop if first is None else first.position)
