"""Drawing: the lines of a frame for a state of the screen. Only brokers that fit are drawn."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kraftops.answers.cells import cells_of, columns_of
from kraftops.display.charts import sparkline
from kraftops.display.columns import Cell, Column, Styled
from kraftops.display.sizes import number_text
from kraftops.display.times import span_text
from kraftops_cli.cluster.broker_states import state_style
from kraftops_cli.cluster.description_fields import BROKER, ago_text
from kraftops_cli.cluster.watch.happenings import NAMES, Happening
from kraftops_cli.cluster.watch.state import ORDERS, ScreenState, shown_brokers, with_page
from kraftops_cli.cluster.watch.view import ReplicaRow, View
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import Table, table_text
from kraftops_terminal.widths import cut, width_of_text

_REPLICAS = (
    Column("QUORUM", justify="right"),
    Column("ROLE"),
    Column("LAG", justify="right"),
    Column("CAUGHT UP", priority=1),
    Column("FETCHED", priority=2),
    Column("END OFFSET", priority=3, justify="right"),
    Column("RELEASE", priority=4),
    Column("ADDRESS", priority=5),
)
_BROKERS = [field for field in BROKER if field.name != "directories"]
"""As in `describe`; the ids of directories would take all of a line."""
_KEYS = (
    ("q", "quit"),
    ("↵", "broker"),
    ("p", "problems"),
    ("c", "changes"),
    ("/", "filter"),
    ("?", "keys"),
)
_MORE_KEYS = (
    ("o", "operations"),
    ("↑↓", "choose"),
    ("s S", "sort"),
    ("r", "reverse"),
    ("Space", "pause"),
    ("Esc", "back"),
)
_PAGE_KEYS = (("Esc", "back"), ("/", "filter"), ("↑↓", "scroll"), *_KEYS[2:4], _KEYS[0])
_LEAST_BROKERS = 3
_TIME_WIDTH = 10
_COUNT_STYLES = {
    "under_replicated": "warning",
    "offline": "bad",
    "under_min_isr": "bad",
    "moving": "warning",
}


def frame(
    state: ScreenState, console: Console, size: tuple[int, int], *, now: int, has_keys: bool
) -> tuple[list[str], ScreenState]:
    """Return the lines of a frame, and the state with the number of brokers in it.

    Args:
        state: What is drawn.
        console: The terminal, for its width and colours.
        size: Columns and rows of the terminal.
        now: The time in ms.
        has_keys: Whether keys can be pressed.
    """
    columns, rows = size
    view = state.view
    head = [*_head(state, console, columns, now)]
    if view is None:
        return _filled(head, rows - 1, [_foot(state, console, columns, has_keys=has_keys)]), state
    if state.subject is not None:
        return _page_frame(state, console, size, head, has_keys=has_keys)
    happenings = _happening_lines(state.happenings, console, columns, min(max(rows // 8, 2), 12))
    counts = [*_counts(state, view, console, columns)]
    if view.operations:
        text = f"under way: {', '.join(map(escaped, view.operations))}"
        counts.append(console.painted(cut(text, columns), "warning"))
    replicas = _replica_lines(view, console, max(rows // 8, 3))
    body = ["", *counts, "", *replicas, ""]
    page = rows - len(head) - len(body) - len(happenings) - 2  # the header, and the foot
    if page < _LEAST_BROKERS:
        page, happenings = page + len(happenings), []
    if page < _LEAST_BROKERS:
        page, body = page + len(body) - 1, [""]
    state = with_page(state, max(page, 0))
    above = [*head, *body, *_broker_lines(state, view, console, has_keys=has_keys)]
    foot = [*happenings, _foot(state, console, columns, has_keys=has_keys)]
    return _filled(above, rows - len(foot), foot), state


def _page_frame(
    state: ScreenState,
    console: Console,
    size: tuple[int, int],
    head: list[str],
    *,
    has_keys: bool,
) -> tuple[list[str], ScreenState]:
    """Return the frame of a page; the first line of its table scrolls with the others."""
    columns, rows = size
    assert state.subject is not None
    title = console.painted(cut(state.subject.title, columns), "header")
    lines = [] if state.answer else [console.painted("it is asked …", "muted")]
    for part in state.answer.parts if state.answer else ():
        text = cut(escaped(part), columns) if isinstance(part, str) else table_text(console, part)
        lines += text.splitlines() or [""]
    words = state.filter.casefold().split()
    lines = [line for line in lines if all(word in line.casefold() for word in words)]
    page = max(rows - len(head) - 3, 1)  # the title, an empty line above it, and the foot
    state = with_page(state, page, len(lines))
    above = [*head, "", title, *lines[state.top : state.top + page]]
    foot = [_foot(state, console, columns, has_keys=has_keys)]
    return _filled(above, rows - 1, foot), state


def _filled(lines: Sequence[str], height: int, foot: Sequence[str]) -> list[str]:
    """Return lines, cut or filled up to a height, above those of the foot."""
    return [*lines[:height], *[""] * (height - len(lines)), *foot]


def _head(state: ScreenState, console: Console, columns: int, now: int) -> Iterator[str]:
    """Yield a line about the cluster, and one about its nodes or about what is wrong."""
    view = state.view
    title = "asking the cluster …" if view is None else _title(view, columns)
    yield console.painted(cut(title, columns), "title")
    if state.trouble is not None:
        span = span_text(max(now - state.trouble.time, 0) // 1000 * 1000)
        text = f"no answer for {span}: {escaped(state.trouble.message)}"
        yield console.painted(cut(text, columns), "bad")
    elif state.is_paused:
        yield console.painted("paused: Space goes on", "warning")
    elif view is not None and view.missing is not None:
        yield console.painted(cut(escaped(view.missing), columns), "bad")
    else:
        yield "" if view is None else _broker_summary(view, console)


def _title(view: View, columns: int) -> str:
    """Return the facts about a cluster that fit into one line, the most important ones first."""
    facts = [
        f"cluster {escaped(view.cluster_id or '-')}",
        f"{_clock(view.time)} UTC",
        "no leader is known" if view.leader is None else f"leader {view.leader}",
        *([] if view.epoch is None else [f"epoch {view.epoch}"]),
        *([] if view.snapshot_lag is None else [_snapshot_text(view.snapshot_lag)]),
        *(f"{escaped(name)} {escaped(level)}" for name, level in view.features),
    ]
    while len(facts) > 1 and width_of_text(", ".join(facts)) > columns:
        facts.pop()
    return ", ".join(facts)


def _snapshot_text(lag: int) -> str:
    return f"snapshot {number_text(lag)} record{'' if lag == 1 else 's'} behind"


def _broker_summary(view: View, console: Console) -> str:
    if view.brokers is None:
        return "brokers are not known"
    states = dict.fromkeys(sorted(row.state for row in view.brokers), 0)
    for row in view.brokers:
        states[row.state] += 1
    parts = [
        console.painted(f"{number_text(count)} {escaped(state)}", state_style(state) or "value")
        for state, count in states.items()
    ]
    return ", ".join(["brokers", *parts]).replace(",", ":", 1) if parts else "no brokers"


def _counts(state: ScreenState, view: View, console: Console, columns: int) -> Iterator[str]:
    """Yield the counts of partitions, each with its history."""
    counts = view.counts
    if counts is None:
        yield console.painted("partitions -", "header")
        return
    assumed = " (a min ISR of 1 is assumed)" if view.is_min_isr_assumed else ""
    head = f"{number_text(counts.partitions)} partitions"
    yield console.painted(head, "header") + console.painted(assumed, "muted")
    name_width = max(map(len, NAMES.values()))
    numbers = {name: number_text(getattr(counts, name)) for name in NAMES}
    number_width = max(map(len, numbers.values()))
    room = columns - name_width - number_width - 4
    for name, text in NAMES.items():
        style = _COUNT_STYLES[name] if getattr(counts, name) else "good"
        past = [None if each is None else int(getattr(each, name)) for each in state.counts]
        number = console.painted(f"{numbers[name]:>{number_width}}", style)
        yield f"{text:<{name_width}}  {number}  {sparkline(past, room)}"


def _replica_lines(view: View, console: Console, most: int) -> list[str]:
    if view.replicas is None:
        return [console.painted("quorum -", "header")]
    rows = sorted(view.replicas, key=lambda row: (row.role == "observer", row.id))
    table = Table(_REPLICAS, [*map(_replica_cells, rows[:most])], names_missing=False)
    lines = table_text(console, table).splitlines()
    if rows[most:]:
        lines[-1] = console.painted(f"and {number_text(len(rows) - most + 1)} more", "muted")
    return lines


def _replica_cells(row: ReplicaRow) -> list[Cell]:
    return [
        str(row.id),
        Styled(row.role, "name" if row.role == "leader" else "value"),
        row.lag,
        _ago(row.behind_ms),
        _ago(row.fetched_ms),
        row.end_offset,
        row.release,
        row.address,
    ]


def _broker_lines(state: ScreenState, view: View, console: Console, *, has_keys: bool) -> list[str]:
    if view.brokers is None:
        return [console.painted("brokers -", "header")]
    shown = shown_brokers(state)[state.top : state.top + state.page]
    if not shown:
        text = "no brokers fit the filter or the options" if view.brokers else "no brokers"
        return [console.painted(text, "muted")]
    order = ORDERS[state.order]
    is_down = order.is_largest_first is not state.is_reversed
    mark = "▼" if is_down else "▲"
    columns = [
        replace(
            column,
            title=f"{column.title}{mark if column.title.casefold() == order.name else ''}",
            is_folded=False,  # a broker has one line, so that they can be scrolled
        )
        for column in columns_of(_BROKERS)
    ]
    rows = [cells_of(_BROKERS, row) for row in shown]
    if has_keys:
        chosen = state.cursor - state.top
        rows[chosen] = [Styled(f"> {shown[chosen].id}", "name"), *rows[chosen][1:]]
    table = Table(columns, rows, names_missing=False)
    return table_text(console, table).splitlines()


def _ago(age: int | None) -> str | None:
    return None if age is None else ago_text(age)


def _happening_lines(
    happenings: Sequence[Happening], console: Console, columns: int, most: int
) -> list[str]:
    """Return the newest, the last one last, as *most* lines below an empty one."""
    lines = [
        f"{console.painted(_clock(each.time), 'muted')}  "
        + console.painted(cut(escaped(each.text), columns - _TIME_WIDTH), each.style or "value")
        for each in happenings[-most:]
    ] or [console.painted("nothing has happened yet", "muted")]
    return ["", *lines, *[""] * (most - len(lines))]


def _foot(state: ScreenState, console: Console, columns: int, *, has_keys: bool) -> str:
    """Return the line of keys, or of the filter that is typed."""
    if state.is_typing:
        hint = "  Enter keeps it, Escape forgets it"
        text = cut(f"filter: {escaped(state.filter)}█", columns)
        return text + console.painted(cut(hint, columns - width_of_text(text)), "muted")
    if not has_keys:
        return console.painted("Ctrl-C quits", "muted")
    place = cut(_place(state), columns)
    parts, room = [], columns - width_of_text(place)
    keys = _MORE_KEYS if state.has_help else _KEYS if state.subject is None else _PAGE_KEYS
    for key, word in keys:
        room -= len(key) + len(word) + 3
        if room > 0:
            parts.append(f"{console.painted(key, 'name')} {word}  ")
    return "".join(parts) + console.painted(place, "muted")


def _place(state: ScreenState) -> str:
    """Return which of the brokers or lines are drawn, and the filter."""
    chosen = f"filter: {escaped(state.filter)}" if state.filter else ""
    count = len(shown_brokers(state)) if state.subject is None else state.lines
    if count <= state.page:
        return chosen
    last = min(state.top + state.page, count)
    place = f"{number_text(state.top + 1)}-{number_text(last)} of {number_text(count)}"
    return f"{place}  {chosen}".rstrip()


def _clock(time_ms: int) -> str:
    return time.strftime("%H:%M:%S", time.gmtime(time_ms / 1000))
