"""`kafka-cluster drain`: move leaders away from brokers, for a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kraftops_cli.cluster.moving.options import (
    ALLOW_SINGLE_REPLICA,
    YES,
    access_options,
    ids_option,
    moving_syntax,
)
from kraftops_cli.syntax.command import ToolCommand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraftops.placement.plan import Move

EXAMPLES = (
    ("before a restart", "kafka-cluster drain -b b:9092 --id 103 --save leaders.json"),
    ("after it", "kafka-cluster undrain -b b:9092 --plan leaders.json"),
)


@click.command(
    cls=ToolCommand,
    syntax=moving_syntax("save"),
    name="drain",
    examples=EXAMPLES,
    help="""\
Have brokers lead no partitions: their replicas come last in the lists, and others are elected.

No data is moved: the sets of replicas stay. --save keeps the order before, for `undrain`.
Partitions that nobody else can lead are listed; the exit code is then 2, unless they have a single
replica and --allow-single-replica is given.""",
)
@access_options
@ids_option()
@click.option(
    "--save",
    metavar="FILE",
    required=True,
    help="Keep the order before in this file, for undrain; a second run adds to it.",
)
@ALLOW_SINGLE_REPLICA
@YES
@click.pass_context
def drain(
    context: click.Context,
    /,
    form: str,
    ids: tuple[tuple[int, ...], ...],
    *,
    save: str,
    allow_single_replica: bool,
    **options: Any,
) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops.display.sizes import many
    from kraftops.placement.leaders import plan_drain
    from kraftops.reassign.leadership import change_leaders
    from kraftops.reassign.marks import DRAIN, Mark, new_author
    from kraftops_cli.cluster.moving.access import check_registered, flat, work_of
    from kraftops_cli.cluster.moving.confirm import confirm
    from kraftops_cli.cluster.moving.leaders_output import print_leaders

    work, _ = work_of(context.obj, form, options)
    brokers = flat(ids)
    with work.access as access:
        access.check()
        placement = access.patiently(access.settled)
        check_registered(placement, brokers)
        plan = plan_drain(placement, brokers)
        if plan.moves:
            action = f"change the order of the replicas of {many(len(plan.moves), 'partition')}"
            confirm(",".join(map(str, sorted(brokers))), action, yes=work.yes)
        _save(save, plan.moves)
        mark = Mark(DRAIN, new_author(), brokers=tuple(sorted(brokers)))
        access.patiently(lambda: access.begin_operation(mark))
        stay = change_leaders(access, plan.moves)
    moved = [move.partition for move in plan.moves]
    code = print_leaders(work, "drain", moved, [*plan.stay, *stay])
    are_single = all(
        len(placement.partitions[partition].target) == 1 for partition in (*plan.stay, *stay)
    )
    return 0 if allow_single_replica and are_single else code


def _save(path: str, moves: Sequence[Move]) -> None:
    """Write a plan, whole, before anything is changed.

    Partitions that the file has already keep the order that it has from before an earlier drain.

    Raises:
        UsageError: the file exists and has no plan.
        OutputError: it cannot be written.
    """
    import json
    import os

    from kraftops.fileio.output import OutputFlags, open_output
    from kraftops.fileio.writing import write_all
    from kraftops.placement.plan import Move
    from kraftops.placement.reassignment_json import plan_json, read_plan

    is_stream = os.path.abspath(path).startswith("/dev/")
    saved = read_plan(path) if os.path.isfile(path) and not is_stream else {}
    kept = {
        partition: Move(partition, each.previous or each.replicas, each.replicas)
        for partition, each in saved.items()
    }
    for move in moves:
        known = kept.get(move.partition)
        is_same = known is not None and {*known.before} == {*move.before}
        kept[move.partition] = known._replace(after=move.after) if known and is_same else move
    text = json.dumps(plan_json([kept[each] for each in sorted(kept)]), indent=1) + "\n"
    with open_output(path, flags=OutputFlags(overwrite=True)) as fd:
        write_all(fd, text.encode())
