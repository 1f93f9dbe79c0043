"""Plans as text: what each broker has before and after, and the moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftops.display.columns import Cell, Column, Styled, folded, number
from kraftops.placement.placement import Placement, shown
from kraftops.placement.plan import Move, counts_after, fewer_racks
from kraftops.placement.reassignment_json import plan_json
from kraftops_cli.cluster.broker_states import state_style
from kraftops_cli.cluster.moving.access import Work
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import Table, table_text

_BROKERS = (
    number("BROKER"),
    folded("RACK", 2),
    Column("STATE", 1),
    number("REPLICAS"),
    number("AFTER"),
)
_MOVES = (folded("PARTITION"), folded("REPLICAS"), folded("AFTER"))


def print_plan(work: Work, command: str, placement: Placement, moves: Sequence[Move]) -> None:
    """Print all of a plan; its JSON is a plan for --plan, and for kafka-reassign-partitions."""
    if work.is_json:
        work.terminal.answer(command, plan_json(moves))
        return
    print_summary(work, placement, moves)
    rows = ([str(each.partition), _ids(each.before), _ids(each.after)] for each in moves)
    work.terminal.write(table_text(work.terminal.console, Table(_MOVES, rows)))


def print_summary(work: Work, placement: Placement, moves: Sequence[Move]) -> None:
    """Print what a plan does to each broker, unless the output is JSON."""
    if not work.is_json:
        work.terminal.write("".join(_summary_lines(placement, moves, work.terminal.console)))
        work.terminal.flush()


def _summary_lines(placement: Placement, moves: Sequence[Move], console: Console) -> Iterator[str]:
    """Yield the summary of a plan."""
    before, after = placement.replica_counts(), counts_after(placement, moves)
    rows: list[list[Cell]] = [
        [
            str(broker),
            place.rack,
            state_cell("fenced" if place.is_fenced else "unfenced"),
            str(before[broker]),
            str(after[broker]),
        ]
        for broker, place in placement.brokers.items()
    ]
    yield table_text(console, Table(_BROKERS, rows))
    copies = sum(len(move.added) for move in moves)
    yield f"partitions to move: {len(moves)}, replicas to copy: {copies}\n"
    worse = fewer_racks(placement, moves)
    if worse:
        yield f"in fewer racks than now: {escaped(shown(worse))}\n"


def state_cell(state: str) -> Styled:
    """Return the cell of a broker's state."""
    return Styled(state, state_style(state))


def _ids(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))
