"""The steps that new plans have in common before they are carried out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kraftops.errors import RefusedError
from kraftops.placement.disks import Disks
from kraftops.placement.effects import Effects, effects_of
from kraftops.placement.placement import Placement, TopicPartition, names, shown
from kraftops.placement.plan import Move
from kraftops.reassign.disks import check_room
from kraftops_cli.cluster.moving.access import Work
from kraftops_cli.cluster.moving.options import PlanOptions
from kraftops_cli.cluster.moving.plan_output import print_plan


def shown_plan(
    work: Work, placement: Placement, moves: Sequence[Move], disks: Disks, options: PlanOptions
) -> Effects:
    """Print a plan, all of it for --plan-only, and return its effects.

    Raises:
        RefusedError: a log directory has too little room.
    """
    effects = effects_of(placement, moves, disks)
    if options.check_disks:
        check_room(effects.moves, effects.shortages, disks)
    print_plan(work, work.terminal.command, effects, is_whole=options.plan_only)
    return effects


def refuse_others(placement: Placement, own: Collection[TopicPartition]) -> None:
    """Refuse to begin while others move replicas.

    Raises:
        RefusedError: a partition that is not among our *own* is in flight.
    """
    others = [partition for partition in placement.moving if partition not in own]
    if others:
        raise RefusedError(
            f"other reassignments are in flight: {shown(others)}",
            hint="kafka-cluster wait --until no-reassignments waits for their end",
            partitions=names(others),
        )
