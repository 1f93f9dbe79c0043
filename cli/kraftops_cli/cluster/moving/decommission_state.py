"""`kafka-cluster decommission status` and `cancel`."""

from __future__ import annotations

from kraftops.display.columns import Cell, Column, number
from kraftops.errors import RefusedError
from kraftops.placement.placement import Placement, TopicPartition, shown
from kraftops.placement.plan import Move
from kraftops.placement.reassignment_json import read_plan
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.cordons import BEGUN, leaving_brokers, uncordon
from kraftops.reassign.decommission import is_leaving
from kraftops.reassign.moves import Mover, run_moves
from kraftops.wire.admin.replicas import NO_REASSIGNMENT_IN_PROGRESS, alter_reassignments
from kraftops_cli.cluster.moving.access import Work, check_registered, move_options
from kraftops_cli.cluster.moving.confirm import confirm
from kraftops_cli.cluster.moving.options import PlanOptions
from kraftops_cli.cluster.moving.plan_output import state_cell
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import Table, table_text

_BROKERS = (
    number("BROKER"),
    Column("STATE"),
    number("REPLICAS"),
    number("LEADERS", 2),
    number("MOVING", 1),
    Column("CORDONED", 3),
)


def status(work: Work, brokers: frozenset[int]) -> int:
    """Print what brokers still have, by default all that are leaving; return the exit code."""
    access = work.access
    access.check()
    placement = access.patiently(access.placement)
    leaving = access.patiently(lambda: leaving_brokers(access, placement))
    shown_brokers = brokers or leaving.begun.union(
        *(found.removing for found in placement.moving.values())
    )
    rows = [
        _row(placement, broker, is_cordoned=broker in leaving.cordoned)
        for broker in sorted(shown_brokers)
    ]
    if work.is_json:
        names = ("id", "state", "replicas", "leaders", "moving", "isCordoned")
        found = [dict(zip(names, row, strict=True)) for row in rows]
        work.terminal.answer("decommission", {"brokers": found})
    else:
        cells: list[list[Cell]] = [
            [str(broker), state_cell(state), *map(str, counts), "yes" if is_cordoned else "no"]
            for broker, state, *counts, is_cordoned in rows
        ]
        text = table_text(work.terminal.console, Table(_BROKERS, cells))
        work.terminal.write(text or "no brokers are leaving\n")
    return 0


def _row(
    placement: Placement, broker: int, *, is_cordoned: bool
) -> tuple[int, str, int, int, int, bool]:
    place = placement.brokers.get(broker)
    state = "gone" if place is None else "fenced" if place.is_fenced else "unfenced"
    held = [found for _, found in placement.on(frozenset({broker}))]
    led = sum(found.leader == broker for found in held)
    moving = sum(broker in found.removing for found in held)
    return broker, state, len(held), led, moving, is_cordoned


def cancel(work: Work, brokers: frozenset[int], plan: PlanOptions) -> int:
    """End reassignments in flight, remove throttles and cordons; move back what a plan moved.

    Raises:
        RefusedError: there is no plan, and other replicas have been moved before.
    """
    access = work.access
    access.check()
    placement = access.patiently(access.placement)
    check_registered(placement, brokers)
    word = ",".join(map(str, sorted(brokers)))
    confirm(word, f"cancel the decommission of {word}", yes=work.yes)
    planned = None if plan.plan is None else read_plan(plan.plan)
    printer = work.printer("decommission")
    options = move_options(plan)
    begun = access.patiently(lambda: leaving_brokers(access, placement)).begun & brokers
    before = access.patiently(lambda: access.placement_before(begun, BEGUN))
    ended = _cancel_moving(access, placement, brokers)
    access.patiently(lambda: uncordon(access, access.placement(), brokers))
    Mover(access, options, printer).clear()
    back: list[TopicPartition] = []
    if planned is not None:

        def left(now: Placement) -> list[Move]:
            return [
                Move(partition, found.target, wanted.previous)
                for partition, wanted in sorted(planned.items())
                if wanted.previous is not None
                and (found := now.partitions.get(partition)) is not None
                and not found.is_moving
                and found.target == wanted.replicas
            ]

        back = [move.partition for move in left(placement)]
        run_moves(access, options, printer, left)
    if work.is_json:
        fields = {
            "changed": bool(ended or back),
            "cancelledPartitions": [*map(str, ended)],
            "movedBackPartitions": [*map(str, back)],
        }
        work.terminal.answer("decommission", fields)
    else:
        work.terminal.write(f"cancelled in flight: {len(ended)}, moved back: {len(back)}\n")
    if planned is None and begun:
        _refuse_moved(work, before, brokers)
    return 0


def _refuse_moved(work: Work, before: Placement | None, brokers: frozenset[int]) -> None:
    """Refuse to end as if all was undone, if replicas have been moved away from brokers.

    Raises:
        RefusedError: they have, or nobody knows.
    """
    if before is None:
        raise RefusedError(
            "replicas that have been moved stay where they are; it is not known which these are",
            hint="cancel --plan FILE moves them back, if --plan-only had printed that plan",
        )
    now = work.access.patiently(work.access.settled)
    moved = [
        partition
        for partition, found in before.on(brokers)
        if (there := now.partitions.get(partition)) is not None
        and brokers.isdisjoint(there.target)
        and not brokers.isdisjoint(found.target)
        and not there.is_moving
    ]
    if not moved:
        return
    if not work.is_json:
        work.terminal.write(
            "".join(f"{escaped(str(partition))}: stays where it is\n" for partition in moved)
        )
    raise RefusedError(
        f"these have been moved, and stay where they are: {shown(moved)}",
        hint="cancel --plan FILE moves them back, if --plan-only had printed that plan",
        movedPartitions=[*map(str, moved)],
    )


def _cancel_moving(
    access: ClusterAccess, placement: Placement, brokers: frozenset[int]
) -> list[TopicPartition]:
    """Cancel the reassignments that take partitions off brokers; return the partitions.

    Raises:
        RefusedError: Kafka refuses to cancel one.
    """
    wanted = [
        partition for partition, found in placement.moving.items() if is_leaving(found, brokers)
    ]
    if not wanted:
        return []
    refused = access.patiently(
        lambda: access.ask(
            lambda connection: alter_reassignments(connection, dict.fromkeys(wanted))
        )
    )
    refused = {
        partition: each
        for partition, each in refused.items()
        if each.code != NO_REASSIGNMENT_IN_PROGRESS
    }
    if refused:
        message = next(iter(refused.values())).message
        raise RefusedError(f"reassignments cannot be cancelled: {shown(refused)}: {message}")
    return wanted
