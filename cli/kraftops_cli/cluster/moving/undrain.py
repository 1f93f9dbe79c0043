"""`kafka-cluster undrain`: move leaders back to where they were before a drain."""

from __future__ import annotations

from typing import Any

import click

from kraftops_cli.cluster.moving.options import YES, access_options, moving_syntax
from kraftops_cli.syntax.command import ToolCommand

EXAMPLES = (("after a restart", "kafka-cluster undrain -b b:9092 --plan leaders.json"),)


@click.command(
    cls=ToolCommand,
    syntax=moving_syntax(),
    name="undrain",
    examples=EXAMPLES,
    help="""\
Give replica lists the order that they had before a drain, and have the first replicas lead.

Partitions that have other replicas by now, or whose first replica is not in sync, are listed; the
exit code is then 2.""",
)
@access_options
@click.option("--plan", metavar="FILE", required=True, help="The file that drain --save has made.")
@YES
@click.pass_context
def undrain(context: click.Context, /, form: str, *, plan: str, **options: Any) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops.display.sizes import many
    from kraftops.placement.leaders import plan_restore
    from kraftops.placement.reassignment_json import read_plan
    from kraftops.reassign.leadership import change_leaders
    from kraftops.reassign.marks import DRAIN
    from kraftops_cli.cluster.moving.access import work_of
    from kraftops_cli.cluster.moving.confirm import confirm
    from kraftops_cli.cluster.moving.leaders_output import print_leaders

    work, _ = work_of(context.obj, form, options)
    planned = read_plan(plan)
    with work.access as access:
        access.check()
        restore = plan_restore(access.patiently(access.settled), planned)
        if restore.moves:
            action = f"change the order of the replicas of {many(len(restore.moves), 'partition')}"
            confirm("undrain", action, yes=work.yes)
        stay = change_leaders(access, restore.moves)
        restored = {move.after[0] for move in restore.moves}
        access.patiently(lambda: access.end_operation(DRAIN, restored))
    moved = [move.partition for move in restore.moves]
    return print_leaders(work, "undrain", moved, [*restore.changed, *stay])
