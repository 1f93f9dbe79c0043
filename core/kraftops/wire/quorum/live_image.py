"""Image of a running cluster's metadata, updated as the log grows."""

from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Self

from kraftops.image.load.loader import Progress
from kraftops.image.load.loading import load
from kraftops.image.replay.limits import Limits
from kraftops.image.state.image import MetadataImage
from kraftops.parallel.prefetch import Prefetch
from kraftops.wire.net.addresses import Address
from kraftops.wire.quorum.fetch import SnapshotId
from kraftops.wire.quorum.leader_record import ask_voters, voters_of
from kraftops.wire.quorum.live_log import CaughtUp, Event, LiveBatch, LiveLog, Started
from kraftops.wire.quorum.spooled_image import SpooledImage
from kraftops.wire.rpc.endpoints import Endpoints

_MAX_WAITING_EVENTS = 1000  # groups that are fetched ahead of the replay


class LiveImage:
    """The image as of the last `update`; *image* is another object after the log is read again.

    It is for one thread. A context manager, which stops following the log.
    """

    def __init__(
        self,
        target: Endpoints,
        *,
        limits: Limits | None = None,
        note: Callable[[str], None] = lambda _: None,
        progress: Progress | None = None,
    ) -> None:
        """Load the newest snapshot and the log after it, up to the high watermark.

        Args:
            target: The quorum.
            limits: Limits of the records, from `kraftops.image.load.loading.limits_of`.
            note: Gets a line for each restart or lost leader, while this loads or updates.
            progress: Called with the number of bytes that were applied.

        Raises:
            WireError: no controller leads, or none answers, within the timeout.
            AnswerError: it is not permitted to read the log.
            UsageError: the log does not reach back to the limits.
            SourceError: there is no room to keep the log.
        """
        self._settings = target.settings
        self._limits = limits or Limits()
        self._note = note
        self._progress = progress
        self._notes: SimpleQueue[str] = SimpleQueue()
        self._log = LiveLog(target, note=self._notes.put)
        self._events: Iterator[Event] | None = self._log.read(follow=True)
        self._following: Prefetch[Event] | None = None
        self._is_closed = False
        self._next: SpooledImage | None = None  # read again, and not caught up yet
        self._current = self._load(self._events)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop following the log; the image stays."""
        self._is_closed = True
        if self._following:
            self._following.close()

    @property
    def image(self) -> MetadataImage:
        """The image; it changes with `update`."""
        return self._current.image

    @property
    def endpoint(self) -> Address:
        """The controller that was last read from."""
        return self._current.endpoint

    @property
    def snapshot(self) -> SnapshotId | None:
        """The snapshot at the start of the image; None if it began with the log's first offset."""
        return self._current.snapshot

    @property
    def offset(self) -> int:
        return self._current.offset

    @property
    def names(self) -> tuple[str, ...]:
        """The spools' names for `image.load.loading.load`, valid while this object exists."""
        return self._current.names

    def state(self, *, at_offset: int | None = None, at_time: int | None = None) -> MetadataImage:
        """Load the state at an earlier moment, which the spooled log must reach back to.

        Raises:
            UsageError: the snapshot is later than the moment.
        """
        image = load(self.names, at_offset=at_offset, at_time=at_time, new_image=self.image.empty)
        self.complete(image)
        return image

    def complete(self, image: MetadataImage) -> None:
        """Add the leader to an image of the spools that has no record of it."""
        self._current.add_leader(image)

    def update(self) -> bool:
        """Apply the records that have arrived, without waiting; tell whether the image changed.

        The first call begins to follow the log, unless there are limits: then nothing changes.
        After an error, the next call reads the log again.

        Raises:
            WireError: no controller led, or none answered, within the timeout.
            AnswerError: it is no longer permitted to read the log.
            SourceError: there is no room to keep the log.
        """
        if self._limits != Limits() or self._is_closed:
            return False
        before, provenance = self.image, self.image.provenance
        try:
            self._take_waiting()
        finally:
            self._current.apply()
            self._print_notes()
        return self.image is not before or self.image.provenance != provenance

    def _load(self, events: Iterator[Event]) -> SpooledImage:
        """Read up to the high watermark, then close the connection until `update`."""
        try:
            prefetch: Prefetch[Event] = Prefetch(events, size=_size_of, is_last=_is_caught_up)
            with prefetch:
                events = iter(prefetch)
                event: Event | None = next(events)
                while isinstance(event, Started):
                    loaded = self._begun(event)
                    event = loaded.read(events)
            if isinstance(event, CaughtUp):
                endpoint = event.endpoint
                loaded.finish(event, lambda: ask_voters(endpoint, self._settings, self._notes.put))
            return loaded
        finally:
            self._log.close()
            self._print_notes()

    def _begun(self, start: Started) -> SpooledImage:
        image = MetadataImage(budget=self._settings.budget)
        return SpooledImage(start, self._limits, image, self._progress)

    def _take(self, event: Event) -> SpooledImage | None:
        """Apply an event; return a new image, when it is caught up for the first time."""
        match event:
            case Started():
                self._next = self._begun(event)
            case LiveBatch():
                (self._next or self._current).add(event)
            case CaughtUp():
                if image := self._next:
                    image.apply()
                    image.finish(event, lambda: voters_of(self.image))
                    self._next = None
                    return image
                self._current.endpoint, self._current.offset = event.endpoint, event.offset
        return None

    def _follow(self) -> Prefetch[Event]:
        """Start the thread that follows the log; it waits when too many events wait."""
        events = self._events or self._log.read(follow=True)
        self._events = None
        return Prefetch(self._until_closed(events), max_groups=_MAX_WAITING_EVENTS)

    def _until_closed(self, events: Iterator[Event]) -> Iterator[Event | None]:
        """Yield events, None instead of a repeated one; close the connection at the end."""
        last: Event | None = None
        try:
            for event in events:
                yield None if isinstance(event, CaughtUp) and event == last else event
                last = event
        finally:
            self._log.close()

    def _take_waiting(self) -> None:
        """Apply the events that wait.

        Raises:
            WireError: the error that ended the thread; the next call reads the log again.
        """
        following = self._following = self._following or self._follow()
        while True:
            try:
                event = following.poll()
            except Exception:
                self._following = self._next = None
                raise
            if event is None:
                return
            if image := self._take(event):
                self._current = image

    def _print_notes(self) -> None:
        while not self._notes.empty():
            self._note(self._notes.get())


def _size_of(event: Event) -> int:
    return event.batch.size if isinstance(event, LiveBatch) else 0


def _is_caught_up(event: Event) -> bool:
    return isinstance(event, CaughtUp)
