"""`kraftops disk`: what takes up the space on the disks of brokers, and why nothing is deleted."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import click

from kraftops.display import quoting
from kraftops.display.sizes import first_names
from kraftops_cli.doctor.options import ExaminedOptions
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.syntax.option_fields import option
from kraftops_cli.syntax.values import Number
from kraftops_cli.terminal.answer import FORM_ATTRIBUTES, print_answer
from kraftops_cli.terminal.failure import code_with_skipped
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.disk.settings import Setting
    from kraftops.disk.totals import DiskUsage, Total
    from kraftops.disk.usage import DirectoryUsage
    from kraftops.disk.why import Broker, Why
    from kraftops.errors import KraftopsError
    from kraftops.storage.config.host import LocalKafka
    from kraftops.storage.config.server_config import ServerConfig
    from kraftops_terminal.console import Console

_MOST_ROWS = 1_000_000  # as many partitions as a KRaft cluster is made for
_NO_RATES = (
    "no rate is known: it takes an hour from a log's creation, or from its oldest segment where"
    " offset 0 is deleted, to its last write (to now if a broker runs)"
)
_TOLD = (
    "a broker only reports the sizes of logs and the free space: not indexes, what waits for "
    "deletion, what files take ON DISK, or GROWTH"
)


@dataclass(frozen=True, kw_only=True)
class DiskOptions(ExaminedOptions):
    """The options."""

    group_by: str = option(
        "--group-by",
        former=("--by",),
        type=click.Choice(("topic", "partition", "broker")),
        default="topic",
        help="The rows of the second table.",
    )
    limit: int = option(
        "--limit N",
        type=Number(_MOST_ROWS, minimum=1),
        default=20,
        help="Most rows of that table; JSON has all.",
    )
    why: str | None = option(
        "--why TOPIC[-N]",
        help="Say instead why records of a partition, or of all of a topic, are not deleted or "
        "compacted, what will be deleted, and when. This reads indexes, checkpoints, producer "
        "snapshots, and the metadata log.",
    )
    form: str = option("--format", **FORM_ATTRIBUTES)


@tool_command(
    Argparse4j(expands_files=False),
    name="disk",
    answer="kraftops.disk.answer:DISK",
    options=DiskOptions,
    **manual(__file__),
)
def disk(terminal: Terminal, options: DiskOptions) -> int:
    """Print the sizes; return the exit code."""
    from kraftops.checkup.examination import Examination
    from kraftops.disk.totals import DiskUsage
    from kraftops.disk.usage import read_usages

    named = None if options.why is None else _named(options.why, options)
    if options.is_live:
        _tell(terminal, options, DiskUsage(_of_brokers(options, terminal)))
        return 0
    kafkas = options.nodes(terminal)
    skipped: list[KraftopsError] = []
    with options.opened_sources(terminal, skipped) as sources:
        folders = [source.folder for source in sources]
        if named is not None:
            nearby, refusals = Examination(sources=sources, parents=options.names).loaded
            for refusal in refusals:
                terminal.error(f"note: {refusal}")
            usable = [config for config in nearby if config.is_whole]
            _explain(terminal, named, [*_brokers(kafkas, folders, usable)])
        else:
            brokers = [*_brokers(kafkas, folders)]
            directories = [directory for broker in brokers for directory in broker.directories]
            _tell(terminal, options, DiskUsage(read_usages(directories, int(time.time() * 1000))))
            if directories and not any(broker.may_have_topics for broker in brokers):
                names = first_names([directory.path for directory in directories])
                terminal.error(
                    f"note: {names}: the metadata log alone, as of a controller",
                    hint="topics are in the log directories of brokers",
                )
    return code_with_skipped(0, skipped)


def _tell(terminal: Terminal, options: DiskOptions, usage: DiskUsage) -> None:
    from kraftops.disk.answer import DISK
    from kraftops.fileio.mounts import archive_of

    print_answer(
        terminal, DISK.fields[:-1], usage, lambda: _tables(terminal.console, usage, options)
    )
    if options.form == "text" and options.is_live:
        terminal.error(f"note: {_TOLD}", hint="on its host, kraftops disk -c server.properties")
    elif options.form == "text" and usage.lacks_rates:
        paths = [total.directory.path for total in usage.directories]
        names = dict.fromkeys(archive_of(path) or path for path in paths)
        summary = ("kraftops", "dump-log", "summary", *names, "--since", "-2h", "--sort", "bytes")
        terminal.error(f"note: {_NO_RATES}; {quoting.join(summary)} counts the last two hours")


def _named(name: str, options: ExaminedOptions) -> tuple[str, int | None]:
    """Return the topic that is to be explained, and the partition if it is one.

    Raises:
        UsageError: no topic can have the name, or running brokers are asked.
    """
    from kraftops.errors import UsageError
    from kraftops.server.loader.load_plan import parse_folder_name

    partition = parse_folder_name(name)
    if partition is None and not re.fullmatch(r"[\w.-]+", name, re.ASCII):
        parts = re.fullmatch(r"(.+?)[\s:/#]+(?:partition[\s-]*)?(\d+)", name)
        example = f", as {parts[1]}-{parts[2]}" if parts else ""
        raise UsageError(f"--why {name}: expected TOPIC or TOPIC-N{example}")
    if options.is_live:
        raise UsageError(
            "--why reads files: name log directories, or a server.properties",
            hint=f"on a broker's host: kraftops disk -c server.properties --why {name}",
        )
    return (partition.topic, partition.partition) if partition else (name, None)


def _explain(terminal: Terminal, named: tuple[str, int | None], brokers: Sequence[Broker]) -> None:
    """Print why partitions stay as they are."""
    from kraftops.disk.answer import DISK
    from kraftops.disk.why import why_kept

    now = int(time.time() * 1000)
    kept = why_kept(brokers, *named, now)
    print_answer(
        terminal,
        DISK.fields[-1:],
        kept,
        lambda: _explanations(terminal.console, kept),
    )


def _explanations(console: Console, kept: Sequence[Why]) -> Iterator[str]:
    """Yield why each replica stays as it is, and then the settings: once where they are equal."""
    from kraftops.disk.why import SETTING
    from kraftops_terminal.tables import table_of, table_text

    places: dict[tuple[Setting, ...], dict[str, None]] = {}
    for why in kept:
        directory = why.state.directory
        broker = directory.path if directory.node_id is None else f"broker {directory.node_id}"
        places.setdefault(tuple(why.state.settings), {})[broker] = None
        yield from _reasons(console, why)
    for settings, brokers in places.items():
        title = "Settings in force" + f" on {', '.join(brokers)}" * (len(places) > 1)
        yield table_text(console, table_of(SETTING, settings, title))


def _reasons(console: Console, why: Why) -> Iterator[str]:
    from kraftops.disk.why import SEGMENT
    from kraftops_terminal.escaping import escaped
    from kraftops_terminal.tables import table_of, table_text

    state = why.state
    yield escaped(f"{state.topic}-{state.partition} in {state.directory.path}:") + "\n"
    for reason in why.reasons:
        yield escaped(f"- {reason.text}") + "\n"
        if reason.cure:
            yield escaped(f"  cure: {reason.cure}") + "\n"
    yield "\n" + table_text(console, table_of(SEGMENT, state.segments, "Segments")) + "\n"


def _brokers(
    kafkas: Sequence[LocalKafka], named: Sequence[str], nearby: Sequence[ServerConfig] = ()
) -> Iterator[Broker]:
    """Yield the brokers of configurations, and of directories that are *named* and not in those.

    Configurations *nearby* have their directories among those.
    """
    from kraftops.disk.why import Broker
    from kraftops.dump.sources.missing import refuse_missing
    from kraftops.server.log_directory import read_log_directory
    from kraftops.storage.config.server_config import load_config
    from kraftops.storage.logdirs.directories import RELATIVE, read_directories

    configs = [load_config(kafka.path, kafka.overrides, os.environ) for kafka in kafkas]
    for config in configs:
        refuse_missing((path for path in config.log_dirs if not os.path.isabs(path)), RELATIVE)
    brokers = [Broker(config, read_directories(config)) for config in (*configs, *nearby)]
    seen: set[str] = set()
    for broker in (*brokers, Broker(None, [*map(read_log_directory, named)])):
        by_real_path = {
            os.path.realpath(directory.path): directory for directory in broker.directories
        }
        new = [path for path in by_real_path if path not in seen]
        seen.update(new)
        yield Broker(broker.config, [by_real_path[path] for path in new])


def _of_brokers(options: ExaminedOptions, terminal: Terminal) -> list[DirectoryUsage]:
    from kraftops.disk.usage import told_usage
    from kraftops.reassign.disks import disks_of

    with options.access(terminal) as access:
        disks = disks_of(access, access.placement())
    return [
        told_usage(broker, directory)
        for broker, directories in sorted(disks.items())
        for directory in directories
    ]


def _tables(console: Console, usage: DiskUsage, options: DiskOptions) -> Iterator[str]:
    from kraftops.disk.answer import DIRECTORIES, GROUPS
    from kraftops.display.sizes import size_text
    from kraftops_terminal.tables import table_of, table_text

    group = GROUPS[options.group_by]
    totals = cast("list[Total]", group.value_of(usage))
    for fields, rows in (
        (DIRECTORIES.fields, usage.directories),
        (group.fields, totals[: options.limit]),
    ):
        told_fields = [
            field
            for field in fields
            if not options.is_live or any(field.value_of(row) is not None for row in rows)
        ]
        yield "\n" * (fields is group.fields) + table_text(console, table_of(told_fields, rows))
    if more := totals[options.limit :]:
        size = sum(total.space.taken for total in more)
        yield f"{len(more)} more with {size_text(size)}: --limit shows them\n"
