"""Ends of logs: up to which whole batch a stream can read now."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from kraftops.dump.sources.follow import is_whole_batch
from kraftops.log.batch_search import NO_LIMIT, indexed_position, last_entry
from kraftops.log.heads import Head, heads
from kraftops.log.log_file import LogFile
from kraftops.spark.stream.logs import Segment, StreamLog
from kraftops.spark.stream.marks import READ, Mark
from kraftops.spark.stream.places import Loss, Place, locate, resume_position

# Two batches of producers' default batch.size: to open an index takes longer than to read so few.
_FEW_BYTES = 32 << 10


class End(NamedTuple):
    """A mark, and the batch that ends there, if it was read."""

    mark: Mark
    batch: Head | None = None


class Look(NamedTuple):
    """A log when it was listed, its *end* then, and the *place* of the end before it, *start*.

    The place is None where nothing was read to tell the end.
    """

    log: StreamLog
    start: End
    place: Place | Loss | None
    end: End


def looked(log: StreamLog, start: End) -> Look:
    """Return what comes after *start*.

    Of an object nothing is read: its size is the end.

    Raises:
        SourceError: a segment cannot be read.
    """
    if log.is_known_by_size:
        last_segment = log.segments[-1]
        end = End(Mark(last_segment.base_offset, size=last_segment.size))
        return Look(log, start, None, end)
    until = NO_LIMIT if log.high_watermark is None else log.high_watermark
    grown, before = log.segments[-1], start.batch
    if before and start.mark.offset > grown.base_offset and grown.size - before.end <= _FEW_BYTES:
        # As most logs between two batches of a stream: the file is opened once.
        batches = list(_whole_heads(grown, before.position, until, is_growing=True))
        if batches[:1] == [before]:
            return Look(log, start, Place((grown,), before.end), _after(batches[-1]))
    place = locate(log, start.mark, start.batch)
    if isinstance(place, Loss):
        end = _end_after(Place(log.segments, 0), End(log.beginning), until)
    else:
        end = _end_after(place, start, until)
    return Look(log, start, place, end)


def _end_after(place: Place, start: End, until: int) -> End:
    """Return the end after the last whole batch before an offset; else *start*.

    Only the last segment with a batch is read, from its last index entry on.
    """
    for index in reversed(range(len(place.files))):
        segment = place.files[index]
        if segment.base_offset >= until:
            continue
        is_growing = index == len(place.files) - 1
        position = 0 if index else place.position
        last = deque(_whole_heads(segment, position, until, is_growing=is_growing), 1)
        if last:
            return _after(last[0])
    return start


def limited_end(log: StreamLog, start: End, end: End, most: int) -> End:
    """Return the end after about *most* bytes of batches, at least one, at the latest *end*.

    Raises:
        SourceError: a segment cannot be read.
    """
    place = resume_position(log, start.mark, start.batch)
    if log.is_known_by_size and not start.mark.snapshot:
        return _limited_end_of_objects(place, end, most)
    reached, taken = start, 0
    for index, segment in enumerate(place.files):
        if start.mark.is_unread_snapshot and not index:
            reached, taken = End(Mark(start.mark.offset, start.mark.epoch, 0, READ)), segment.size
            if taken >= most:
                return reached
            continue
        is_growing = index == len(place.files) - 1
        begin = 0 if index else place.position
        limit, before = begin + most - taken, taken
        for head in _whole_heads(segment, begin, end.mark.offset, limit, is_growing=is_growing):
            # After a snapshot, its segment is read from the first batch on, as the table does.
            if reached.mark.offset > start.mark.offset and head.end > limit:
                return reached
            reached, taken = _after(head), before + head.end - begin
    return end if reached.mark.offset >= end.mark.offset or not taken else reached


def _limited_end_of_objects(place: Place, end: End, most: int) -> End:
    """Return the end after whole objects, or at an index entry of the first that is too large."""
    taken = 0
    for index, segment in enumerate(place.files):
        begin = 0 if index else place.position
        rest = segment.size - begin
        if taken + rest <= most:
            taken += rest
            continue
        entry = last_entry(segment.path, position=begin + most - taken)
        if entry is not None and entry.position > begin:
            return End(Mark(segment.base_offset, size=entry.position))
        whole = place.files[index - 1] if taken else segment
        return min(End(Mark(whole.base_offset, size=whole.size)), end, key=_order)
    return end


def _order(end: End) -> tuple[int, int]:
    return end.mark.offset, end.mark.size


def _after(head: Head) -> End:
    return End(Mark(head.last_offset + 1, head.epoch), head)


def _whole_heads(
    segment: Segment,
    start: int,
    until: int,
    limit: int = NO_LIMIT,
    *,
    is_growing: bool,
) -> Iterator[Head]:
    """Yield the heads of batches before the offset *until*, those near its end or *limit*.

    The last batch of a growing segment counts only if its checksum says that it is written.
    """
    with LogFile(segment.path) as log:
        stop = min(segment.size, log.size)
        if stop - start > _FEW_BYTES:
            start = max(start, indexed_position(log, stop, offset=until - 1, near=limit))
        for head in heads(log, start, stop):
            if head.last_offset >= until:
                return
            if is_growing and head.end == stop and not is_whole_batch(log, head.position, stop):
                return
            yield head
