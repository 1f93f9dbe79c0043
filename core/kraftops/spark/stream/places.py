"""Places of marks in logs as they are now: segments are rolled, deleted, compacted, cut off."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from kraftops.dump.sources.parts import sizes_of
from kraftops.log.heads import Head, heads
from kraftops.log.log_file import LogFile
from kraftops.spark.stream.logs import Segment, StreamLog
from kraftops.spark.stream.marks import Mark


class Place(NamedTuple):
    """The rest of a log: its first file from a position on, and the files after it."""

    files: tuple[Segment, ...]
    position: int


class Loss(NamedTuple):
    """The reason why a log does not go on at a mark, and where it can be read on."""

    reason: str
    place: Place


def locate(log: StreamLog, mark: Mark) -> Place | Loss:
    """Return the place of a mark: where it was, or at its offset if the files are others now.

    The epochs of the batches tell a compacted log from one that was cut off and written anew.

    Raises:
        SourceError: a segment cannot be read.
    """
    if mark.is_of_snapshot:
        return _of_snapshot(log, mark)
    for index, segment in enumerate(log.segments):
        if segment.name == mark.file and _is_as_before(segment, mark):
            return Place(log.segments[index:], mark.position)
    return _by_offset(log, mark)


def resume_position(log: StreamLog, mark: Mark) -> Place:
    """Return the place of a mark, or where the log can be read on."""
    place = locate(log, mark)
    return place.place if isinstance(place, Loss) else place


def _is_as_before(segment: Segment, mark: Mark) -> bool:
    if mark.batch < 0:
        return not mark.position
    if mark.position > segment.size:
        return False
    head = next(_heads(segment, mark.batch), None)
    end_of_batch = None if head is None else (head.end, head.epoch, head.crc)
    return end_of_batch == (mark.position, mark.epoch, mark.crc)


def _of_snapshot(log: StreamLog, mark: Mark) -> Place | Loss:
    """Return the place of a mark at the beginning or the end of a snapshot."""
    rest = _after(log, mark.offset)
    if log.segments[0].base_offset > mark.offset:
        return _deleted(log, mark.offset)
    if mark.position:
        return Place(rest, 0)
    path = f"{log.name}/{mark.file}"
    (size,) = sizes_of([path])
    if not size:
        reason = f"{path} is gone before it was read"
        return Loss(reason, Place(log.segments, 0))
    return Place((Segment(path, 0, size), *rest), 0)


def _after(log: StreamLog, offset: int) -> tuple[Segment, ...]:
    """Return the segments that may hold an offset or later ones."""
    kept = (segment for segment, after in pairwise(log.segments) if after.base_offset > offset)
    return (*kept, log.segments[-1])


def _deleted(log: StreamLog, offset: int) -> Loss:
    first = log.segments[0].base_offset
    return Loss(
        f"{log.name}: the records from offset {offset} to {first - 1} are deleted",
        Place(log.segments, 0),
    )


def _by_offset(log: StreamLog, mark: Mark) -> Place | Loss:
    """Return the place of the first batch with the offset of a mark or later ones."""
    if log.segments[0].base_offset > mark.offset:
        return _deleted(log, mark.offset)
    rest = _after(log, mark.offset)
    last: Head | None = None
    for last in _heads(rest[0], 0):
        if _is_other_history(last, mark, is_compacted=len(rest) > 1):
            return _rewritten(log, mark)
        if last.last_offset >= mark.offset:
            return Place(rest, last.position)
    if len(rest) > 1:
        return Place(rest[1:], 0)
    end = last.last_offset + 1 if last else rest[0].base_offset
    place = Place(rest, last.end if last else 0)
    if end < mark.offset:
        return Loss(f"{log.name}: it ends at offset {end}, and was read up to {mark.offset}", place)
    return place


def _is_other_history(head: Head, mark: Mark, *, is_compacted: bool) -> bool:
    """Tell whether a batch cannot have been there when the mark was set."""
    if mark.batch < 0 or head.last_offset >= mark.offset:
        return False
    if head.epoch > mark.epoch:
        return True
    return not is_compacted and head.last_offset == mark.offset - 1 and head.crc != mark.crc


def _rewritten(log: StreamLog, mark: Mark) -> Loss:
    """Return the loss of a log that was cut off before a mark, and written anew."""
    for index in reversed(range(len(log.segments))):
        first = next(_heads(log.segments[index], 0), None)
        if index and first and first.epoch > mark.epoch:
            continue
        for head in _heads(log.segments[index], 0):
            if head.epoch > mark.epoch or head.last_offset == mark.offset - 1:
                reason = (
                    f"{log.name}: it was cut off before offset {mark.offset}, and goes on with"
                    f" other records from {head.base_offset} on"
                )
                return Loss(reason, Place(log.segments[index:], head.position))
    return _deleted(log, mark.offset)


def _heads(segment: Segment, start: int) -> Iterator[Head]:
    with LogFile(segment.path) as log:
        yield from heads(log, start, min(segment.size, log.size))
