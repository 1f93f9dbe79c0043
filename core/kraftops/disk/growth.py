"""How fast a log grows, by the times at which its segments were written last."""

from collections.abc import Sequence
from typing import NamedTuple

from kraftops.display.times import DAY_MS

_SHORTEST_MS = 3_600_000
"""A rate of less than an hour says nothing about a day."""


class SegmentFile(NamedTuple):
    """A segment: its first offset, its bytes, and the ms at which it was written last."""

    base_offset: int
    size: int
    modified: int


class Growth(NamedTuple):
    """Bytes a day: all that is *written*, and what remains of that after retention (*net*)."""

    written: int
    net: int


def growth_of(segments: Sequence[SegmentFile], created: int | None, end: int) -> Growth | None:
    """Return the growth of a log during the last day before *end*; None if too little is known.

    Args:
        segments: by offset. A segment was written between the last write of the one before and its
            own. The log cleaner and the copies of a follower keep these times.
        created: when the replica was made, by its partition.metadata.
        end: in ms, now for a running server.
    """
    if not segments:
        return None
    # Where retention has deleted the first segment, nothing tells when the next one was begun.
    begin = created if segments[0].base_offset == 0 else None
    spans: list[tuple[int, int, int]] = []
    for segment in segments:
        if begin is not None:
            spans.append((min(begin, segment.modified), segment.modified, segment.size))
        begin = segment.modified
    if not spans:
        return None
    oldest = spans[0][0]
    length = min(DAY_MS, end - oldest)
    if length < _SHORTEST_MS:
        return None
    written = _per_day(spans, end - length, length)
    # A log whose beginning was deleted loses each day what it got on the first day that is left.
    deleted = _per_day(spans, oldest, length) if segments[0].base_offset else 0
    return Growth(written, written - deleted)


def _per_day(spans: Sequence[tuple[int, int, int]], begin: int, length: int) -> int:
    end = begin + length
    total = 0.0
    for first, last, size in spans:
        overlap = min(last, end) - max(first, begin)
        if first == last:
            total += size if begin <= last <= end else 0
        elif overlap > 0:
            total += size * overlap / (last - first)
    return round(total * DAY_MS / length)
