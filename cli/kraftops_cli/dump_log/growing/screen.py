"""The screen of `--summary --follow`: its state, what keys do to it, and its frames."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kraftops.display.charts import sparkline
from kraftops.display.sizes import many, number_text, size_text
from kraftops.query.summary_order import SORTS
from kraftops_cli.dump_log.summaries.table import Fields, in_order, logs_text
from kraftops_cli.dump_log.summaries.text import summary_text
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.widths import cut

_MOST_STEPS = 600
_KEYS = (("q", "quit"), ("s", "sort"), ("p", "pause"), ("↑↓", "scroll"))
_HEAD = 3  # lines above the table
_LEAST = 4  # lines of a table beside its logs: head, total, those that are not shown


@dataclass(frozen=True, slots=True)
class FollowState:
    """What is drawn: the fields of logs as counted at a *time* in seconds, and what keys chose."""

    logs: tuple[Fields, ...] = ()
    time: float = 0.0
    is_table: bool = True
    """Whether the logs are a table; otherwise there is all about each."""
    steps: tuple[int, ...] = ()
    """The records that were new at each look."""
    rates: tuple[float, float] = (0.0, 0.0)
    """Records and bytes a second, between the last two looks."""
    sort: str = SORTS[0]
    top: int = 0
    notes: tuple[str, ...] = ()
    is_paused: bool = False
    is_over: bool = False


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
        return sum(one["records"]["count"] for one in logs)
    return sum(one["batches"]["bytes"] for one in logs)


def pressed(state: FollowState, key: str) -> FollowState:
    """Return the state after a key, see `kraftops_terminal.keys`."""
    act = _ACTS.get(key)
    return state if act is None else act(state)


def _sorted(state: FollowState) -> FollowState:
    return replace(state, sort=SORTS[(SORTS.index(state.sort) + 1) % len(SORTS)], top=0)


def _scrolled(rows: int) -> Callable[[FollowState], FollowState]:
    return lambda state: replace(state, top=max(state.top + rows, 0))


def _paused(state: FollowState) -> FollowState:
    return replace(state, is_paused=not state.is_paused)


_ACTS: dict[str, Callable[[FollowState], FollowState]] = {
    "q": lambda state: replace(state, is_over=True),
    "end-of-input": lambda state: replace(state, is_over=True),
    "s": _sorted,
    "p": _paused,
    " ": _paused,
    "up": _scrolled(-1),
    "down": _scrolled(1),
    "page-up": _scrolled(-10),
    "page-down": _scrolled(10),
    "home": _scrolled(-(1 << 30)),
}


def frame(
    state: FollowState, console: Console, size: tuple[int, int], *, has_keys: bool
) -> tuple[list[str], FollowState]:
    """Return the lines of a frame, and the state with the place to which it is scrolled."""
    columns, rows = size
    room = max(rows - _HEAD - 1, 0)
    state, body = _table(state, console, room) if state.is_table else _whole(state, console, room)
    lines = [*_head(state, console, columns), "", *body][: max(rows - 1, 0)]
    foot = _foot(state, console, has_keys=has_keys)
    return [*lines, *[""] * (rows - 1 - len(lines)), foot], state


def _head(state: FollowState, console: Console, columns: int) -> list[str]:
    records, size = state.rates
    clock = time.strftime("%H:%M:%S", time.gmtime(state.time))
    rates = f"{number_text(round(records))} records/s, {size_text(round(size))}/s"
    title = f"{many(len(state.logs), 'log')}, {clock} UTC, {rates}"
    past = sparkline(state.steps, columns)
    if state.notes:
        second = console.painted(cut(escaped(state.notes[-1]), columns), "warning")
    else:
        second = console.painted("paused: p goes on", "warning") if state.is_paused else past
    return [console.painted(cut(title, columns), "title"), second]


def _table(state: FollowState, console: Console, room: int) -> tuple[FollowState, list[str]]:
    logs = in_order(state.logs, state.sort)
    page = max(room - _LEAST, 1)
    state = replace(state, top=min(state.top, max(len(logs) - page, 0)))
    text = logs_text(logs, console, top=page, skip=state.top)
    return state, text.splitlines()


def _whole(state: FollowState, console: Console, room: int) -> tuple[FollowState, list[str]]:
    text = "\n".join(summary_text(one, console) for one in in_order(state.logs, state.sort))
    lines = text.splitlines()
    state = replace(state, top=min(state.top, max(len(lines) - room, 0)))
    return state, lines[state.top :]


def _foot(state: FollowState, console: Console, *, has_keys: bool) -> str:
    if not has_keys:
        return console.painted("Ctrl-C quits", "muted")
    keys = "  ".join(f"{console.painted(key, 'name')} {word}" for key, word in _KEYS)
    return keys + console.painted(f"  sorted by {state.sort}", "muted")
