"""Image of a live metadata log, and the spool files that keep the log's batches."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

from kraftops.errors import UsageError, WireError
from kraftops.image.load.loader import Loader, Progress
from kraftops.image.load.sources import SourceFile, snapshot_time
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.replay import Replay
from kraftops.image.state.findings import DAMAGE, OPEN_TRANSACTION
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Batch
from kraftops.log.files import FileKind, FileName
from kraftops.wire.net.addresses import Address
from kraftops.wire.quorum.fetch import SnapshotId
from kraftops.wire.quorum.leader_record import Leader, put_leader
from kraftops.wire.quorum.live_log import CaughtUp, Event, LiveBatch, Started
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

    def __init__(
        self, start: Started, limits: Limits, image: MetadataImage, progress: Progress | None
    ) -> None:
        """Begin with nothing; *image* has no state.

        Raises:
            UsageError: the snapshot is newer than the limits.
            SourceError: there is no room for the spools.
        """
        if start.snapshot and start.snapshot.end_offset > limits.until + 1:
            raise _too_new(start.endpoint, start.snapshot)
        self.endpoint, self.snapshot = start
        self.offset = start.snapshot.end_offset if start.snapshot else 0
        self._loader = Loader(Replay(image, limits), progress)
        self._limits = limits
        endpoint = str(self.endpoint)
        self._snapshot_spool = (
            Spool(endpoint, f"{self.snapshot}.checkpoint") if self.snapshot else None
        )
        self._log_spool = Spool(endpoint, f"{self.offset:020}.log")
        self._applied = -1  # bytes of the log
        self._leader: Leader | None = None  # for an image that has no record of it
        self._is_damaged = False

    @property
    def image(self) -> MetadataImage:
        """The image of all that was applied."""
        return self._loader.image

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the spools: of the snapshot, if there is one, and of the log."""
        return tuple(spool.name for spool in (self._snapshot_spool, self._log_spool) if spool)

    def read(self, events: Iterator[Event]) -> Started | CaughtUp | None:
        """Apply events as they come; return the event at the end, None if limits ended it.

        Raises:
            UsageError: nothing is within the limits.
            WireError: the events raise it, or the log is empty.
        """
        last: list[Started | CaughtUp] = []

        def add_next(spool: Spool) -> Batch | None:
            """Add the next batch to its spool; return it if that is *spool*.

            Raises:
                _StartedAgain: no more batches of this start come.
            """
            if last:
                return None
            event = next(events)
            if isinstance(event, LiveBatch):
                where, batch = self.add(event)
                return batch if where is spool else None
            last.append(event)
            if isinstance(event, Started):
                raise _StartedAgain
            return None

        with ExitStack() as growing:
            for spool in filter(None, (self._snapshot_spool, self._log_spool)):
                growing.enter_context(spool.growing(partial(add_next, spool)))
            try:
                self.apply()
                while not (last or self._loader.is_over):
                    add_next(self._log_spool)  # after damage
            except _StartedAgain:
                pass
        return last[0] if last else None

    def add(self, event: LiveBatch) -> tuple[Spool, Batch]:
        """Add a batch to its spool, to be applied later; return spool and batch."""
        spool = (
            self._snapshot_spool
            if event.is_of_snapshot and self._snapshot_spool
            else self._log_spool
        )
        return spool, spool.add(event.batch)

    def apply(self) -> None:
        """Apply the batches in the spools; nothing after damage, as with files.

        Raises:
            UsageError: nothing is within the limits.
            WireError: the log is empty.
        """
        if self._is_damaged or self._applied == self._log_spool.size:
            return
        image = self._loader.image
        if self._applied < 0:
            self._load()
        else:
            findings = image.log_findings
            findings[:] = [finding for finding in findings if finding.code != OPEN_TRANSACTION]
            self._loader.read_on(self._log_spool.name, self._applied)
        self._applied = self._log_spool.size
        self._is_damaged = any(finding.code == DAMAGE for finding in image.log_findings)

    def finish(self, caught_up: CaughtUp, voters: Callable[[], list[int]]) -> None:
        """Set leader and offset; add the leader to an image that has no record of it.

        *voters* returns the voters of a static quorum, as far as they are known.
        """
        self.endpoint, self.offset, leader, epoch = caught_up
        image, snapshot = self._loader.image, self.snapshot
        if snapshot is None or image.quorum.leader is not None or self._loader.is_over:
            return
        self._leader = Leader(leader, epoch, voters() if image.quorum.voters is None else [])
        self.add_leader(image)

    def add_leader(self, image: MetadataImage) -> None:
        """Add the leader to an image that has no record of it."""
        if self._leader and self.snapshot and image.quorum.leader is None:
            put_leader(image, str(self.endpoint), self.snapshot.end_offset, self._leader)

    def _load(self) -> None:
        pieces = [SourceFile(self._log_spool.name, None, is_snapshot=False)]
        if self._snapshot_spool and self.snapshot:
            name = self._snapshot_spool.name
            if self._limits.time != Limits().time:
                time = snapshot_time(FileName(name, FileKind.CHECKPOINT, ""))
                if time is not None and time > self._limits.time:
                    raise _too_new(self.endpoint, self.snapshot)
            pieces.insert(0, SourceFile(name, self.snapshot.end_offset, is_snapshot=True))
        self._loader.read(pieces)
        if self._loader.has_records:
            return
        if self._loader.is_over:
            raise UsageError(f"{self.endpoint}: its log has nothing that old")
        for finding in self._loader.image.log_findings:
            raise WireError(f"cannot read {finding}")
        raise WireError.at(self.endpoint, "there are no metadata records in its log")
