"""`kafka-dump-log`: print segments, snapshots and indexes as Kafka's DumpLogSegments does."""

from functools import partial

import click

from kraftops_cli.dump_log.filters import FILTERS
from kraftops_cli.dump_log.options import (
    COUNTING,
    GROUPS,
    READING,
    DumpOptions,
    dump_options,
    dump_parameters,
)
from kraftops_cli.live.options import LIVE
from kraftops_cli.syntax import jopt
from kraftops_cli.syntax.chapters import SPARK, environment, manual
from kraftops_cli.syntax.command import GroupedCommand, PathsCommand, ToolCommand
from kraftops_cli.version import KAFKA_VERSION


@click.command(
    cls=PathsCommand,
    syntax=jopt.click_arguments,
    options=dump_options,
    params=dump_parameters(),
    groups=GROUPS,
    elsewhere={
        "Checking and counting": "kraftops dump-log check, and kraftops dump-log summary",
        "Spark": "kraftops spark dump",
    },
    lazy={
        "check": (".dump_log.command:check", "Say what is damaged."),
        "summary": (".dump_log.command:summary", "Count records and bytes."),
    },
    name="dump-log",
    **manual(__file__, more=environment(SPARK)),
)
@click.pass_context
def dump_log(ctx: click.Context, options: DumpOptions) -> int:
    if options.version:
        ctx.obj.write(f"{KAFKA_VERSION}\n")
        return 0
    from kraftops_cli.dump_log.request import run_request

    return run_request(ctx, options)


@click.command(
    cls=ToolCommand,
    syntax=jopt.click_arguments,
    options=partial(dump_options, check=True),
    params=dump_parameters("paths", "remote_log_metadata", "jobs", answers=True),
    name="check",
    **manual(__file__, "check.txt"),
)
@click.pass_context
def check(ctx: click.Context, options: DumpOptions) -> int:
    return _run_part(ctx, options)


@click.command(
    cls=GroupedCommand,
    syntax=jopt.click_arguments,
    options=partial(dump_options, summary=True),
    params=dump_parameters(
        *("paths", *READING, *COUNTING, *LIVE, *FILTERS, "limit", "tail", "output", "overwrite"),
        *("follow", "jobs"),
        answers=True,
    ),
    groups=GROUPS,
    name="summary",
    **manual(__file__, "summary.txt"),
)
@click.pass_context
def summary(ctx: click.Context, options: DumpOptions) -> int:
    return _run_part(ctx, options)


def _run_part(ctx: click.Context, options: DumpOptions) -> int:
    from kraftops_cli.dump_log.request import run_request

    return run_request(ctx, options)
