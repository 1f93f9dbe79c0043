"""`kafka-cluster rebalance`: load all brokers evenly, as after new ones have come."""

from kraftops.display.sizes import many
from kraftops.placement.plan import plan_balance
from kraftops.placement.reassignment_json import checked_plan, moves_of_file
from kraftops.reassign.marks import REBALANCE
from kraftops.reassign.moves import refuse_others
from kraftops_cli.cluster.moving.access import Work, cluster_command, limits_of
from kraftops_cli.cluster.moving.plans import carry_out, shown_plan
from kraftops_cli.cluster.options import PlanOptions


@cluster_command(PlanOptions, answer="kraftops_cli.cluster.moving.plans:PLAN")
def rebalance(work: Work, options: PlanOptions) -> int:
    access = work.access
    placement, disks = work.look()
    if options.plan is None:
        planned = plan_balance(placement, limits_of(placement, options, disks)).moves
    else:
        planned = moves_of_file(placement, checked_plan(options.plan, placement))
    moves = shown_plan(work, placement, planned, disks, options).moves
    if options.dry_run:
        return 0
    access.refuse_hidden_topics()
    if all(mark.kind != REBALANCE for mark in access.patiently(access.marks).values()):
        refuse_others(placement.moving)
    by_partition = {move.partition: move for move in moves}
    question = "rebalance", f"move {many(len(moves), 'partition')}"
    return carry_out(work, options, moves, lambda now: moves_of_file(now, by_partition), question)
