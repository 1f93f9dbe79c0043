"""Plans as text: what each broker has before and after, and the moves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kraftops.placement.placement import Placement, shown
from kraftops.placement.plan import Move, counts_after, fewer_racks
from kraftops.placement.reassignment_json import plan_json
from kraftops_cli.cluster.moving.access import Work
from kraftops_cli.terminal.tables import printable_table
from kraftops_terminal.escaping import escaped

_HEADER = ("BROKER", "RACK", "STATE", "REPLICAS", "AFTER")


def print_plan(work: Work, command: str, placement: Placement, moves: Sequence[Move]) -> None:
    """Print all of a plan; its JSON is a plan for --plan, and for kafka-reassign-partitions."""
    if work.is_json:
        work.terminal.json(command, plan_json(moves))
        return
    print_summary(work, placement, moves)
    work.terminal.write("".join(_move_lines(moves)))


def print_summary(work: Work, placement: Placement, moves: Sequence[Move]) -> None:
    """Print what a plan does to each broker, unless the output is JSON."""
    if not work.is_json:
        work.terminal.write("".join(_summary_lines(placement, moves)))
        work.terminal.flush()


def _summary_lines(placement: Placement, moves: Sequence[Move]) -> Iterator[str]:
    """Yield the summary of a plan."""
    before, after = placement.replica_counts(), counts_after(placement, moves)
    rows = [
        [
            broker,
            place.rack,
            "fenced" if place.is_fenced else "unfenced",
            before[broker],
            after[broker],
        ]
        for broker, place in placement.brokers.items()
    ]
    yield printable_table([_HEADER, *rows])
    copies = sum(len(move.added) for move in moves)
    yield f"partitions to move: {len(moves)}, replicas to copy: {copies}\n"
    worse = fewer_racks(placement, moves)
    if worse:
        yield f"in fewer racks than now: {escaped(shown(worse))}\n"


def _move_lines(moves: Collection[Move]) -> Iterator[str]:
    """Yield a line for each partition."""
    for partition, before, after in moves:
        yield f"{escaped(str(partition))}: {_ids(before)} -> {_ids(after)}\n"


def _ids(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))
