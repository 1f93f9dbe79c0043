"""Exact last changes: what the log that a snapshot covers says of the state in it.

A snapshot tells what there is, and not since when. Where the log before its end is still there, it
is read again, as far back as it goes: onto the oldest snapshot that ends in it. Records from before
that end find a state that is later than they are; so they tell who was changed, and not what became
of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.errors import KraftopsError, UsageError
from kraftops.image.load.loader import Loader, Make
from kraftops.image.load.sources import LogFiles, Piece, base_offset_of
from kraftops.image.replay.replay import Limits
from kraftops.image.state.changes import Change
from kraftops.image.state.findings import FindingKind
from kraftops.image.state.image import MetadataImage, PriorState
from kraftops.log.batch import Batch
from kraftops.log.files import FileName
from kraftops.log.streams import open_log

_BREAKS = frozenset({FindingKind.DAMAGE, FindingKind.GAP, FindingKind.REPEAT})
"""Findings after which nobody knows what was between."""


def prior_state_of(
    files: LogFiles, end_offset: int, dialect: str, make: Make = Loader
) -> PriorState | None:
    """Return what the log before a snapshot's end says; None if there is none without a break.

    Args:
        files: of the log.
        end_offset: of the snapshot.
        dialect: of its records.
        make: makes the loader of all, or else one after the other, for the same image: that of an
            older snapshot, that of what the log has before its end, and that of the rest.
    """
    segments = [one for one in files.segments if base_offset_of(one) < end_offset]
    while segments:
        found, broken = _read(segments, files.snapshots, end_offset, dialect, make)
        if broken is None:
            return found
        # What is before a break is of no use: what it says may have been changed in there.
        segments = segments[broken + 1 :]
    return None


def _read(
    segments: Sequence[FileName],
    snapshots: Sequence[FileName],
    end_offset: int,
    dialect: str,
    make: Make,
) -> tuple[PriorState | None, int | None]:
    """Return what segments say, and the number of the last in which something is missing."""
    pieces = [Piece(one.path, None, is_snapshot=False) for one in segments]
    try:
        first = _first_batch(pieces[0].path)
        if first is None:
            return None, 0
        start = first.header.base_offset
        if start == 0:
            image, known = MetadataImage(dialect), -1
        else:
            found = _seeded(pieces, snapshots, start, end_offset, dialect, make)
            if found is None:
                return None, None
            image, known, start = found
        rest = make(image, Limits(after=known, until=end_offset - 1))
        rest.order.next_offset = first.header.base_offset
        rest.read(pieces)
    except KraftopsError:
        return None, 0
    broken = [one.source for one in image.log_findings if one.kind in _BREAKS]
    if broken:
        return None, max(at for at, one in enumerate(pieces) if one.path in broken)
    if (rest.order.next_offset or 0) < end_offset:
        return None, None  # it ends too early
    untouched = None
    if start > 0:
        header = first.header
        untouched = Change(start - 1, header.base_timestamp, header.leader_epoch, True)
    return PriorState(image, untouched), None


def _seeded(
    pieces: list[Piece],
    snapshots: Sequence[FileName],
    start: int,
    end_offset: int,
    dialect: str,
    make: Make,
) -> tuple[MetadataImage, int, int] | None:
    """Return the oldest snapshot in the log from *start* on, and what the log says before its end.

    With its image come the last offset that it covers, and the first one that counts: the log may
    begin within a transaction, of which nobody knows whether it was aborted.
    """
    for one in reversed(snapshots):
        try:
            seed, _ = one.snapshot_id
        except UsageError:
            continue
        if not start <= seed <= end_offset:
            continue
        begin = start
        while True:
            image = MetadataImage(dialect)
            if not make(image, Limits()).read([Piece(one.path, seed, is_snapshot=True)]):
                break
            image.fold.seed(is_seeded=True)
            before = make(image, Limits(after=begin - 1, until=seed - 1))
            before.order.next_offset = start
            before.read(pieces)
            image.fold.seed(is_seeded=False)
            stray = before.stray
            if stray is None or begin > start:
                return image, seed - 1, begin
            begin = stray + 1
    return None


def _first_batch(path: str) -> Batch | None:
    with open_log(path) as log:
        return next(iter(log.batches()), None)
