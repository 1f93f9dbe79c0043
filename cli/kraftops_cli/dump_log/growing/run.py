"""`--summary --follow`: counts of logs that grow, on a screen or as one block after the other."""

import gc
import time
from collections.abc import Sequence
from dataclasses import replace

from kraftops.dump.report import Report
from kraftops.dump.summary.logs import Reading, fields_of
from kraftops.errors import UsageError
from kraftops_cli.dump_log.growing.growth import GrowingSummaries, is_segment, last_segments
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
    files = [file for file in files if is_segment(file)]
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
