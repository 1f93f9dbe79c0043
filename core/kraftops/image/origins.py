"""Exact last changes: what the log that a snapshot covers says of the state in it.

A snapshot tells what there is, and not since when. Where the log before its end is still there, it
is read again, as far back as it goes: onto the oldest snapshot that ends in it. Records from before
that end find a state that is later than they are; so they tell who was changed, and not what became
of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.errors import KraftopsError
from kraftops.image.findings import Kind
from kraftops.image.image import Change, MetadataImage, Past
from kraftops.image.loader import Loader, Make
from kraftops.image.replay import Limits
from kraftops.image.sources import LogFiles, Piece, base_offset_of
from kraftops.log.batch import Batch
from kraftops.log.files import FileName
from kraftops.log.streams import open_log

_BREAKS = frozenset({Kind.DAMAGE, Kind.GAP, Kind.REPEAT})
"""Findings after which nobody knows what was between."""


def past_of(files: LogFiles, end_offset: int, dialect: str, make: Make = Loader) -> Past | None:
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
) -> tuple[Past | None, int | None]:
    """Return what segments say, and the number of the last in which something is missing."""
    pieces = [Piece(one.path, None, is_snapshot=False) for one in segments]
    try:
        first = _first_batch(pieces[0].path)
        if first is None:
            return None, 0
        start = first.header.base_offset
        image = MetadataImage(dialect)
        after = -1
        if start > 0:
            seed = _seed(image, snapshots, start, end_offset, make)
            if seed is None:
                return None, None
            after = seed - 1
            image.fold.seed(is_seeded=True)
            before = make(image, Limits(until=after))
            before.order.next_offset = start
            before.read(pieces)
            image.fold.seed(is_seeded=False)
        rest = make(image, Limits(after=after, until=end_offset - 1))
        rest.order.next_offset = start
        rest.read(pieces)
    except KraftopsError:
        return None, len(pieces) - 1
    broken = [one.source for one in image.log_findings if one.kind in _BREAKS]
    if broken:
        return None, max(at for at, one in enumerate(pieces) if one.path in broken)
    if image.provenance.offset < end_offset - 1:
        return None, None  # it ends too early
    untouched = None
    if start > 0:
        header = first.header
        untouched = Change(start - 1, header.base_timestamp, header.leader_epoch, True)
    return Past(image, untouched), None


def _seed(
    image: MetadataImage, snapshots: Sequence[FileName], start: int, end_offset: int, make: Make
) -> int | None:
    """Load the oldest snapshot that the log from *start* follows; return where it ends."""
    for one in reversed(snapshots):
        seed, _ = one.snapshot_id
        if not start <= seed <= end_offset:
            continue
        loader = make(image, Limits())
        if loader.read([Piece(one.path, seed, is_snapshot=True)]):
            return seed
        return None
    return None


def _first_batch(path: str) -> Batch | None:
    with open_log(path) as log:
        return next(iter(log.batches()), None)
