"""`kafka-cluster decommission cancel`, which also moves back what a plan has moved."""

from __future__ import annotations

from kraftops.errors import RefusedError
from kraftops.placement.placement import Placement, TopicPartition, shown
from kraftops.placement.plan import Move
from kraftops.placement.reassignment_json import read_plan
from kraftops.reassign.decommission import is_leaving
from kraftops.reassign.marks import DECOMMISSION
from kraftops.reassign.moves import Mover, run_moves
from kraftops.reassign.operations import Operation
from kraftops.reassign.steering import cancel_operation
from kraftops_cli.cluster.moving.access import Work, check_registered, move_options
from kraftops_cli.cluster.moving.operations_output import print_steered
from kraftops_cli.cluster.options import PlanOptions
from kraftops_terminal.escaping import escaped


def cancel(work: Work, brokers: frozenset[int], plan: PlanOptions) -> int:
    """End reassignments in flight, remove throttles and cordons; move back what a plan moved.

    Raises:
        RefusedError: other replicas have been moved before, and no plan tells which.
    """
    access = work.access
    placement = access.patiently(access.placement)
    check_registered(placement, brokers)
    word = ",".join(map(str, sorted(brokers)))
    work.confirm(word, f"cancel the decommission of {word}")
    planned = None if plan.plan is None else read_plan(plan.plan)
    printer = work.printer()
    options = move_options(plan)
    marks = access.patiently(access.marks).values()
    begun = [mark for mark in marks if mark.is_same(DECOMMISSION, brokers) and mark.brokers]
    before = None
    if begun:
        before = access.patiently(lambda: access.placement_before(begun[0]))
    operation = Operation(
        DECOMMISSION,
        tuple(sorted(brokers)),
        is_ours=True,
        moving={
            partition: replicas
            for partition, replicas in placement.moving.items()
            if is_leaving(replicas, brokers)
        },
        cordoned=tuple(sorted(brokers)),
    )
    steered = cancel_operation(access, operation)
    Mover(access, options, printer, DECOMMISSION).clear()
    back: list[TopicPartition] = []
    if planned is not None:

        def left(now: Placement) -> list[Move]:
            return [
                Move(partition, replicas.target, wanted.before)
                for partition, wanted in sorted(planned.items())
                if wanted.before
                and (replicas := now.partitions.get(partition)) is not None
                and not replicas.is_moving
                and replicas.target == wanted.after
            ]

        back = [move.partition for move in left(placement)]
        run_moves(access, options, printer, left, DECOMMISSION)
    work.answer(
        {
            "changed": bool(steered.cancelled or back),
            "cancelledPartitions": [*map(str, steered.cancelled)],
            "movedBackPartitions": [*map(str, back)],
        },
        f"cancelled in flight: {len(steered.cancelled)}, moved back: {len(back)}\n",
    )
    code = print_steered(work, [steered], "is cancelled") if steered.refused else 0
    if planned is None and begun:
        _refuse_moved(work, before, brokers)
    return code


def _refuse_moved(work: Work, before: Placement | None, brokers: frozenset[int]) -> None:
    """Refuse to end as if all was undone, if replicas have been moved away from brokers.

    Raises:
        RefusedError: some have, or that is unknown.
    """
    if before is None:
        raise RefusedError(
            "replicas that have been moved stay where they are; it is not known which these are",
            hint="cancel --plan FILE moves them back, if --dry-run had printed that plan",
        )
    now = work.access.patiently(work.access.settled)
    moved = [
        partition
        for partition, replicas in before.on(brokers)
        if (there := now.partitions.get(partition)) is not None
        and brokers.isdisjoint(there.target)
        and not brokers.isdisjoint(replicas.target)
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
        hint="cancel --plan FILE moves them back, if --dry-run had printed that plan",
        movedPartitions=[*map(str, moved)],
    )
