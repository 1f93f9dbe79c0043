"""`kafka-cluster rebalance`: load all brokers evenly, as after new ones have come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftops_cli.cluster.options import PlanOptions, subcommand
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraftops.placement.disks import Disks
    from kraftops.placement.placement import Placement
    from kraftops.placement.plan import Move
    from kraftops_cli.cluster.moving.access import Work

EXAMPLES = (
    ("look at the plan", "kafka-cluster rebalance -b b:9092 --dry-run"),
    (
        "carry it out, with 50 MiB a second",
        "kafka-cluster rebalance -b b:9092 --throttle 50M --yes",
    ),
)


@subcommand(
    PlanOptions,
    answer="kraftops_cli.cluster.moving.plan_output:PLAN",
    examples=EXAMPLES,
    help="""\
Give all brokers as many bytes, and then as many replicas, by as few copies as possible, as after
new brokers have come.

The plan is shown and must be confirmed. It keeps the replicas of a partition in as many racks as
they can be in. Bytes within 5 % of the mean are even enough. If it is killed, run it again: it goes
on beside what is in flight.""",
)
def rebalance(terminal: Terminal, options: PlanOptions) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops_cli.cluster.moving.access import check_plan, work_of

    work = work_of(terminal, options)
    check_plan(options)
    with work.access:
        work.access.check()
        placement = work.access.patiently(work.access.placement_for_plan)
        return _run(work, placement, options)


def _moves(placement: Placement, plan: PlanOptions, disks: Disks) -> Sequence[Move]:
    from kraftops.placement.plan import plan_balance
    from kraftops.placement.reassignment_json import checked_plan, moves_of_file
    from kraftops_cli.cluster.moving.access import limits_of

    if plan.plan is not None:
        return moves_of_file(placement, checked_plan(plan.plan, placement))
    return plan_balance(placement, limits_of(placement, plan, disks)).moves


def _run(work: Work, placement: Placement, plan: PlanOptions) -> int:
    """Carry a plan out.

    Raises:
        RefusedError: reassignments are in flight, replicas may be hidden, or nobody agrees.
    """
    from kraftops.display.sizes import many
    from kraftops.placement.reassignment_json import moves_of_file, planned_replicas
    from kraftops.reassign.disks import disks_of
    from kraftops.reassign.marks import REBALANCE
    from kraftops.reassign.moves import refuse_others
    from kraftops_cli.cluster.moving.new_plan import carry_out, shown_plan

    access = work.access
    disks = disks_of(access, placement)
    moves = shown_plan(work, placement, _moves(placement, plan, disks), disks, plan).moves
    if plan.dry_run:
        return 0
    access.refuse_hidden_topics()
    if all(mark.kind != REBALANCE for mark in access.patiently(access.marks).values()):
        refuse_others(placement.moving)
    planned = planned_replicas(moves)
    question = "rebalance", f"move {many(len(moves), 'partition')}"
    return carry_out(work, plan, moves, lambda now: moves_of_file(now, planned), question)
