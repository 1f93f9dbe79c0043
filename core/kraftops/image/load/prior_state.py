"""The state before a snapshot: replay of the log that the snapshot covers, for exact last changes.

A snapshot has the state, and no time of its changes. Where the log before the snapshot's end still
exists, it is read again, from as far back as it goes, onto the oldest snapshot that ends in it.
Records before the end of that older snapshot find a state that is later than they are; so they say
only which entries they changed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kraftops.errors import KraftopsError, UsageError
from kraftops.image.load.loader import new_loader
from kraftops.image.load.sources import LogFiles, SourceFile, base_offset_of
from kraftops.image.replay.limits import Limits
from kraftops.image.state.changes import Change
from kraftops.image.state.findings import DAMAGE, GAP, REPEAT
from kraftops.image.state.image import MetadataImage, NewImage, PriorState
from kraftops.log.files import FileName
from kraftops.log.streams import open_log

_BREAKS = frozenset({DAMAGE, GAP, REPEAT})
"""Findings after which changes of the state may be missing."""


def prior_state_of(files: LogFiles, end_offset: int, new_image: NewImage) -> PriorState | None:
    """Return the state that the log before a snapshot's end makes; None without an unbroken log.

    Args:
        files: the files of the log.
        end_offset: the snapshot's end offset.
        new_image: makes an image without state.
    """
    log = _PriorLog(files.snapshots, end_offset, new_image)
    segments = [segment for segment in files.segments if base_offset_of(segment) < end_offset]
    while segments:
        state, broken = log.replay(segments)
        if broken is None:
            return state
        # Changes inside a break are unknown: records before it say nothing reliable.
        segments = segments[broken + 1 :]
    return None


class _Seed(NamedTuple):
    """An older snapshot's image, to which the log before its end was applied.

    *covered* is the last offset of the snapshot, *start* the first offset of the log that counts.
    """

    image: MetadataImage
    covered: int
    start: int


class _PriorLog(NamedTuple):
    """The log before a snapshot's end."""

    snapshots: Sequence[FileName]
    end_offset: int
    new_image: NewImage

    def replay(self, segments: Sequence[FileName]) -> tuple[PriorState | None, int | None]:
        """Return the state after segments; None, and the index of the last broken one, if any."""
        files = [SourceFile(segment.path, None, is_snapshot=False) for segment in segments]
        try:
            with open_log(files[0].path) as log:
                first = next(iter(log.batches()), None)
            if first is None:
                return None, 0
            start = first.header.base_offset
            seed = self._seed(files, start) if start else _Seed(self.new_image(), -1, 0)
            if seed is None:
                return None, None
            limits = Limits(after=seed.covered, until=self.end_offset - 1)
            rest = new_loader(seed.image, limits)
            rest.order.next_offset = start
            rest.read(files)
        except KraftopsError:
            return None, 0
        broken = [
            finding.place.file for finding in seed.image.log_findings if finding.code in _BREAKS
        ]
        if broken:
            return None, max(number for number, file in enumerate(files) if file.path in broken)
        if (rest.order.next_offset or 0) < self.end_offset:
            return None, None  # it ends too early
        unchanged = None
        if seed.start > 0:
            header = first.header
            unchanged = Change(
                seed.start - 1, header.base_timestamp, header.leader_epoch, is_upper_bound=True
            )
        return PriorState(seed.image, unchanged), None

    def _seed(self, files: list[SourceFile], start: int) -> _Seed | None:
        """Load the oldest snapshot in the log from *start* on, and the log before its end."""
        for snapshot in reversed(self.snapshots):
            try:
                end, _ = snapshot.snapshot_id
            except UsageError:
                continue
            seed = None
            if start <= end <= self.end_offset:
                seed = self._seed_from(
                    SourceFile(snapshot.path, end, is_snapshot=True), files, start
                )
            if seed is not None:
                return seed
        return None

    def _seed_from(self, snapshot: SourceFile, files: list[SourceFile], start: int) -> _Seed | None:
        """Load one snapshot and the log before its end; None if the snapshot is not whole."""
        covered = (snapshot.end_offset or 0) - 1
        begin = start
        while True:
            image = self.new_image()
            if not new_loader(image, Limits()).read([snapshot]):
                return None
            image.fold.seed(is_seeded=True)
            loader = new_loader(image, Limits(after=begin - 1, until=covered))
            loader.order.next_offset = start
            loader.read(files)
            image.fold.seed(is_seeded=False)
            # The log may begin inside a transaction that was aborted: leave that out.
            stray = loader.stray_marker
            if stray is None or begin > start:
                return _Seed(image, covered, begin)
            begin = stray + 1
