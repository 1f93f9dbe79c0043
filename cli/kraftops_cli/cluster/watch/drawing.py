"""Drawing: the lines of a frame for a state of the screen. Only brokers that fit are drawn."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kraftops.answers.cells import cells_of, columns_of
from kraftops.display.charts import sparkline
from kraftops.display.columns import Cell, Column, Styled
from kraftops.display.sizes import number_text
from kraftops.display.times import span_text
from kraftops_cli.cluster.broker_states import state_cell
from kraftops_cli.cluster.description import OBSERVER, ClusterDescription
from kraftops_cli.cluster.description_fields import BROKER, REPLICA, finalized_levels
from kraftops_cli.cluster.watch.happenings import TROUBLES, Happening
from kraftops_cli.cluster.watch.state import ORDERS, ScreenState, shown_brokers
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.live import PAGE_KEYS, Keys, foot, framed, page_lines, part_lines, placed
from kraftops_terminal.tables import Table, table_text
from kraftops_terminal.widths import cut, width_of_text

_MEMBERS = [field for field in REPLICA if field.name != "directoryId"]
_BROKERS = [field for field in BROKER if field.name != "directories"]
"""As in `describe`; the ids of directories would take all of a line."""
_KEYS: Keys = (("↵", "broker"), *PAGE_KEYS, ("s S", "sort"), ("r", "reverse"))
_LEAST_BROKERS = 3  # rows; on a lower screen, other parts are left out for them
_TIME_WIDTH = 10  # of HH:MM:SS and two blanks


def frame(
    state: ScreenState, console: Console, size: tuple[int, int], *, now: int, has_keys: bool
) -> tuple[list[str], ScreenState]:
    """Draw a frame; keys that page need the number of brokers that fit, which the state keeps.

    Args:
        state: What is drawn.
        console: The terminal, for its width and colours.
        size: Columns and rows of the terminal.
        now: The time in ms.
        has_keys: Whether keys can be pressed.
    """
    columns, rows = size
    cluster = state.description
    head = [*_head(state, console, columns, now)]
    keys = _KEYS if state.subject is None else PAGE_KEYS
    last = foot(state, console, columns, keys, has_keys=has_keys)
    if cluster is None:
        return framed(head, [last], rows), state
    if state.subject is not None:
        page = state.page if state.page and state.page.subject == state.subject else None
        answer = None if page is None else part_lines(console, columns, page.parts)
        lines, state = page_lines(state, console, (columns, rows - len(head) - 2), answer)
        last = foot(state, console, columns, keys, has_keys=has_keys)
        return framed([*head, "", *lines], [last], rows), state
    happenings = _happening_lines(state.happenings, console, columns, min(max(rows // 8, 2), 12))
    counts = [*_counts(state, cluster, console, columns)]
    if cluster.operations:
        names = [f"{operation.name} {operation.state}" for operation in cluster.operations]
        text = f"under way: {', '.join(map(escaped, names))}"
        counts.append(console.painted(cut(text, columns), "warning"))
    members = _member_lines(cluster, console, max(rows // 8, 3))
    body = ["", *counts, "", *members, ""]
    room = rows - len(head) - len(body) - len(happenings) - 2  # the header, and the foot
    if room < _LEAST_BROKERS:
        room, happenings = room + len(happenings), []
    if room < _LEAST_BROKERS:
        room, body = room + len(body) - 1, [""]
    state = placed(state, max(room, 0), len(shown_brokers(state)))
    above = [*head, *body, *_broker_lines(state, cluster, console, has_keys=has_keys)]
    last = foot(state, console, columns, keys, has_keys=has_keys)
    return framed(above, [*happenings, last], rows), state


def _head(state: ScreenState, console: Console, columns: int, now: int) -> Iterator[str]:
    """Yield the title line, and one with node counts, or with the trouble."""
    cluster = state.description
    title = "asking the cluster …" if cluster is None else _title(cluster, columns)
    yield console.painted(cut(title, columns), "title")
    if state.trouble is not None:
        span = span_text(max(now - state.trouble.time, 0) // 1000 * 1000)
        text = f"no answer for {span}: {escaped(state.trouble.message)}"
        yield console.painted(cut(text, columns), "bad")
    elif state.is_paused:
        yield console.painted("paused: Space goes on", "warning")
    elif cluster is not None and cluster.quorum_error:
        yield console.painted(cut(escaped(cluster.quorum_error.message), columns), "bad")
    else:
        yield "" if cluster is None else _broker_summary(cluster, console)


def _title(cluster: ClusterDescription, columns: int) -> str:
    """Put as many facts as fit into one line, the most important ones first."""
    lag = cluster.snapshot_lag
    facts = [
        f"cluster {escaped(cluster.cluster_id or '-')}",
        f"{_clock(cluster.now)} UTC",
        "no leader is known" if cluster.leader is None else f"leader {cluster.leader}",
        *([] if cluster.epoch is None else [f"epoch {cluster.epoch}"]),
        *([] if lag is None else [f"snapshot {number_text(lag)} record{'s' * (lag != 1)} behind"]),
        *(
            f"{escaped(name)} {escaped(level)}"
            for name, level in finalized_levels(cluster.features).items()
        ),
    ]
    while len(facts) > 1 and width_of_text(", ".join(facts)) > columns:
        facts.pop()
    return ", ".join(facts)


def _broker_summary(cluster: ClusterDescription, console: Console) -> str:
    if cluster.brokers is None:
        return "brokers are not known"
    states = dict.fromkeys(sorted(row.state for row in cluster.brokers), 0)
    for row in cluster.brokers:
        states[row.state] += 1
    parts = [
        console.painted(
            f"{number_text(count)} {escaped(state)}", state_cell(state).style or "value"
        )
        for state, count in states.items()
    ]
    return ", ".join(["brokers", *parts]).replace(",", ":", 1) if parts else "no brokers"


def _counts(
    state: ScreenState, cluster: ClusterDescription, console: Console, columns: int
) -> Iterator[str]:
    """Yield the counts of partitions, each with its history."""
    health = cluster.health
    if health is None:
        yield console.painted("partitions -", "header")
        return
    assumed = " (a min ISR of 1 is assumed)" if health.is_min_isr_assumed else ""
    head = f"{number_text(health.counts.partitions)} partitions"
    yield console.painted(head, "header") + console.painted(assumed, "muted")
    rows = [(getattr(health.counts, name), name, text, style) for name, text, style in TROUBLES]
    name_width = max(len(text) for _, _, text, _ in rows)
    number_width = max(len(number_text(count)) for count, *_ in rows)
    room = columns - name_width - number_width - 4
    for count, name, text, style in rows:
        past = [None if counts is None else int(getattr(counts, name)) for counts in state.counts]
        number = console.painted(
            f"{number_text(count):>{number_width}}", style if count else "good"
        )
        yield f"{text:<{name_width}}  {number}  {sparkline(past, room)}"


def _member_lines(cluster: ClusterDescription, console: Console, most: int) -> list[str]:
    if cluster.members is None:
        return [console.painted("quorum -", "header")]
    brokers = {broker.id for broker in cluster.brokers or ()}
    members = [
        member
        for member in cluster.members
        if member.role != OBSERVER or member.state.node_id not in brokers
    ]
    members.sort(key=lambda member: (member.role == OBSERVER, member.state.node_id))
    lines = _table_lines(console, columns_of(_MEMBERS), [
        cells_of(_MEMBERS, member) for member in members[:most]
    ])  # fmt: skip
    if members[most:]:
        lines[-1] = console.painted(f"and {number_text(len(members) - most + 1)} more", "muted")
    return lines


def _table_lines(
    console: Console, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]
) -> list[str]:
    columns = [replace(column, is_folded=False) for column in columns]
    return table_text(console, Table(columns, rows, names_missing=False)).splitlines()


def _broker_lines(
    state: ScreenState, cluster: ClusterDescription, console: Console, *, has_keys: bool
) -> list[str]:
    if cluster.brokers is None:
        return [console.painted("brokers -", "header")]
    shown = shown_brokers(state)[state.top : state.top + state.room]
    if not shown:
        text = "no brokers fit the filter or the options" if cluster.brokers else "no brokers"
        return [console.painted(text, "muted")]
    order = ORDERS[state.order]
    is_down = order.is_largest_first is not state.is_reversed
    mark = "▼" if is_down else "▲"
    columns = [
        replace(column, title=f"{column.title}{mark}")
        if column.title.casefold() == order.name
        else column
        for column in columns_of(_BROKERS)
    ]
    rows = [cells_of(_BROKERS, row) for row in shown]
    if has_keys:
        chosen = state.cursor - state.top
        rows[chosen] = [Styled(f"> {shown[chosen].id}", "name"), *rows[chosen][1:]]
    return _table_lines(console, columns, rows)


def _happening_lines(
    happenings: Sequence[Happening], console: Console, columns: int, most: int
) -> list[str]:
    """Draw the newest *most*, the last one last, below an empty line."""
    lines = [
        f"{console.painted(_clock(happening.time), 'muted')}  "
        + console.painted(
            cut(escaped(happening.text), columns - _TIME_WIDTH), happening.style or "value"
        )
        for happening in happenings[-most:]
    ] or [console.painted("nothing has happened yet", "muted")]
    return ["", *lines, *[""] * (most - len(lines))]


def _clock(time_ms: int) -> str:
    return time.strftime("%H:%M:%S", time.gmtime(time_ms / 1000))
