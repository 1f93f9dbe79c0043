"""`kafka-cluster move-dirs`: empty a log directory into others of the same broker."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from kraftops_cli.cluster.moving.options import (
    BATCH_OPTION,
    PLAN_ONLY,
    STALL_TIMEOUT,
    THROTTLE,
    YES,
    access_options,
    moving_syntax,
)
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.renamed import RenamedOption
from kraftops_cli.syntax.values import JavaInteger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kraftops.placement.disks import LogDirectory
    from kraftops.placement.effects import DirectoryEffect
    from kraftops.placement.placement import TopicPartition

EXAMPLES = (
    (
        "empty a full disk",
        "kafka-cluster move-dirs -b b:9092 --id 104 --from-dir /disk1/kafka --to-dir /disk2/kafka",
    ),
)


@click.command(
    cls=ToolCommand,
    syntax=moving_syntax("broker", "source", "targets"),
    name="move-dirs",
    answer="kraftops_cli.cluster.moving.plan_output:MOVE_DIRS",
    examples=EXAMPLES,
    help="""\
Empty a log directory of a broker with several: a full or suspect disk that is still online. Its
replicas move into other directories of the same broker, to where the most room is.

The plan is shown and must be confirmed, and is refused if there is too little room. Kafka puts new
partitions where the fewest are, and so into an empty directory: cordon it (Kafka 4.3). If it is
killed, run it again, or resume it by `operations`. A directory that has failed is a case for
repair.""",
)
@access_options
@click.option(
    "--id", "-i", "broker", metavar="ID", type=JavaInteger(), required=True, help="The broker."
)
@click.option(
    "--from-dir",
    "source",
    cls=RenamedOption,
    former=("--from",),
    metavar="DIR",
    required=True,
    help="The log directory to empty.",
)
@click.option(
    "--to-dir",
    "targets",
    cls=RenamedOption,
    former=("--to",),
    metavar="DIR",
    multiple=True,
    help="A log directory that takes replicas, by default all others; may be given more than once.",
)
@PLAN_ONLY
@BATCH_OPTION
@THROTTLE
@STALL_TIMEOUT
@YES
@click.pass_context
def move_dirs(
    context: click.Context,
    /,
    form: str,
    *,
    broker: int,
    source: str,
    targets: tuple[str, ...],
    **options: Any,
) -> int:
    """Run the subcommand; return its exit code."""
    from functools import partial

    from kraftops.display.sizes import many
    from kraftops.errors import RefusedError
    from kraftops.placement.disks import plan_emptying
    from kraftops.reassign.emptying import Emptying, empty_directory, source_and_targets
    from kraftops.reassign.moves import MoveOptions
    from kraftops.wire.admin.log_dirs import ask_log_dirs
    from kraftops_cli.cluster.moving.access import check_registered, work_of
    from kraftops_cli.cluster.moving.plan_output import print_directories

    work, rest = work_of(context.obj, form, options)
    with work.access as access:
        access.check()
        check_registered(access.patiently(access.placement), {broker})
        directories = access.patiently(partial(access.ask_broker, broker, ask_log_dirs))
        directory, others = source_and_targets(directories, source, targets)
        paths, short = plan_emptying(directory, others)
        print_directories(work, _effects(broker, directory, others, paths))
        if short:
            raise RefusedError(f"{short[0].path} has too little room for what is in {source}")
        if rest["plan_only"]:
            return 0
        if paths:
            count = many(len(paths), "replica")
            work.confirm(str(broker), f"move {count} on broker {broker}")
        moves = MoveOptions(rest["batch"], rest["throttle"], rest["stall_timeout"])
        task = Emptying(broker, source, targets, moves)
        empty_directory(access, task, work.printer())
    work.answer({"changed": bool(paths)}, f"Moved replicas: {len(paths)}.\n")
    return 0


def _effects(
    broker: int,
    source: LogDirectory,
    others: Sequence[LogDirectory],
    paths: Mapping[TopicPartition, str],
) -> list[DirectoryEffect]:
    from kraftops.placement.effects import DirectoryEffect

    coming = Counter[str]()
    for partition, path in paths.items():
        coming[path] += source.replicas[partition].size
    return [
        DirectoryEffect(broker, source.path, source.size, 0, source.usable),
        *(
            DirectoryEffect(
                broker, each.path, each.size, each.size + coming[each.path], each.usable
            )
            for each in others
        ),
    ]
