"""`kraftops spark`: dumps, counts, checks and reports of logs too large for one machine."""

from __future__ import annotations

from functools import partial

import click

from kraftops_cli.dump_log import options as declared
from kraftops_cli.dump_log.filters import filter_options
from kraftops_cli.dump_log.options import DumpOptions, dump_options
from kraftops_cli.report.options import ReportOptions, report_options
from kraftops_cli.spark.options import GROUPS, OF_DUMP, SHARED_OPTIONS, spark_request
from kraftops_cli.syntax import jopt
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import GroupedCommand, ToolGroup, added
from kraftops_cli.syntax.exit_status import exit_status

_SYNTAX = Argparse4j(expands_files=False)
_HERE = "kraftops_cli.on_spark"


@click.group(
    cls=ToolGroup,
    syntax=_SYNTAX,
    name="spark",
    lazy={
        "dump": (f"{_HERE}:dump", "Write or print records, or answer SQL about them."),
        "summary": (f"{_HERE}:summary", "Count records and bytes."),
        "check": (f"{_HERE}:check", "Say what is damaged."),
        "report": (f"{_HERE}:report", "Tell what happened, in one file."),
        "find": ("kraftops_cli.metadata_shell.find_command:find", "Find nodes of the metadata."),
    },
    examples=(
        ("a lake of logs as Parquet", "kraftops spark dump s3://b/topics --output s3://b/rows"),
        ("what is damaged?", "kraftops spark check --master yarn hdfs:///copies"),
    ),
    sections=(exit_status(),),
    help="Read logs on Spark, where they are too large for one machine.",
)
def spark() -> None:
    """Do nothing: the commands do the work."""


_command = partial(
    click.command,
    cls=GroupedCommand,
    syntax=jopt.click_arguments,
    groups={**declared.GROUPS, **GROUPS},
    sections=(exit_status({2: "there is damage."}),),
)


@_command(
    name="dump",
    options=partial(dump_options, spark=True),
    help="Write records to files or tables, or answer SQL about them.",
)
@added(declared.PATHS, SHARED_OPTIONS, OF_DUMP, declared.DECODERS, declared.READING)
@filter_options
@added(declared.OUTPUT)
@click.pass_context
def dump(ctx: click.Context, options: DumpOptions) -> int:
    """Run the command; return its exit code."""
    return _run(ctx, options)


@_command(
    name="summary",
    options=partial(dump_options, spark=True, summary=True),
    help="Count records and bytes of logs: a line for each log, or all about one.",
)
@added(declared.PATHS, SHARED_OPTIONS, declared.DECODERS, declared.READING)
@filter_options
@added(declared.COUNTING, declared.FORM, declared.OUTPUT_FILE)
@click.pass_context
def summary(ctx: click.Context, options: DumpOptions) -> int:
    """Run the command; return its exit code."""
    return _run(ctx, options)


@_command(
    name="check",
    options=partial(dump_options, spark=True, check=True),
    help="Say what is damaged in logs: each partition is a task.",
)
@added(declared.PATHS, SHARED_OPTIONS, declared.DECODERS, declared.FORM)
@click.pass_context
def check(ctx: click.Context, options: DumpOptions) -> int:
    """Run the command; return its exit code."""
    return _run(ctx, options)


@click.command(
    cls=GroupedCommand,
    syntax=_SYNTAX,
    name="report",
    options=partial(ReportOptions, spark=True),
    groups=GROUPS,
    sections=(exit_status({2: "done; damage has hidden records."}),),
    help="Tell what happened: an HTML page in one file, or its data as JSON.",
)
@report_options
@added(SHARED_OPTIONS)
@click.pass_context
def report(ctx: click.Context, options: ReportOptions) -> int:
    """Run the command; return its exit code."""
    from kraftops_cli.report.run import run_report

    return run_report(options, spark_request(ctx, options), ctx.obj)


def _run(ctx: click.Context, options: DumpOptions) -> int:
    from kraftops_cli.dump_log.request import run_request

    return run_request(ctx, options)
