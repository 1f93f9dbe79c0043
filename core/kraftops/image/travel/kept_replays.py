"""The replays kept of one plan to read a log: at intervals, and where the last steps led."""

from bisect import insort
from collections.abc import Callable, Iterator, Sequence

from kraftops.image.load.sources import SourceFile
from kraftops.image.replay.limits import Limits
from kraftops.image.travel.resumable_replay import ResumableReplay
from kraftops.log.batch import Batch

_LEAST_INTERVAL = 4 << 20  # bytes of the log, which are read in about 10 ms
_MOST_NEAR = 4  # states around the newest steps, so that a step back reads little


class KeptReplays:
    """Replays of one plan, each of which can go on from where it stands."""

    def __init__(
        self, files: Sequence[SourceFile], start: ResumableReplay, make_room: Callable[[], None]
    ) -> None:
        """Begin before the first file; *make_room* is called after a state is kept."""
        self.files = list(files)
        self._make_room = make_room
        self.truncations = 0
        """How often the log was found to be another one."""
        self._start = start
        self._at_intervals: list[ResumableReplay] = []  # by place
        self._near: list[ResumableReplay] = []  # the one that was used last is the last

    def __iter__(self) -> Iterator[ResumableReplay]:
        yield from self._at_intervals
        yield from self._near

    @property
    def bytes(self) -> int:
        """About the number of bytes of all states."""
        return sum(replay.size for replay in self)

    def forget(self) -> None:
        """Stop keeping states."""
        self._at_intervals, self._near = [], []

    def thin(self) -> bool:
        """Drop the state whose loss makes the smallest gap; tell whether there was one to drop."""
        if len(self._near) > 1:
            del self._near[0]
        elif self._at_intervals:
            offsets = [-1, *(replay.last_offset for replay in self._at_intervals)]
            ends = [*offsets[2:], offsets[-1]]
            gaps = [end - start for start, end in zip(offsets, ends, strict=False)]
            del self._at_intervals[gaps.index(min(gaps))]
        else:
            return False
        return True

    def reach(self, limits: Limits) -> ResumableReplay:
        """Return the state with all batches that are whole within limits.

        Raises:
            SourceError: a file cannot be read.
        """
        return self._reach(limits)[0]

    def at(self, limits: Limits) -> tuple[ResumableReplay, bool]:
        """Return the state within limits, as a load makes it, and whether a record is beyond them.

        Raises:
            SourceError: a file cannot be read.
        """
        replay, beyond = self._reach(limits)
        if beyond is None:
            return replay.ended(), False
        return replay.cut(self.files, limits, beyond), True

    def _reach(self, limits: Limits) -> tuple[ResumableReplay, Batch | None]:
        nearest = self.nearest(limits)
        if nearest is not self._start and not nearest.is_still_there():
            self.forget()  # the log was truncated
            self.truncations += 1
            nearest = self._start
        if nearest.next_is_beyond(limits):
            self._visit(nearest)
            return nearest, nearest.following
        replay = nearest.copy()
        due = self._due(replay)

        def rest() -> bool:
            nonlocal due
            if replay.place >= due:
                self._keep(replay.copy())
                due = self._due(replay)
            return False

        beyond = replay.read(self.files, limits, rest=rest)
        self._visit(replay)
        return replay, beyond

    def nearest(self, limits: Limits) -> ResumableReplay:
        """Return the latest kept state within limits, or the one before the first file."""
        within = [replay for replay in self if replay.is_within(limits)]
        return max(within, key=lambda replay: replay.place, default=self._start)

    def _due(self, replay: ResumableReplay) -> tuple[int, int]:
        """Return (file, position) from which the next state is kept: copies cost time."""
        size = replay.image.fold.size()
        last = max((replay.place for replay in self._at_intervals), default=(0, 0))
        number, position = max(replay.place, last)
        return number, position + max(_LEAST_INTERVAL, size)

    def _keep(self, replay: ResumableReplay) -> None:
        replay.size = replay.image.fold.size()
        insort(self._at_intervals, replay, key=lambda kept: kept.place)
        self._make_room()

    def _visit(self, replay: ResumableReplay) -> None:
        """Keep a state as one that was visited lately."""
        replay.size = replay.size or replay.image.fold.size()
        self._near = [kept for kept in self._near if kept.place != replay.place]
        self._near = [*self._near[-_MOST_NEAR + 1 :], replay]
        self._make_room()
