"""`kraftops report`: its options."""

from __future__ import annotations

import click

from kraftops_cli.live.options import LIVE
from kraftops_cli.report.options import GROUPS, ReportOptions
from kraftops_cli.spark.options import SHARED, spark_request
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import GroupedCommand
from kraftops_cli.syntax.environment import AUTHORIZER, SPARK, environment
from kraftops_cli.syntax.exit_status import exit_status
from kraftops_cli.syntax.shared_options import PRINCIPALS

EXAMPLES = {
    "the directory of a controller": "kraftops report /var/kafka/meta --output report.html",
    "an hour of several logs": (
        "kraftops report bundle.tar.gz --since 2h --until 1h --output report.html"
    ),
    "a running cluster": "kraftops report -C localhost:9093 --output report.html",
    "for programs": "kraftops report /var/kafka/meta --format json",
}
SECTIONS = {
    "Contents": """\
A metadata log gives the incidents, as kraftops incidents tells them (if it has up to 20,000 changes
of partitions); the cluster; over time, the states of brokers and controllers, elections, changes of
ISRs, and partitions that are offline, under min ISR or under-replicated; the changes of topics,
configurations, ACLs, features, quotas and registrations, with before and after; and the partitions
and topics that lost most. The min ISR is that of the topic's configuration, else the cluster's,
else 1.

The log is read from its first record if that is still there, or else from the oldest snapshot that
it continues: the report says since when it knows. Damage cuts the log in two; if the part that
begins with a later snapshot is the longer one, the report is about that part.

All logs give records and bytes over time, sizes, codecs, gaps, damage, groups and open
transactions.

Lists are bounded: the report says how many entries it leaves out. Secrets are never in it. A record
whose time is before that of the previous record counts at that previous time. With --since, nothing
is known of transactions before that time: an open one counts from its first record since.""",
    "Several metadata logs": """\
The timeline is that of the log with the latest end. With --until, it ends before the first record
at or after that time.""",
    "On Spark": """\
With --spark logs are counted by Spark. The metadata log is read by this process all the same: its
records make sense only in their order.""",
    **PRINCIPALS,
    **environment({**AUTHORIZER, **SPARK}),
    **exit_status(
        {
            2: "done; damage has hidden records.",
            3: "the output exists, and --overwrite is not given.",
        }
    ),
}


@click.command(
    cls=GroupedCommand,
    syntax=Argparse4j(ours=frozenset((*LIVE, *SHARED)), expands_files=False),
    name="report",
    examples=EXAMPLES,
    sections=SECTIONS,
    options=ReportOptions,
    groups=GROUPS,
    elsewhere={"Spark": "kraftops spark report"},
    help="Tell what happened: an HTML page in one file, or its data as JSON.",
)
@click.pass_context
def report(ctx: click.Context, options: ReportOptions) -> int:
    from kraftops_cli.report.run import run_report

    return run_report(options, spark_request(ctx, options), ctx.obj)
