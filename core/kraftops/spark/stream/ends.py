"""Ends of logs: up to which whole batch a stream can read now."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from kraftops.dump.sources.follow import is_whole_batch
from kraftops.log.heads import Head, heads
from kraftops.log.log_file import LogFile
from kraftops.spark.stream.logs import Segment, StreamLog
from kraftops.spark.stream.marks import Mark
from kraftops.spark.stream.places import Loss, locate, resume_position

NO_END = 1 << 63


def end_mark(log: StreamLog, start: Mark) -> Mark:
    """Return the mark after the last whole batch, below the high watermark; else *start*.

    Only the last segment with a batch is read, from *start* on if it lies there.

    Raises:
        SourceError: a segment cannot be read.
    """
    until = NO_END if log.high_watermark is None else log.high_watermark
    place = locate(log, start)
    if isinstance(place, Loss):
        return end_mark(log, log.beginning)
    for index in reversed(range(len(place.files))):
        segment = place.files[index]
        if segment.base_offset >= until:
            continue
        is_growing = index == len(place.files) - 1
        position = 0 if index else place.position
        last = deque(_whole_heads(segment, position, until, is_growing), 1)
        if last:
            return _after(segment, last[0])
    return start


def limited_mark(log: StreamLog, start: Mark, end: Mark, most: int) -> Mark:
    """Return the mark after about *most* bytes of batches, at least one, at the latest *end*.

    Raises:
        SourceError: a segment cannot be read.
    """
    place = resume_position(log, start)
    mark, taken = start, 0
    for index, segment in enumerate(place.files):
        if start.is_unread_snapshot and not index:
            mark, taken = Mark(segment.name, segment.size, start.offset, start.epoch), segment.size
            if taken >= most:
                return mark
            continue
        is_growing = index == len(place.files) - 1
        position = 0 if index else place.position
        for head in _whole_heads(segment, position, end.offset, is_growing):
            # Behind a snapshot, its segment is read from the first batch on, as the table does.
            if mark.offset > start.offset and taken + head.size > most:
                return mark
            mark, taken = _after(segment, head), taken + head.size
    return end if mark.offset >= end.offset or not taken else mark


def _after(segment: Segment, head: Head) -> Mark:
    return Mark(segment.name, head.end, head.last_offset + 1, head.epoch, head.position, head.crc)


def _whole_heads(
    segment: Segment,
    start: int,
    until: int,
    is_growing: bool,  # noqa: FBT001
) -> Iterator[Head]:
    """Yield the heads of batches before the offset *until*.

    The last batch of a growing segment counts only if its checksum says that it is written.
    """
    with LogFile(segment.path) as log:
        stop = min(segment.size, log.size)
        for head in heads(log, start, stop):
            if head.last_offset >= until:
                return
            if is_growing and head.end == stop and not is_whole_batch(log, head.position, stop):
                return
            yield head
