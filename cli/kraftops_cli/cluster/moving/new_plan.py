"""The steps that new plans have in common: shown, confirmed, carried out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kraftops.placement.disks import Disks
from kraftops.placement.effects import Effects, effects_of
from kraftops.placement.placement import Placement
from kraftops.placement.plan import Move
from kraftops.reassign.disks import check_room
from kraftops.reassign.moves import run_moves
from kraftops_cli.cluster.moving.access import Work, move_options
from kraftops_cli.cluster.moving.plan_output import print_plan
from kraftops_cli.cluster.options import NewPlanOptions


def shown_plan(
    work: Work, placement: Placement, moves: Sequence[Move], disks: Disks, options: NewPlanOptions
) -> Effects:
    """Print a plan, all of it for --dry-run, and return its effects.

    Raises:
        RefusedError: a log directory has too little room.
    """
    effects = effects_of(placement, moves, disks)
    if options.check_disks:
        check_room(effects.moves, effects.shortages, disks)
    if moves or options.dry_run:
        print_plan(work, effects, is_whole=options.dry_run)
    return effects


def carry_out(
    work: Work,
    options: NewPlanOptions,
    moves: Sequence[Move],
    left: Callable[[Placement], Sequence[Move]],
    question: tuple[str, str],
) -> int:
    """Carry a plan out when a person agrees, and print how many partitions it was about.

    Args:
        work: the cluster; the operation has the name of the command.
        options: of the moves.
        moves: all of the plan.
        left: returns those that a placement still lacks.
        question: the word to type, and what that does.

    Raises:
        KraftopsError: it cannot go on, or not in time.
    """
    if moves:
        work.confirm(*question)
    run_moves(work.access, move_options(options), work.printer(), left, work.terminal.command)
    work.answer({"changed": bool(moves)}, f"Moved partitions: {len(moves)}.\n")
    return 0
