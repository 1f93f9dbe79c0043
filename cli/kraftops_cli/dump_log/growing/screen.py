"""The screen of `--summary --follow`: its state, what keys do to it, and its frames."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kraftops.display.charts import sparkline
from kraftops.display.sizes import many, number_text, size_text
from kraftops.dump.summary.logs import log_name
from kraftops.query.summary_order import SORTS
from kraftops_cli.dump_log.summaries.table import Fields, has_problems, in_order, logs_text
from kraftops_cli.dump_log.summaries.text import summary_text
from kraftops_terminal import live
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.widths import cut

_MOST_STEPS = 600  # of the history: more than the widest screen has columns
_PROBLEMS = live.PAGE_KEYS[:1]
_KEYS: live.Keys = (("↵", "log"), *_PROBLEMS)
_HEAD = 3  # lines above the table
_LEAST = 4  # lines of a table beside its logs: head, total, those that are not shown
ALL = live.Subject("logs")
"""The page of all about each log."""


@dataclass(frozen=True, slots=True)
class FollowState(live.LiveState):
    """What is drawn: the fields of logs as counted at a *time* in seconds, and what keys chose."""

    logs: tuple[Fields, ...] = ()
    time: float = 0.0
    steps: tuple[int, ...] = ()
    """The records that were new at each look."""
    rates: tuple[float, float] = (0.0, 0.0)
    """Records and bytes a second, between the last two looks."""
    sort: str = SORTS[0]
    notes: tuple[str, ...] = ()


def counted_again(state: FollowState, logs: Sequence[Fields], now: float) -> FollowState:
    """Return the state after another look at the logs, at a time in seconds.

    A paused one keeps what it shows.
    """
    if state.is_paused:
        return state
    records, size = (_sum(logs, name) - _sum(state.logs, name) for name in ("records", "bytes"))
    seconds = now - state.time
    is_first = not state.time
    return replace(
        state,
        logs=tuple(logs),
        time=now,
        steps=() if is_first else (*state.steps, max(records, 0))[-_MOST_STEPS:],
        rates=(0.0, 0.0)
        if is_first or seconds <= 0
        else (max(records, 0) / seconds, max(size, 0) / seconds),
    )


def _sum(logs: Sequence[Fields], name: str) -> int:
    if name == "records":
        return sum(summary["records"]["count"] for summary in logs)
    return sum(summary["batches"]["bytes"] for summary in logs)


def pressed(state: FollowState, key: str) -> FollowState:
    """Return the state after a key, see `kraftops_terminal.screen`."""
    return live.pressed(state, key, _ACTS)


def _sorted(state: FollowState) -> FollowState:
    sort = SORTS[(SORTS.index(state.sort) + 1) % len(SORTS)]
    return replace(state, sort=sort, top=0, cursor=0)


_ACTS: dict[str, Callable[[FollowState], FollowState]] = {
    "s": _sorted,
    "enter": lambda state: live.entered(
        state, [live.Subject("log", _name(log)) for log in _logs(state)]
    ),
    "p": live.PAGES["p"],
}


def frame(
    state: FollowState, console: Console, size: tuple[int, int], *, has_keys: bool
) -> tuple[list[str], FollowState]:
    """Draw a frame; return also the state, scrolled so that the cursor is visible."""
    columns, rows = size
    room = max(rows - _HEAD - 1, 0)
    keys = _PROBLEMS
    if state.subject is None:
        keys = (*_KEYS, ("s", f"sort: {state.sort}"))
        state, lines = _table(state, console, room, has_keys=has_keys)
    else:
        lines, state = live.page_lines(state, console, (columns, room), _page(state, console))
    last = live.foot(state, console, columns, keys, has_keys=has_keys)
    return live.framed([*_head(state, console, columns), "", *lines], [last], rows), state


def _head(state: FollowState, console: Console, columns: int) -> list[str]:
    records, size = state.rates
    clock = time.strftime("%H:%M:%S", time.gmtime(state.time))
    rates = f"{number_text(round(records))} records/s, {size_text(round(size))}/s"
    title = f"{many(len(state.logs), 'log')}, {clock} UTC, {rates}"
    past = sparkline(state.steps, columns)
    if state.notes:
        second = console.painted(cut(escaped(state.notes[-1]), columns), "warning")
    else:
        second = console.painted("paused: Space goes on", "warning") if state.is_paused else past
    return [console.painted(cut(title, columns), "title"), second]


def _logs(state: FollowState) -> list[Fields]:
    """Return the logs that match the filter, sorted."""
    return in_order((log for log in state.logs if live.has_words(state, _name(log))), state.sort)


def _name(log: Fields) -> str:
    return log_name(log["topic"], log["partition"])


def _table(
    state: FollowState, console: Console, room: int, *, has_keys: bool
) -> tuple[FollowState, list[str]]:
    logs = _logs(state)
    lines: list[str] = []
    for least in (_LEAST, _LEAST + 1):  # the columns that have no room take a line, or two
        state = live.placed(state, max(room - least, 1), len(logs))
        chosen = state.cursor if has_keys else None
        text = logs_text(logs, console, top=state.room, skip=state.top, chosen=chosen)
        lines = text.splitlines()
        if len(lines) <= room:
            break
    return state, lines


def _page(state: FollowState, console: Console) -> list[str]:
    """Return all about the logs of the page; that of problems has a table of them first."""
    subject, logs = state.subject, in_order(state.logs, state.sort)
    assert subject is not None
    if subject.kind == "problems":
        logs = [log for log in logs if has_problems(log)]
        return logs_text(logs, console).splitlines() if logs else ["no log has any"]
    if subject != ALL:
        logs = [log for log in logs if _name(log) == subject.of]
    return summary_text(logs, console).splitlines()
