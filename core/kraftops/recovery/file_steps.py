"""What is done to the files of a metadata log so that it becomes another one, file by file.

A log is never appended to: what it lacks, and the batch that ends it, come as new segments, as if
the log had been rolled. Every step is one rename or removal, and what a server would make of the
files between two of them is a log that it could have had: a beginning of the old or of the new one.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from kraftops.log.files import FileKind, FileName, file_name
from kraftops.log.ranges import ByteRange
from kraftops.recovery.given import GivenLog
from kraftops.recovery.walk import agreement
from kraftops.storage.logdirs.log_recovery import Snapshot

_EPOCH_FILE = "leader-epoch-checkpoint"
_LARGEST_SEGMENT = 1 << 30
_PROPER_NAME = re.compile(r"\d{20}(-\d{10})?\.")
_OF_SEGMENTS = frozenset(
    {FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TXN_INDEX, FileKind.PRODUCER_SNAPSHOT}
)


class Put(NamedTuple):
    """A file that is made of parts of others, and of new bytes; it may replace one of its name."""

    name: str
    parts: tuple[ByteRange | bytes, ...]

    @property
    def size(self) -> int:
        """Of the file."""
        return sum(len(one) if isinstance(one, bytes) else one.size for one in self.parts)


class Drop(NamedTuple):
    """A file that is removed."""

    name: str


Step = Put | Drop


class _Target(NamedTuple):
    """What a log is to be: the segments, the snapshot that is copied, and how much of it stays."""

    segments: list[Put]
    snapshot: Put | None
    kept: int


def steps(own: GivenLog, chosen: GivenLog, batch: bytes, names: Sequence[str]) -> tuple[Step, ...]:
    """Return what makes of one log another one, with a batch at its end.

    Args:
        own: the log that is changed.
        chosen: what it is to be; it may be the same.
        batch: what is written behind that; empty if nothing is.
        names: of all files beside the log that is changed.

    Raises:
        SourceError: a segment cannot be read.
    """
    target = _target(own, chosen)
    whole = {
        Put(os.path.basename(one.path), (ByteRange(one.path, 0, one.size),)) for one in own.segments
    }
    if batch:
        _end_with(target.segments, batch, chosen.end, whole)
    there = [os.path.basename(one.path) for one in own.segments]
    untouched = {one.name for one in target.segments if one in whole}
    puts = [one for one in target.segments if one not in whole]
    changed = [name for name in reversed(there) if name not in untouched]
    # The first of the new ones takes the place of an old one; until then no later one may be there.
    drops = [name for name in changed if not puts or name != puts[0].name]
    found: list[Step] = [target.snapshot] if target.snapshot else []
    if changed:
        found += map(Drop, _beside(changed, target.kept, names))
    if own is not chosen:
        found += map(Drop, _stale_snapshots(chosen, target.kept, names))
    return (*found, *map(Drop, drops), *puts)


def _target(own: GivenLog, chosen: GivenLog) -> _Target:
    if own is chosen:
        return _Target([] if own.is_snapshot_newer else _segments(own), None, own.end)
    agreed = agreement(own.segments, chosen.segments)
    snapshot = chosen.snapshot
    if snapshot and chosen.is_snapshot_newer:
        return _Target([], _copied(snapshot), 0)
    if snapshot and chosen.start > agreed.offset:
        # From the segment on in which the snapshot ends.
        bases = [one.base_offset for one in chosen.segments]
        first = max(bisect_right(bases, snapshot.end_offset) - 1, 0)
        return _Target(_segments(chosen, (first, 0)), _copied(snapshot), 0)
    if not (agreed.one and agreed.other):
        return _Target(_segments(chosen), None, 0)
    place = (agreed.one.segment, agreed.one.end)
    kept = _segments(own, stop=place)
    new = _segments(chosen, (agreed.other.segment, agreed.other.end))
    if new and place[1] < own.segments[place[0]].size:
        kept[-1] = Put(kept[-1].name, (*kept[-1].parts, *new[0].parts))
    elif new:
        kept.append(Put(_segment_name(agreed.offset), new[0].parts))
    return _Target([*kept, *new[1:]], None, agreed.offset)


def _copied(snapshot: Snapshot) -> Put:
    return Put(os.path.basename(snapshot.path), (ByteRange(snapshot.path, 0, snapshot.size),))


def _segments(
    log: GivenLog, start: tuple[int, int] = (0, 0), stop: tuple[int, int] | None = None
) -> list[Put]:
    """Return the sound bytes of a log between two places, by segment; empty ones are left out."""
    if stop is None and log.tail:
        stop = (log.tail.segment, log.tail.position)
    found = []
    for number, segment in enumerate(log.segments):
        first = start[1] if number == start[0] else 0
        last = stop[1] if stop and number == stop[0] else segment.size
        if number >= start[0] and first < last and not (stop and number > stop[0]):
            part = ByteRange(segment.path, first, last)
            found.append(Put(os.path.basename(segment.path), (part,)))
    return found


def _end_with(segments: list[Put], batch: bytes, offset: int, untouched: Collection[Put]) -> None:
    """Add a batch to the last segment if that is a new one, else in a segment of its own."""
    last = segments[-1] if segments else None
    if last and last not in untouched and last.size < _LARGEST_SEGMENT:
        segments[-1] = Put(last.name, (*last.parts, batch))
    else:
        segments.append(Put(_segment_name(offset), (batch,)))


def _segment_name(offset: int) -> str:
    return f"{offset:020}{FileKind.LOG.value}"


def _beside(changed: Collection[str], kept: int, names: Sequence[str]) -> Iterator[str]:
    """Yield the files that a server has made of segments which are not what they were."""
    stems = {name.partition(".")[0] for name in changed}
    for name in names:
        found = _known(name)
        is_of_segment = found is not None and found.kind in _OF_SEGMENTS
        is_old = name.partition(".")[0] in stems
        if name == _EPOCH_FILE or (
            found and is_of_segment and (is_old or found.base_offset > kept)
        ):
            yield name


def _stale_snapshots(chosen: GivenLog, kept: int, names: Sequence[str]) -> Iterator[str]:
    """Yield the snapshots of what is not kept."""
    own = chosen.snapshot and os.path.basename(chosen.snapshot.path)
    for name in names:
        found = _known(name)
        is_snapshot = found is not None and found.kind is FileKind.CHECKPOINT
        if found and is_snapshot and name != own and found.snapshot_id[0] > kept:
            yield name


def _known(name: str) -> FileName | None:
    """Return what the name of a file of a log says; None if it is of no use to a server."""
    found = file_name(name)
    return None if found is None or found.renamed or not _PROPER_NAME.match(name) else found
