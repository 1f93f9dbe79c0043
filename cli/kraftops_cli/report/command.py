"""`kraftops report`: its options."""

import click

from kraftops_cli.live.options import LIVE
from kraftops_cli.report.options import GROUPS, ReportOptions
from kraftops_cli.spark.options import SHARED, spark_request
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import AUTHORIZER, SPARK, environment, manual
from kraftops_cli.syntax.command import GroupedCommand
from kraftops_cli.syntax.shared_options import PRINCIPALS


@click.command(
    cls=GroupedCommand,
    syntax=Argparse4j(ours=frozenset((*LIVE, *SHARED)), expands_files=False),
    name="report",
    options=ReportOptions,
    groups=GROUPS,
    elsewhere={"Spark": "kraftops spark report"},
    **manual(__file__, more=PRINCIPALS | environment({**AUTHORIZER, **SPARK})),
)
@click.pass_context
def report(ctx: click.Context, options: ReportOptions) -> int:
    from kraftops_cli.report.run import run_report

    return run_report(options, spark_request(ctx, options), ctx.obj)
