"""Travel through the states of a log, each as a load with its limits makes it."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from itertools import count
from typing import NamedTuple, TypeVar

from kraftops.errors import SourceError, UsageError
from kraftops.findings.finding import Finding
from kraftops.image.load.loader import Listener, Loader, Progress, VanishedFileError
from kraftops.image.load.loading import TRIES, check, limits_of, no_log
from kraftops.image.load.prior_state import prior_state_of
from kraftops.image.load.sources import LogFiles, SourceFile, files_of, read_plans, whole_log_plans
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.replay import Replay
from kraftops.image.state.image import MetadataImage, NewImage, PriorState
from kraftops.image.travel.kept_replays import KeptReplays
from kraftops.image.travel.resumable_replay import ResumableReplay
from kraftops.image.travel.search import ANY, LogChange, Wanted, changes_after, changes_before
from kraftops.uris import Paths, path_texts

MOST_BYTES = 256 << 20
"""The bytes of the states that are kept, by their folds' sizes: as the default of --max-memory."""
T = TypeVar("T")
_LaneKey = tuple[SourceFile, tuple[Finding, ...]]


class _Route(NamedTuple):
    """A plan to read the log, its states, and the state before its snapshot."""

    replays: KeptReplays
    prior_state: Callable[[], PriorState | None] | None

    @property
    def covered(self) -> int:
        """The last offset that the snapshot at its beginning covers; -1 without one."""
        return (self.replays.files[0].end_offset or 0) - 1


class _Answer(NamedTuple):
    """All changes of some entries after *first* and up to *last*."""

    selection: Wanted
    replays: KeptReplays
    truncations: int
    first: int
    last: int
    changes: list[LogChange]


class Travel:
    """The states of a log at any offset or time; some are kept, to be quick at others.

    Images that it returns stay as they are; do not change them. It is for one thread.
    """

    def __init__(
        self,
        source: Paths,
        *,
        new_image: NewImage = MetadataImage,
        finish: Callable[[MetadataImage], None] | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """Make one without reading.

        Args:
            source: as `kraftops.image.load.loading.load` takes it.
            new_image: makes an image without state.
            finish: completes a copy of each image that is returned.
            most_bytes: of the states that are kept, in addition to the one that was used last.
        """
        self.names = tuple(path_texts(source))
        self._new_image = new_image
        self._finish = finish
        self._most_bytes = most_bytes
        self._routes: dict[_LaneKey, _Route] = {}  # the one that was used last is the last
        self._answer: _Answer | None = None
        self.progress: Progress | None = None
        """Called with the number of bytes read."""

    @property
    def bytes(self) -> int:
        """About the number of bytes of the states that are kept."""
        return sum(route.replays.bytes for route in self._routes.values())

    def at(self, *, offset: int | None = None, time: int | None = None) -> MetadataImage:
        """Return the state after the record of an offset, or at a time in ms; or the newest.

        Raises:
            SourceError: the log cannot be read, or has no metadata records.
            UsageError: it does not reach back to that.
        """
        image = self._tried(partial(self._image, limits_of(offset, time)))
        if self._finish is None:
            return image
        image = image.copy()
        self._finish(image)
        return image

    def after(self, offset: int, selection: Wanted = ANY, number: int = 1) -> list[LogChange]:
        """Return the next changes after an offset, oldest first; fewer than *number* at the end.

        Raises:
            KraftopsError: as `at`.
        """
        return self._tried(partial(self._after, offset, selection, number))

    def before(self, offset: int, selection: Wanted = ANY, number: int = 1) -> list[LogChange]:
        """Return the last changes before an offset, oldest first; fewer than *number* at the start.

        Raises:
            KraftopsError: as `at`.
        """
        return self._tried(partial(self._before, offset, selection, number))

    def replay(
        self,
        since: Limits | None,
        until: Limits,
        begin: Callable[[MetadataImage, MetadataImage], Listener],
    ) -> MetadataImage:
        """Read the log from one state to another, and return the image that has followed it.

        Args:
            since: limits of the first state; None for the oldest that the log has.
            until: limits of the last.
            begin: is called with the first state, which stays as it is, and with the image that
                follows the log; returns what is called with each event.

        Raises:
            KraftopsError: as `at`.
        """
        replays, start = self._beginning(since)
        replay = start.copy()
        listen = begin(start.image, replay.image)
        if replay.read(replays.files, until, listen=listen) is not None:
            replay.read_cut(replays.files, until, listen)
        if replay.loader.is_other_log:
            check(replay.loader, self.names, is_over=False)
        return replay.image

    def _beginning(self, since: Limits | None) -> tuple[KeptReplays, ResumableReplay]:
        if since is not None:
            try:
                replays = self._route_to(since).replays
            except UsageError:
                pass  # the log begins later
            else:
                return replays, replays.reach(since)
        files = files_of(self.names)
        for plan in whole_log_plans(files):
            replays = self._route(files, plan, []).replays
            start = replays.reach(Limits(until=(plan[0].end_offset or 0) - 1))
            if not start.is_broken:
                return replays, start
        raise no_log(self.names)

    def _tried(self, work: Callable[[], T]) -> T:
        """Repeat work if a server deletes files in the meantime."""
        for attempt in count(1):
            try:
                return work()
            except VanishedFileError as error:
                self._routes.clear()
                if attempt == TRIES:
                    raise SourceError(error.message) from None
        raise AssertionError

    def _image(self, limits: Limits) -> MetadataImage:
        first: tuple[ResumableReplay, bool, _Route] | None = None
        read_on_route: tuple[ResumableReplay, bool, _Route] | None
        files = files_of(self.names)
        for plan, findings in read_plans(files, limits):
            route = self._route(files, plan, findings)
            read_on_route = (*route.replays.at(limits), route)
            first = first or read_on_route
            if not read_on_route[0].is_broken:
                break
        else:
            read_on_route = first  # no snapshot is whole: what the newest has
        if read_on_route is None:
            raise no_log(self.names)
        replay, is_over, route = read_on_route
        check(replay.loader, self.names, is_over=is_over)
        if route.prior_state is not None:
            replay.image.offer_prior_state(route.prior_state)
        return replay.image

    def _route_to(self, limits: Limits) -> _Route:
        files = files_of(self.names)
        first = None
        for plan, findings in read_plans(files, limits):
            route = self._route(files, plan, findings)
            first = first or route
            if not route.replays.reach(limits).is_broken:
                return route
        if first is None:
            raise no_log(self.names)
        return first

    def _route(self, files: LogFiles, plan: list[SourceFile], findings: list[Finding]) -> _Route:
        key = plan[0], tuple(findings)
        route = self._routes.pop(key, None)
        if route is not None:
            files_read = len(route.replays.files)
            if plan[:files_read] == route.replays.files:
                route.replays.files[files_read:] = plan[files_read:]  # the log has grown
            else:
                route = None
        if route is None:
            route = self._new_route(files, plan, findings)
        self._routes[key] = route
        return route

    def _new_route(
        self, files: LogFiles, plan: list[SourceFile], findings: list[Finding]
    ) -> _Route:
        image = self._new_image()
        image.log_findings += findings
        loader = Loader(Replay(image), self._note_progress, may_grow=files.is_directory)
        ends = [file.end_offset for file in plan if file.end_offset is not None]
        prior_state = None
        if ends:
            prior_state = cache(partial(prior_state_of, files, ends[0], self._new_image))
        return _Route(KeptReplays(plan, ResumableReplay(loader), self._make_room), prior_state)

    def _note_progress(self, size: int) -> None:
        if self.progress is not None:
            self.progress(size)

    def _make_room(self) -> None:
        """Drop states until the others take no more bytes than they may."""
        *others, last = self._routes.values()
        while self.bytes > self._most_bytes:
            replays = next((route.replays for route in others if route.replays.bytes), None)
            if replays is not None:
                replays.forget()
            elif not last.replays.thin():
                return

    def _after(self, offset: int, selection: Wanted, number: int) -> list[LogChange]:
        replays = self._route_to(Limits(until=offset)).replays
        answer = self._answer_to(selection, replays)
        if answer is not None and answer.first <= offset < answer.last:
            changes = [change for change in answer.changes if change.offset > offset]
            if len(changes) >= number:
                return changes[:number]
        changes, replay = changes_after(replays, offset, selection, number)
        self._answer = _Answer(
            selection=selection,
            replays=replays,
            truncations=replays.truncations,
            first=offset,
            last=replay.last_offset,
            changes=changes,
        )
        if len(changes) < number and replay.is_ended:
            # Damage hides the rest, but for newer snapshots.
            ends = [snapshot.snapshot_id[0] - 1 for snapshot in files_of(self.names).snapshots]
            last_known_offset = max(replay.last_offset, offset)
            changes += [LogChange(end) for end in sorted(ends) if end > last_known_offset]
        return changes[:number]

    def _before(self, offset: int, selection: Wanted, number: int) -> list[LogChange]:
        changes: list[LogChange] = []
        last = offset
        while len(changes) < number and last > 0:
            try:
                route = self._route_to(Limits(until=last - 1))
                if route.covered == last - 1:
                    # What the last record before a snapshot's end did is in an older plan.
                    route = self._route_to(Limits(until=last - 2))
            except UsageError:
                changes = [LogChange(last - 1), *changes] if last < offset else changes
                break
            changes = [*self._before_in(route, last, selection, number - len(changes)), *changes]
            last = route.covered + 1
        return changes[-number:]

    def _before_in(
        self, route: _Route, offset: int, selection: Wanted, number: int
    ) -> list[LogChange]:
        replays, answer = route.replays, self._answer_to(selection, route.replays)
        if answer is not None and answer.first < offset - 1 <= answer.last:
            changes = [change for change in answer.changes if change.offset < offset]
            if len(changes) >= number:
                return changes[-number:]
        changes = changes_before(replays, offset, route.covered, selection, number)
        first = changes[0].offset - 1 if changes else offset
        self._answer = _Answer(
            selection=selection,
            replays=replays,
            truncations=replays.truncations,
            first=first,
            last=offset - 1,
            changes=changes,
        )
        return changes[-number:]

    def _answer_to(self, selection: Wanted, replays: KeptReplays) -> _Answer | None:
        answer = self._answer
        if answer is None or answer.selection != selection or answer.replays is not replays:
            return None
        return answer if answer.truncations == replays.truncations else None


class LogFollower:
    """Follows a log by its states; *image* is another object after each change."""

    def __init__(self, travel: Travel) -> None:
        """Read the newest state; errors as `Travel.at`."""
        self._travel = travel
        self._files = self._look()
        self.image: MetadataImage = travel.at()

    def update(self) -> bool:
        """Read the new part of the log; tell whether the image has changed.

        A log that a change of the leader has truncated is read again from a state before that.

        Raises:
            SourceError: the log can no longer be read.
        """
        files = self._look()
        if files == self._files:
            return False
        before, self.image, self._files = self.image, self._travel.at(), files
        return self.image.provenance != before.provenance

    def _look(self) -> tuple[object, ...]:
        """Return what tells whether files have changed; a prompt asks for that at each key."""
        files = files_of(self._travel.names)
        for segment in files.segments[-1:]:
            with suppress(OSError):  # to read it says why it cannot be read
                stat = os.stat(segment.path)
                return files, stat.st_ino, stat.st_size, stat.st_mtime_ns
        return (files,)
