"""`kafka-cluster replication`: give topics another number of replicas."""

from dataclasses import dataclass

from kraftops.display.sizes import many
from kraftops.errors import RefusedError
from kraftops.placement.placement import names, shown
from kraftops.placement.plan import plan_factor
from kraftops.reassign.moves import refuse_others
from kraftops_cli.cluster.moving.access import Work, check_topics, cluster_command, limits_of
from kraftops_cli.cluster.moving.plans import carry_out, shown_plan
from kraftops_cli.cluster.options import NewPlanOptions, names_option
from kraftops_cli.syntax.option_fields import option
from kraftops_cli.syntax.values import Number

_MOST_REPLICAS = 1000  # more than any cluster has brokers


@dataclass(frozen=True, kw_only=True)
class ReplicationOptions(NewPlanOptions):
    """The values of the options."""

    topics: tuple[str, ...] = names_option(
        "--topic", "The topic; may be given more than once.", required=True
    )
    factor: int = option(
        "--factor N",
        type=Number(_MOST_REPLICAS, minimum=1),
        required=True,
        help="The number of replicas of each partition.",
    )


@cluster_command(ReplicationOptions, answer="kraftops_cli.cluster.moving.plans:PLAN")
def replication(work: Work, options: ReplicationOptions) -> int:
    access, factor = work.access, options.factor
    placement, disks = work.look()
    check_topics(placement, options.topics)
    partitions = {name for name in placement.partitions if name.topic in options.topics}
    limits = limits_of(placement, options, disks)
    plan = plan_factor(placement, partitions, factor, limits)
    if plan.stuck:
        raise RefusedError(
            f"too few brokers for {many(factor, 'replica')} of {shown(plan.stuck)}",
            hint="add brokers, or give more of them to --to",
            partitions=names(plan.stuck),
        )
    shown_plan(work, placement, plan.moves, disks, options)
    if options.dry_run:
        return 0
    leaderless = [
        move.partition for move in plan.moves if placement.partitions[move.partition].leader < 0
    ]
    if leaderless:
        raise RefusedError(
            f"partitions without a leader cannot be changed: {shown(leaderless)}",
            hint="kafka-cluster problems has the cause",
            partitions=names(leaderless),
        )
    access.refuse_hidden_topics()
    refuse_others(placement.moving.keys() - partitions)
    count = many(len(plan.moves), "partition")
    return carry_out(
        work,
        options,
        plan.moves,
        lambda now: plan_factor(now, now.partitions.keys() & partitions, factor, limits).moves,
        (str(factor), f"give {count} {many(factor, 'replica')}"),
    )
