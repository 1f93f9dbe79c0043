"""Image of a live metadata log, and the spool files that keep the log's batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

from kraftops.errors import UsageError, WireError
from kraftops.image.load.loader import Loader, Progress
from kraftops.image.load.sources import SourceFile, snapshot_time
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.replay import Replay
from kraftops.image.state.findings import FindingKind
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Batch
from kraftops.log.files import FileKind, FileName
from kraftops.wire.net.addresses import Address
from kraftops.wire.quorum.fetching import SnapshotId
from kraftops.wire.quorum.live_leader import put_leader
from kraftops.wire.quorum.live_log import Begins, CaughtUp, Event, LiveBatch
from kraftops.wire.quorum.spool import Spool


class _StartedAgain(Exception):
    """The log is read anew: no more batches of this start come."""


def _too_new(endpoint: Address, snapshot: SnapshotId) -> UsageError:
    return UsageError(
        f"{endpoint}: the snapshot {snapshot} is newer than that, and all that controllers give",
        hint=f"the earliest state that can be shown is that at offset {snapshot.end_offset - 1}",
    )


class SpooledImage:
    """Image of the log from one start on, with the spools of the snapshot and of the log."""

    def __init__(self, begins: Begins, limits: Limits, progress: Progress | None) -> None:
        """Begin with nothing.

        Raises:
            UsageError: the snapshot is newer than the limits.
            SourceError: there is no room for the spools.
        """
        if begins.snapshot and begins.snapshot.end_offset > limits.until + 1:
            raise _too_new(begins.endpoint, begins.snapshot)
        self.endpoint, self.snapshot = begins
        self.offset = begins.snapshot.end_offset if begins.snapshot else 0
        self._loader = Loader(Replay(MetadataImage(), limits), progress)
        self._limits = limits
        place = str(self.endpoint)
        self._before = Spool(place, f"{self.snapshot}.checkpoint") if self.snapshot else None
        self._log = Spool(place, f"{self.offset:020}.log")
        self._applied = -1  # bytes of the log
        self._led: tuple[int, int, list[int]] | None = None  # what `put_leader` was given
        self._is_cut_short = False

    @property
    def image(self) -> MetadataImage:
        """The image of all that was applied."""
        return self._loader.image

    @property
    def names(self) -> tuple[str, ...]:
        """Of the snapshot, where there is one, and the log after it."""
        return tuple(each.name for each in (self._before, self._log) if each)

    def read(self, events: Iterator[Event]) -> Begins | CaughtUp | None:
        """Apply events as they come; return the one that ends this, None where limits do.

        Raises:
            UsageError: the limits leave nothing.
            WireError: what comes raises it, or there is nothing.
        """
        last: list[Begins | CaughtUp] = []

        def more(spool: Spool) -> Batch | None:
            """Add the next batch, and return it if it belongs to the snapshot, or log, of *spool*.

            Raises:
                _StartedAgain: there is none of this beginning.
            """
            if last:
                return None
            event = next(events)
            if isinstance(event, LiveBatch):
                where, batch = self.add(event)
                return batch if where is spool else None
            last.append(event)
            if isinstance(event, Begins):
                raise _StartedAgain
            return None

        with ExitStack() as growing:
            for spool in filter(None, (self._before, self._log)):
                growing.enter_context(spool.growing(partial(more, spool)))
            try:
                self.apply()
                while not (last or self._loader.is_over):
                    more(self._log)  # behind damage
            except _StartedAgain:
                pass
        return last[0] if last else None

    def add(self, event: LiveBatch) -> tuple[Spool, Batch]:
        """Keep a batch, to be applied later; return where, and as which."""
        spool = self._before if event.is_of_snapshot and self._before else self._log
        return spool, spool.add(event.batch)

    def apply(self) -> None:
        """Apply what has come; after damage nothing more, as of files.

        Raises:
            UsageError: the limits leave nothing.
            WireError: there is nothing.
        """
        if self._is_cut_short or self._applied == self._log.size:
            return
        image = self._loader.image
        if self._applied < 0:
            self._begin()
        else:
            findings = image.log_findings
            findings[:] = [one for one in findings if one.kind is not FindingKind.TRANSACTION]
            self._loader.read_on(self._log.name, self._applied)
        self._applied = self._log.size
        self._is_cut_short = any(one.kind is FindingKind.DAMAGE for one in image.log_findings)

    def finish(self, caught_up: CaughtUp, voters: Callable[[], list[int]]) -> None:
        """Note who leads, also in the image where no record of the log after the snapshot does.

        *voters* returns those of a static quorum, as far as they are known.
        """
        self.endpoint, self.offset, leader, epoch = caught_up
        image, snapshot = self._loader.image, self.snapshot
        if snapshot is None or image.quorum.leader is not None or self._loader.is_over:
            return
        self._led = leader, epoch, voters() if image.quorum.voters is None else []
        self.complete(image)

    def complete(self, image: MetadataImage) -> None:
        """Note who leads, in a state in which that is the one who led when the log began."""
        if self._led and self.snapshot and image.quorum.leader is None:
            put_leader(image, str(self.endpoint), self.snapshot.end_offset, *self._led)

    def _begin(self) -> None:
        pieces = [SourceFile(self._log.name, None, is_snapshot=False)]
        if self._before and self.snapshot:
            name = self._before.name
            if self._limits.time != Limits().time:
                time = snapshot_time(FileName(name, FileKind.CHECKPOINT, ""))
                if time is not None and time > self._limits.time:
                    raise _too_new(self.endpoint, self.snapshot)
            pieces.insert(0, SourceFile(name, self.snapshot.end_offset, is_snapshot=True))
        self._loader.read(pieces)
        if self._loader.has_records:
            return
        if self._loader.is_over:
            raise UsageError(f"{self.endpoint}: nothing in its log is as old as that")
        for finding in self._loader.image.log_findings:
            raise WireError(f"cannot read {finding}")
        raise WireError(f"{self.endpoint}: there are no metadata records in its log")
