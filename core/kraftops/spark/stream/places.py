"""Places of marks in logs as they are now: segments are rolled, deleted, compacted, cut off."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from kraftops.dump.sources.parts import sizes_of
from kraftops.log.batch_search import indexed_position
from kraftops.log.files import FileKind
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


def locate(log: StreamLog, mark: Mark, before: Head | None = None) -> Place | Loss:
    """Return the place of a mark: its position in an object, or before the record of its offset.

    *before* is the batch that ended there, if that is known. The epochs of the batches tell a
    compacted log from one that was cut off and rewritten.

    Raises:
        SourceError: a segment cannot be read.
    """
    if mark.snapshot:
        return _of_snapshot(log, mark)
    if log.segments[0].base_offset > mark.offset:
        return _deleted(log, mark.offset)
    if mark.size:
        return _in_object(log, mark)
    if log.segments[0].base_offset == mark.offset:
        return Place(log.segments, 0)
    return _by_offset(log, mark, before)


def resume_position(log: StreamLog, mark: Mark, before: Head | None = None) -> Place:
    """Return the place of a mark, or where the log can be read on."""
    place = locate(log, mark, before)
    return place.place if isinstance(place, Loss) else place


def _of_snapshot(log: StreamLog, mark: Mark) -> Place | Loss:
    rest = rest_of(log, mark.offset)
    if log.segments[0].base_offset > mark.offset:
        return _deleted(log, mark.offset)
    if not mark.is_unread_snapshot:
        return Place(rest, 0)
    path = f"{log.name}/{mark.offset:020}-{mark.epoch:010}{FileKind.CHECKPOINT.value}"
    (size,) = sizes_of([path])
    if not size:
        reason = f"{path} is gone before it was read"
        return Loss(reason, Place(log.segments, 0))
    return Place((Segment(path, 0, size), *rest), 0)


def rest_of(log: StreamLog, offset: int) -> tuple[Segment, ...]:
    """Return the segments that may hold an offset or later ones."""
    kept = (segment for segment, after in pairwise(log.segments) if after.base_offset > offset)
    return (*kept, log.segments[-1])


def _deleted(log: StreamLog, offset: int) -> Loss:
    first = log.segments[0].base_offset
    return Loss(
        f"{log.name}: the records from offset {offset} to {first - 1} are deleted",
        Place(log.segments, 0),
    )


def _in_object(log: StreamLog, mark: Mark) -> Place | Loss:
    """Return the place of a mark that counts the bytes of an object; nothing is read."""
    rest = rest_of(log, mark.offset)
    segment = rest[0]
    if segment.base_offset != mark.offset:
        reason = f"{log.name}: the segment {mark.offset} is gone, of which {mark.size} bytes"
        return Loss(f"{reason} were read", Place(rest, 0))
    if segment.size < mark.size and not rest[1:]:  # else a cleaner has compacted it
        reason = f"{segment.path}: it has {segment.size} bytes, and {mark.size} were read"
        return Loss(reason, Place(rest, segment.size))
    return Place(rest, min(mark.size, segment.size))


def _by_offset(log: StreamLog, mark: Mark, before: Head | None) -> Place | Loss:
    """Return the place of the first batch with the offset of a mark or later ones.

    The segment of the record before it is looked at: its batch has the epoch.
    """
    rest = rest_of(log, mark.offset - 1)
    if before is not None and next(_heads(rest[0], before.position), None) == before:
        return Place(rest, before.end)
    last: Head | None = None
    for last in _heads_from(rest[0], mark.offset - 1):
        if _is_other_history(last, mark, is_compacted=len(rest) > 1):
            return _rewritten(log, mark)
        if last.last_offset >= mark.offset - 1:
            return Place(rest, last.position if last.last_offset >= mark.offset else last.end)
    if len(rest) > 1:
        return Place(rest[1:], 0)
    end = last.last_offset + 1 if last else rest[0].base_offset
    place = Place(rest, last.end if last else 0)
    if end < mark.offset:
        return Loss(f"{log.name}: it ends at offset {end}, and was read up to {mark.offset}", place)
    return place


def _is_other_history(head: Head, mark: Mark, *, is_compacted: bool) -> bool:
    """Tell whether a batch cannot have been there when the mark was set."""
    if mark.epoch < 0 or head.last_offset >= mark.offset:
        return False
    is_last = head.last_offset == mark.offset - 1
    return head.epoch > mark.epoch or (
        not is_compacted and is_last and head.epoch not in (-1, mark.epoch)
    )


def _rewritten(log: StreamLog, mark: Mark) -> Loss:
    """Return the loss of a log that was cut off before a mark and rewritten."""
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


def _heads_from(segment: Segment, offset: int) -> Iterator[Head]:
    """Yield the heads of a segment from the last indexed batch on that is not after an offset."""
    with LogFile(segment.path) as log:
        stop = min(segment.size, log.size)
        yield from heads(log, indexed_position(log, stop, offset=offset), stop)
