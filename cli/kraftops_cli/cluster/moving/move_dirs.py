"""`kafka-cluster move-dirs`: empty a log directory into others of the same broker."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kraftops.display.sizes import many
from kraftops.errors import RefusedError
from kraftops.placement.disks import LogDirectory, plan_emptying
from kraftops.placement.effects import DirectoryEffect
from kraftops.placement.placement import TopicPartition
from kraftops.reassign.emptying import Emptying, empty_directory, source_and_targets
from kraftops.wire.admin.log_dirs import ask_log_dirs
from kraftops_cli.cluster.moving.access import Work, check_registered, cluster_command, move_options
from kraftops_cli.cluster.moving.plans import print_directories
from kraftops_cli.cluster.options import MovingOptions
from kraftops_cli.syntax.option_fields import option
from kraftops_cli.syntax.values import JavaInteger


@dataclass(frozen=True, kw_only=True)
class MoveDirsOptions(MovingOptions):
    """The values of the options."""

    broker: int = option("--id", "-i ID", type=JavaInteger(), required=True, help="The broker.")
    source: str = option(
        "--from-dir DIR", former=("--from",), required=True, help="The log directory to empty."
    )
    targets: tuple[str, ...] = option(
        "--to-dir DIR",
        former=("--to",),
        multiple=True,
        help="A log directory that takes replicas, by default all others; may be given more than"
        " once.",
    )


@cluster_command(MoveDirsOptions, answer="kraftops_cli.cluster.moving.plans:MOVE_DIRS")
def move_dirs(work: Work, options: MoveDirsOptions) -> int:
    access, broker, source = work.access, options.broker, options.source
    check_registered(access.patiently(access.placement), {broker})
    directories = access.patiently(partial(access.ask_broker, broker, ask_log_dirs))
    directory, others = source_and_targets(directories, source, options.targets)
    paths, short = plan_emptying(directory, others)
    print_directories(work, _effects(broker, directory, others, paths))
    if short:
        raise RefusedError(f"{short[0].path} has too little room for what is in {source}")
    if options.dry_run:
        return 0
    if paths:
        count = many(len(paths), "replica")
        work.confirm(str(broker), f"move {count} on broker {broker}")
    task = Emptying(broker, source, options.targets, move_options(options))
    empty_directory(access, task, work.printer())
    work.answer({"changed": bool(paths)}, f"Moved replicas: {len(paths)}.\n")
    return 0


def _effects(
    broker: int,
    source: LogDirectory,
    others: Sequence[LogDirectory],
    paths: Mapping[TopicPartition, str],
) -> list[DirectoryEffect]:
    coming = Counter[str]()
    for partition, path in paths.items():
        coming[path] += source.replicas[partition].size
    after = {directory.path: directory.size + coming[directory.path] for directory in others}
    return [
        DirectoryEffect(
            broker=broker,
            path=directory.path,
            size=directory.size,
            size_after=after.get(directory.path, 0),  # the source will be empty
            usable=directory.usable,
        )
        for directory in (source, *others)
    ]
