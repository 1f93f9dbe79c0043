"""`--summary --follow`: counts of logs that grow, on a screen or as one block after the other."""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import NamedTuple

from kraftops.dump.report import Report
from kraftops.dump.sources.follow import Growing
from kraftops.dump.summary.file_counter import Counting
from kraftops.dump.summary.logs import Log, Reading, add_summary, fields_of
from kraftops.dump.summary.summarise import summarise
from kraftops.dump.summary.summary import Summary
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.mounts import archive_of
from kraftops.log.files import FileKind, file_name
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops_cli.dump_log.growing.screen import ALL, FollowState, counted_again, frame, pressed
from kraftops_cli.dump_log.plan import Plan, Run
from kraftops_cli.dump_log.summaries.table import Fields
from kraftops_cli.dump_log.summary import count_files, plan_readings, print_summaries
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.live import pause_after
from kraftops_terminal.screen import Screen

_SECONDS = 1.0  # between two looks: rates are of seconds
_COUNTING_SECONDS = 0.3  # of counting, after which keys are answered
_KEYBOARD = 0


def last_segments(files: Sequence[Reading]) -> dict[Log, Reading]:
    """Return the last segment of each log, by whose growth it is followed.

    Raises:
        UsageError: a log is not a segment or partition.
    """
    segments: dict[Log, Reading] = {}
    for file in files:
        name = file_name(file.path)
        is_packed = bool(archive_of(file.path)) or bool(name and name.archive)
        if name is None or name.is_stdin or is_packed:
            raise UsageError(
                f"--follow follows segments or the directories of partitions, not {file.path}"
            )
        if _is_segment(file):
            segments[file.log] = file
    if not segments:
        raise UsageError("--follow follows segments or the directories of partitions")
    return segments


def _is_segment(file: Reading) -> bool:
    """Tell whether a file is a segment, and not a snapshot or checkpoint beside it."""
    name = file_name(file.path)
    return name is not None and name.kind is FileKind.LOG


class _Followed(NamedTuple):
    growing: Growing
    query: Query
    counting: Counting


class Growth(NamedTuple):
    """The end of a look at logs: whether there was something new, and whether there is more."""

    has_grown: bool
    is_behind: bool


class GrowingSummaries:
    """The counts of logs, up to the last look at them."""

    def __init__(
        self,
        plan: Plan,
        last: Mapping[Log, Reading],
        summaries: dict[Log, Summary],
        note: Callable[[str], None],
    ) -> None:
        """Begin at the first byte of the last segments.

        Args:
            plan: The query and its options.
            last: The last segments, which are followed.
            summaries: The counts of all files before them; the new ones are added to these.
            note: Gets lines about unusual events.
        """
        self.summaries = summaries
        self._note = note
        self._growing = {
            log: _Followed(
                Growing(file.path, note), plan.query_of(file.path), Counting(file.details)
            )
            for log, file in last.items()
        }

    def grow(self, seconds: float) -> Growth:
        """Count what is new, for about this time."""
        end = monotonic() + seconds
        has_grown = False
        for log, part in self._parts():
            self._count(log, part)
            has_grown = True
            if monotonic() >= end:
                return Growth(has_grown, is_behind=True)
        return Growth(has_grown, is_behind=False)

    def _parts(self) -> Iterator[tuple[Log, ByteRange]]:
        """Yield what is new of each log; one that can no longer be read is left as it is."""
        for log, (growing, _, _) in list(self._growing.items()):
            try:
                for part in growing.parts():
                    yield log, part
            except SourceError as error:
                self._lose(log, error)

    def _count(self, log: Log, part: ByteRange) -> None:
        _, query, counting = self._growing[log]
        try:
            summary = summarise(
                part.path, query, start=part.start, stop=part.stop, counting=counting
            )
        except SourceError as error:
            self._lose(log, error)
        else:
            add_summary(self.summaries, log, summary)

    def _lose(self, log: Log, error: SourceError) -> None:
        self._note(error.message)
        self._growing.pop(log, None)


def follow_summary(plan: Plan, terminal: Terminal) -> int:
    """Count logs, and what comes to them, until somebody quits; return the exit code.

    Raises:
        UsageError: a log cannot be followed, or is not there.
    """
    if plan.tail is not None:
        raise UsageError("--summary --follow and --tail do not go together")
    files = plan_readings(plan)
    last = last_segments(files)
    # A checkpoint beside the segments has the records of the log once more.
    files = [file for file in files if _is_segment(file)]
    followed = {file.path for file in last.values()}
    run = Run(plan, terminal, Report())
    before = count_files(run, [file for file in files if file.path not in followed], None)
    console = terminal.console
    is_screen = console.has_screen and not plan.query.output_format.has_objects
    notes: list[str] = []
    growing = GrowingSummaries(plan, last, before, notes.append if is_screen else terminal.line)
    gc.freeze()  # what is loaded has no cycles; the screen is to be free of its own
    gc.enable()
    if is_screen:
        with Screen(console.fd, _KEYBOARD) as screen:
            _show(screen, run, files, growing, notes)
        return print_summaries(run, files, growing.summaries)
    while True:
        cpu = time.process_time()
        if growing.grow(float("inf")).has_grown:
            print_summaries(run, files, growing.summaries)
            terminal.flush()
        time.sleep(pause_after(time.process_time() - cpu, _SECONDS))


def _show(
    screen: Screen,
    run: Run,
    files: Sequence[Reading],
    growing: GrowingSummaries,
    notes: Sequence[str],
) -> None:
    """Show the counts on a screen until somebody quits."""
    plan, console = run.plan, run.terminal.console
    visible_logs = {file.log for file in files if file.is_shown}
    is_table = not plan.logs and len(visible_logs) > 1
    state = FollowState(sort=plan.sort, subject=None if is_table else ALL)
    fields: list[Fields] = []
    due = 0.0
    while not state.is_over:
        if time.monotonic() >= due:
            cpu = time.process_time()
            growth = growing.grow(_COUNTING_SECONDS)
            if growth.has_grown:
                fields_by_log = fields_of(growing.summaries)
                fields = [summary for log, summary in fields_by_log.items() if log in visible_logs]
            state = counted_again(replace(state, notes=tuple(notes)), fields, time.time())
            pause = pause_after(time.process_time() - cpu, _SECONDS)
            due = time.monotonic() + (0.0 if growth.is_behind else pause)
        lines, state = frame(state, console, screen.size, has_keys=screen.has_keys)
        screen.draw(lines)
        for key in screen.wait(max(due - time.monotonic(), 0.0)):
            state = pressed(state, key)
