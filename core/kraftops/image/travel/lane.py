"""The states of one plan to read a log: those at intervals, and those visited lately."""

from bisect import insort
from collections.abc import Callable, Iterator, Sequence

from kraftops.image.load.sources import SourceFile
from kraftops.image.replay.limits import Limits
from kraftops.image.travel.course import Course
from kraftops.log.batch import Batch

_LEAST_INTERVAL = 4 << 20  # bytes of the log, which are read in about 10 ms
_MOST_NEAR = 4  # states around the newest steps, so that a step back reads little


class Lane:
    """The states that are kept of a plan; each can be read on from."""

    def __init__(
        self, files: Sequence[SourceFile], start: Course, make_room: Callable[[], None]
    ) -> None:
        """Begin before the first file; *make_room* is called after a state is kept."""
        self.files = list(files)
        self._make_room = make_room
        self.truncations = 0
        """How often the log was found to be another one."""
        self._start = start
        self._at_intervals: list[Course] = []  # by place
        self._near: list[Course] = []  # the one that was used last is the last

    def __iter__(self) -> Iterator[Course]:
        yield from self._at_intervals
        yield from self._near

    @property
    def bytes(self) -> int:
        """About the number of bytes of all states."""
        return sum(course.size for course in self)

    def forget(self) -> None:
        """Keep no state any more."""
        self._at_intervals, self._near = [], []

    def thin(self) -> bool:
        """Drop the state whose loss makes the smallest gap; tell whether there was one to drop."""
        if len(self._near) > 1:
            del self._near[0]
        elif self._at_intervals:
            offsets = [-1, *(course.last_offset for course in self._at_intervals)]
            ends = [*offsets[2:], offsets[-1]]
            gaps = [end - start for start, end in zip(offsets, ends, strict=False)]
            del self._at_intervals[gaps.index(min(gaps))]
        else:
            return False
        return True

    def reach(self, limits: Limits) -> Course:
        """Return the state with all batches that are whole within limits.

        Raises:
            SourceError: a file cannot be read.
        """
        return self._reach(limits)[0]

    def at(self, limits: Limits) -> tuple[Course, bool]:
        """Return the state within limits, as a load makes it, and whether a record is beyond them.

        Raises:
            SourceError: a file cannot be read.
        """
        course, beyond = self._reach(limits)
        if beyond is None:
            return course.ended(), False
        return course.cut(self.files, limits, beyond), True

    def _reach(self, limits: Limits) -> tuple[Course, Batch | None]:
        nearest = self.nearest(limits)
        if nearest is not self._start and not nearest.is_still_there():
            self.forget()  # the log was truncated
            self.truncations += 1
            nearest = self._start
        if nearest.is_before_beyond(limits):
            self._visit(nearest)
            return nearest, nearest.following
        course = nearest.copy()
        due = self._due(course)

        def rest() -> bool:
            nonlocal due
            if course.place >= due:
                self._keep(course.copy())
                due = self._due(course)
            return False

        beyond = course.read(self.files, limits, rest=rest)
        self._visit(course)
        return course, beyond

    def nearest(self, limits: Limits) -> Course:
        """Return the last state within limits that is kept, or that before the first file."""
        within = [course for course in self if course.is_within(limits)]
        return max(within, key=lambda course: course.place, default=self._start)

    def _due(self, course: Course) -> tuple[int, int]:
        """Return the place after which the next state is kept: to copy takes time, too."""
        size = course.image.fold.size()
        last = max((course.place for course in self._at_intervals), default=(0, 0))
        number, position = max(course.place, last)
        return number, position + max(_LEAST_INTERVAL, size)

    def _keep(self, course: Course) -> None:
        course.size = course.image.fold.size()
        insort(self._at_intervals, course, key=lambda kept: kept.place)
        self._make_room()

    def _visit(self, course: Course) -> None:
        """Keep a state as one that was visited lately."""
        course.size = course.size or course.image.fold.size()
        self._near = [kept for kept in self._near if kept.place != course.place]
        self._near = [*self._near[-_MOST_NEAR + 1 :], course]
        self._make_room()
