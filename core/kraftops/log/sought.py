"""Positions of batches by the offset index beside a segment, instead of reading up to them."""

from kraftops.errors import SourceError, UsageError
from kraftops.log.batch import HEADER_SIZE
from kraftops.log.batch_search import batch_at
from kraftops.log.files import FileKind, file_name
from kraftops.log.heads import head_in, heads
from kraftops.log.indexes import OffsetEntry, OffsetIndex
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange

NO_LIMIT = (1 << 63) - 1


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
