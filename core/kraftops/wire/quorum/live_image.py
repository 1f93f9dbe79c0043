"""The image of a running cluster's metadata, which is kept current as the log goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Self

from kraftops.image.load.loader import Progress
from kraftops.image.load.loading import load
from kraftops.image.replay.limits import Limits
from kraftops.image.state.image import MetadataImage
from kraftops.parallel.prefetch import Prefetch
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.quorum.fetching import SnapshotId
from kraftops.wire.quorum.live_leader import voters_in, voters_of
from kraftops.wire.quorum.live_log import Begins, CaughtUp, Event, LiveBatch, LiveLog
from kraftops.wire.quorum.spooled_image import SpooledImage

_MAX_WAITING_EVENTS = 1000


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
        self._following: Prefetch[Event] | None = None
        self._is_closed = False
        self._coming: SpooledImage | None = None  # what is not caught up for the first time
        self._now = self._loaded(self._events)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the following; what is there stays."""
        self._is_closed = True
        if self._following:
            self._following.close()

    @property
    def image(self) -> MetadataImage:
        """The image; it changes with `update`."""
        return self._now.image

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
        if self._limits != Limits() or self._is_closed:
            return False
        before, provenance = self.image, self.image.provenance
        try:
            self._take_waiting()
        finally:
            self._now.apply()
            self._tell()
        return self.image is not before or self.image.provenance != provenance

    def _loaded(self, events: Iterator[Event]) -> SpooledImage:
        """Read to where the log is caught up, and close the connection until there is more."""
        try:
            prefetch: Prefetch[Event] = Prefetch(events, size=_size_of, is_last=_is_caught_up)
            with prefetch:
                coming = iter(prefetch)
                found: Event | None = next(coming)
                while isinstance(found, Begins):
                    reading = SpooledImage(found, self._limits, self._progress)
                    found = reading.read(coming)
            if isinstance(found, CaughtUp):
                endpoint = found.endpoint
                reading.finish(found, lambda: voters_of(endpoint, self._settings, self._notes.put))
            return reading
        finally:
            self._log.close()
            self._tell()

    def _take(self, event: Event) -> SpooledImage | None:
        """Take in an event; return what is read anew, when it is caught up for the first time."""
        match event:
            case Begins():
                self._coming = SpooledImage(event, self._limits, self._progress)
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

    def _follow(self) -> Prefetch[Event]:
        """Start the thread that reads the log on; it waits where nobody takes its events."""
        events = self._events or self._log.read(follow=True)
        self._events = None
        return Prefetch(self._until_closed(events), max_groups=_MAX_WAITING_EVENTS)

    def _until_closed(self, events: Iterator[Event]) -> Iterator[Event | None]:
        """Yield events, None where one is repeated; close the connection at the end."""
        last: Event | None = None
        try:
            for event in events:
                yield None if isinstance(event, CaughtUp) and event == last else event
                last = event
        finally:
            self._log.close()

    def _take_waiting(self) -> None:
        """Take in the events that wait.

        Raises:
            WireError: the error that ended the thread; the next call begins anew.
        """
        following = self._following = self._following or self._follow()
        while True:
            try:
                event = following.poll()
            except Exception:
                self._following = self._coming = None
                raise
            if event is None:
                return
            if reading := self._take(event):
                self._now = reading

    def _tell(self) -> None:
        while not self._notes.empty():
            self._note(self._notes.get())


def _size_of(event: Event) -> int:
    return event.batch.size if isinstance(event, LiveBatch) else 0


def _is_caught_up(event: Event) -> bool:
    return isinstance(event, CaughtUp)
