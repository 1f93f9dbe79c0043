"""The image of a running cluster's metadata, which is kept current as the log goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from queue import Empty, Full, Queue, SimpleQueue
from threading import Event as Flag
from threading import Thread
from typing import Self

from kraftops.errors import UsageError, WireError
from kraftops.image.load.loader import Loader, Progress
from kraftops.image.load.loading import load
from kraftops.image.load.sources import Piece, snapshot_time
from kraftops.image.replay.replay import Limits
from kraftops.image.state.findings import FindingKind
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Batch
from kraftops.log.files import FileKind, FileName
from kraftops.parallel.prefetch import ahead
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.quorum.fetching import SnapshotId
from kraftops.wire.quorum.live_leader import put_leader, voters_in, voters_of
from kraftops.wire.quorum.live_log import Begins, CaughtUp, Event, LiveBatch, LiveLog
from kraftops.wire.quorum.spool import Spool

_WAITING = 1000  # events that nobody has asked for yet
_PATIENCE = 0.5  # seconds, after which a thread looks whether it is wanted still


class LiveImage:
    """The image as of the last `update`; *image* is another one where the log was begun anew.

    It is for one thread. A context manager, which ends the following.
    """

    def __init__(
        self,
        bootstrap: Sequence[Bootstrap],
        settings: Settings,
        *,
        cluster_id: str | None = None,
        limits: Limits | None = None,
        note: Callable[[str], None] = lambda _: None,
        progress: Progress | None = None,
    ) -> None:
        """Load the newest snapshot and the log after it, up to the high watermark.

        Args:
            bootstrap: Controllers to begin with.
            settings: How to reach them; its timeout is how long nothing may come.
            cluster_id: The one that is expected, if any.
            limits: Which records count, as of `kraftops.image.load.loading.limits_of`.
            note: Gets a line for what readers may want to know, while this loads or updates.
            progress: Is told how many bytes have been applied.

        Raises:
            WireError: for as long as the timeout nobody leads, or answers.
            AnswerError: it is not permitted to read the log.
            UsageError: the log does not reach back to what the limits ask for.
            SourceError: there is no room to keep it.
        """
        self._settings = settings
        self._limits = limits or Limits()
        self._note = note
        self._progress = progress
        self._notes: SimpleQueue[str] = SimpleQueue()
        self._log = LiveLog(bootstrap, settings, cluster_id=cluster_id, note=self._notes.put)
        self._events: Iterator[Event] | None = self._log.read(follow=True)
        self._waiting: Queue[Event | Exception] = Queue(_WAITING)
        self._is_over = Flag()
        self._thread: Thread | None = None
        self._coming: _Reading | None = None  # what is not caught up for the first time
        self._now = self._loaded(self._events)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the following; what is there stays."""
        self._is_over.set()
        if self._thread is not None:
            self._thread.join(2 * _PATIENCE)

    @property
    def image(self) -> MetadataImage:
        """The image; it changes with `update`."""
        return self._now.loader.image

    @property
    def endpoint(self) -> Address:
        """The controller that was last read from."""
        return self._now.endpoint

    @property
    def snapshot(self) -> SnapshotId | None:
        """The snapshot that the image began with; None, if that was an empty log."""
        return self._now.snapshot

    @property
    def offset(self) -> int:
        """The next offset to come."""
        return self._now.offset

    @property
    def names(self) -> tuple[str, ...]:
        """What was read, as `image.load.loading.load` takes it, as long as this is there."""
        return self._now.names

    def state(self, *, at_offset: int | None = None, at_time: int | None = None) -> MetadataImage:
        """Return the state at another moment, from the snapshot on that the image began with.

        Raises:
            UsageError: that is later than the moment.
        """
        found = load(self.names, at_offset=at_offset, at_time=at_time)
        self._now.complete(found)
        return found

    def update(self) -> bool:
        """Take in what has come since, without waiting; tell whether the image has changed.

        The first call begins to follow the log, unless there are limits: then nothing changes.
        After an error, the next call begins anew.

        Raises:
            WireError: for as long as the timeout nobody led, or answered.
            AnswerError: it is not permitted any more to read the log.
            SourceError: there is no room to keep it.
        """
        if self._limits != Limits() or self._is_over.is_set():
            return False
        before, provenance = self.image, self.image.provenance
        if self._thread is None:
            self._follow()
        try:
            self._take_waiting()
        finally:
            self._now.apply()
            self._tell()
        return self.image is not before or self.image.provenance != provenance

    def _loaded(self, events: Iterator[Event]) -> _Reading:
        """Read to where the log is caught up, and close the connection until there is more."""
        try:
            with ahead(events, _size_of, lambda event: isinstance(event, CaughtUp)) as coming:
                found: Event | None = next(coming)
                while isinstance(found, Begins):
                    _refuse_if_newer(found, self._limits)
                    reading = _Reading(found, self._limits, self._progress)
                    found = reading.read(coming)
            if isinstance(found, CaughtUp):
                endpoint = found.endpoint
                reading.finish(found, lambda: voters_of(endpoint, self._settings, self._notes.put))
            return reading
        finally:
            self._log.close()
            self._tell()

    def _take(self, event: Event) -> _Reading | None:
        """Take in an event; return what is read anew, when it is caught up for the first time."""
        match event:
            case Begins():
                _refuse_if_newer(event, self._limits)
                self._coming = _Reading(event, self._limits, self._progress)
            case LiveBatch():
                (self._coming or self._now).add(event)
            case CaughtUp():
                if reading := self._coming:
                    reading.apply()
                    reading.finish(event, lambda: voters_in(self.image))
                    self._coming = None
                    return reading
                self._now.endpoint, self._now.offset = event.endpoint, event.offset
        return None

    def _follow(self) -> None:
        events = self._events or self._log.read(follow=True)
        self._events = None
        name = f"metadata of {self.endpoint}"
        self._thread = Thread(target=self._run, args=(events,), name=name, daemon=True)
        self._thread.start()

    def _run(self, events: Iterator[Event]) -> None:
        """Hand over events, in a thread of its own, until there is an error or nobody wants them.

        That is when nobody takes them: the log is read on then from where it was.
        """
        last: Event | None = None
        try:
            for event in events:
                if not (isinstance(event, CaughtUp) and event == last):
                    self._hand_over(event)
                last = event
                if self._is_over.is_set():
                    return
        except Exception as error:  # noqa: BLE001 - raised again by `update`
            self._hand_over(error)
        finally:
            self._log.close()

    def _hand_over(self, one: Event | Exception) -> None:
        while not self._is_over.is_set():
            try:
                self._waiting.put(one, timeout=_PATIENCE)
                return
            except Full:
                continue

    def _take_waiting(self) -> None:
        while True:
            try:
                found = self._waiting.get_nowait()
            except Empty:
                return
            if isinstance(found, Exception):
                self._thread = self._coming = None
                raise found
            if reading := self._take(found):
                self._now = reading

    def _tell(self) -> None:
        while not self._notes.empty():
            self._note(self._notes.get())


def _size_of(event: Event) -> int:
    return event.batch.size if isinstance(event, LiveBatch) else 0


class _GoneError(Exception):
    """What is being read is not there any more."""


def _refuse_if_newer(begins: Begins, limits: Limits) -> None:
    if begins.snapshot and begins.snapshot.end_offset > limits.until + 1:
        raise _too_new(begins.endpoint, begins.snapshot)


def _too_new(endpoint: Address, snapshot: SnapshotId) -> UsageError:
    return UsageError(
        f"{endpoint}: the snapshot {snapshot} is newer than that, and all that controllers give",
        hint=f"the earliest state that can be shown is that at offset {snapshot.end_offset - 1}",
    )


class _Reading:
    """An image, and the log that it is made of: from a beginning on, without a break."""

    def __init__(self, begins: Begins, limits: Limits, progress: Progress | None) -> None:
        self.endpoint, self.snapshot = begins
        self.offset = begins.snapshot.end_offset if begins.snapshot else 0
        self.loader = Loader(MetadataImage(), limits, progress)
        self._limits = limits
        place = str(self.endpoint)
        self._before = Spool(place, f"{self.snapshot}.checkpoint") if self.snapshot else None
        self._log = Spool(place, f"{self.offset:020}.log")
        self._applied = -1  # bytes of the log
        self._led: tuple[int, int, list[int]] | None = None  # what `put_leader` was given
        self._is_cut_short = False

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
                _GoneError: there is none of this beginning.
            """
            if last:
                return None
            event = next(events)
            if isinstance(event, LiveBatch):
                where, batch = self.add(event)
                return batch if where is spool else None
            last.append(event)
            if isinstance(event, Begins):
                raise _GoneError
            return None

        with ExitStack() as growing:
            for spool in filter(None, (self._before, self._log)):
                growing.enter_context(spool.growing(partial(more, spool)))
            try:
                self.apply()
                while not (last or self.loader.is_over):
                    more(self._log)  # behind damage
            except _GoneError:
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
        image = self.loader.image
        if self._applied < 0:
            self._begin()
        else:
            findings = image.log_findings
            findings[:] = [one for one in findings if one.kind is not FindingKind.TRANSACTION]
            self.loader.read_on(self._log.name, self._applied)
        self._applied = self._log.size
        self._is_cut_short = any(one.kind is FindingKind.DAMAGE for one in image.log_findings)

    def finish(self, caught_up: CaughtUp, voters: Callable[[], list[int]]) -> None:
        """Note who leads, also in the image where no record of the log after the snapshot does.

        *voters* returns those of a static quorum, as far as they are known.
        """
        self.endpoint, self.offset, leader, epoch = caught_up
        image, snapshot = self.loader.image, self.snapshot
        if snapshot is None or image.quorum.leader is not None or self.loader.is_over:
            return
        self._led = leader, epoch, voters() if image.quorum.voters is None else []
        self.complete(image)

    def complete(self, image: MetadataImage) -> None:
        """Note who leads, in a state in which that is the one who led when the log began."""
        if self._led and self.snapshot and image.quorum.leader is None:
            put_leader(image, str(self.endpoint), self.snapshot.end_offset, *self._led)

    def _begin(self) -> None:
        pieces = [Piece(self._log.name, None, is_snapshot=False)]
        if self._before and self.snapshot:
            name = self._before.name
            if self._limits.time != Limits().time:
                time = snapshot_time(FileName(name, FileKind.CHECKPOINT, ""))
                if time is not None and time > self._limits.time:
                    raise _too_new(self.endpoint, self.snapshot)
            pieces.insert(0, Piece(name, self.snapshot.end_offset, is_snapshot=True))
        self.loader.read(pieces)
        if self.loader.has_records:
            return
        if self.loader.is_over:
            raise UsageError(f"{self.endpoint}: nothing in its log is as old as that")
        for finding in self.loader.image.log_findings:
            raise WireError(f"cannot read {finding}")
        raise WireError(f"{self.endpoint}: there are no metadata records in its log")
