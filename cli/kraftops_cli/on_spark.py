"""`kraftops spark`: work on logs that are too large for one machine."""

from dataclasses import dataclass
from functools import partial

import click

from kraftops_cli.dump_log.filters import FILTERS
from kraftops_cli.dump_log.options import (
    COUNTING,
    READING,
    DumpOptions,
    dump_options,
    dump_parameters,
)
from kraftops_cli.dump_log.options import GROUPS as DUMP_GROUPS
from kraftops_cli.live.options import LIVE
from kraftops_cli.report.options import ReportOptions
from kraftops_cli.spark.options import (
    GROUPS,
    OF_SPARK_COMMANDS,
    OF_SPARK_DUMPS,
    SparkFindOptions,
    refuse_local,
    spark_request,
)
from kraftops_cli.syntax import jopt
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import SPARK, environment, exit_status, manual
from kraftops_cli.syntax.command import GroupedCommand, ToolGroup
from kraftops_cli.syntax.option_fields import argument, parameters
from kraftops_cli.terminal.streams import Terminal

_SYNTAX = Argparse4j(expands_files=False)


@dataclass(frozen=True, kw_only=True)
class IndexOptions(SparkFindOptions):
    """The options of `kraftops spark index`."""

    directory: str = argument(metavar="DIRECTORY", type=click.Path(readable=False))


@click.group(
    cls=ToolGroup,
    syntax=_SYNTAX,
    name="spark",
    lazy={
        "dump": (".on_spark:dump", "Write or print records, or answer SQL about them."),
        "summary": (".on_spark:summary", "Count records and bytes."),
        "check": (".on_spark:check", "Say what is damaged."),
        "report": (".on_spark:report", "Tell what happened, in one file."),
        "index": (".on_spark:index", "List what is in each segment, so that less is read."),
        "find": (".metadata_shell.find_command:find", "Find nodes of the metadata."),
    },
    examples={
        "a lake of logs as Parquet": "kraftops spark dump s3://b/topics --output s3://b/rows",
        "what is damaged?": "kraftops spark check --master yarn hdfs:///copies",
    },
    sections={
        **exit_status(),
        **environment(SPARK),
    },
    help="Read logs on Spark, where they are too large for one machine.",
)
def spark() -> None:
    """Do nothing: the commands do the work."""


_command = partial(
    click.command,
    cls=GroupedCommand,
    syntax=jopt.click_arguments,
    groups={**DUMP_GROUPS, **GROUPS},
    sections=exit_status({2: "there is damage."}),
)


@_command(
    name="dump",
    options=partial(dump_options, spark=True),
    params=dump_parameters(
        *("paths", *OF_SPARK_DUMPS, *READING, *FILTERS, "form", "csv_safe", "output"),
        *("overwrite", "max_output", "show_secrets"),
    ),
    help="Write records to files or tables, or answer SQL about them.",
)
@click.pass_context
def dump(ctx: click.Context, options: DumpOptions) -> int:
    return _run(ctx, options)


@_command(
    name="summary",
    options=partial(dump_options, spark=True, summary=True),
    params=dump_parameters(
        *("paths", *OF_SPARK_COMMANDS, *READING, *FILTERS, *COUNTING, "output", "overwrite"),
        answers=True,
    ),
    help="Count records and bytes of logs: a line for each log, or all about one.",
)
@click.pass_context
def summary(ctx: click.Context, options: DumpOptions) -> int:
    return _run(ctx, options)


@_command(
    name="check",
    options=partial(dump_options, spark=True, check=True),
    params=dump_parameters("paths", *OF_SPARK_COMMANDS, answers=True),
    help="Say what is damaged in logs: each partition is a task.",
)
@click.pass_context
def check(ctx: click.Context, options: DumpOptions) -> int:
    return _run(ctx, options)


@click.command(
    cls=GroupedCommand,
    syntax=_SYNTAX,
    name="report",
    options=partial(ReportOptions, spark=True),
    params=[param for param in parameters(ReportOptions) if param.name not in (*LIVE, "spark")],
    groups=GROUPS,
    sections=exit_status({2: "done; damage has hidden records."}),
    help="Tell what happened: an HTML page in one file, or its data as JSON.",
)
@click.pass_context
def report(ctx: click.Context, options: ReportOptions) -> int:
    from kraftops_cli.report.run import run_report

    return run_report(options, spark_request(ctx, options), ctx.obj)


@click.command(
    cls=GroupedCommand,
    syntax=_SYNTAX,
    name="index",
    options=partial(IndexOptions, spark=True),
    params=parameters(IndexOptions, "directory", *OF_SPARK_COMMANDS),
    groups=GROUPS,
    **manual(__file__, "spark_index.txt"),
)
@click.pass_context
def index(ctx: click.Context, options: IndexOptions) -> int:
    from kraftops.dump.sources.names import expand
    from kraftops.spark.dump.list_job import write_list
    from kraftops.spark.session.session import started
    from kraftops_cli.spark.progress import SparkProgress

    terminal: Terminal = ctx.obj
    request = spark_request(ctx, options)
    assert request is not None
    refuse_local(request, [options.directory])
    sources = expand([options.directory], from_start=True)
    with SparkProgress(terminal.status) as progress, started(request.settings()) as session:
        budget, show = terminal.budget, progress.show
        count = write_list(session, options.directory, sources, budget, show)
    terminal.line(f"{len(sources):,} segments listed, {count:,} of them read")
    return 0


def _run(ctx: click.Context, options: DumpOptions) -> int:
    from kraftops_cli.dump_log.request import run_request

    return run_request(ctx, options)
