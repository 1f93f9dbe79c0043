"""`kraftops report`: its options."""

from __future__ import annotations

from typing import Any

import click

from kraftops_cli.live.options import LIVE, live_options
from kraftops_cli.spark.options import SHARED, spark_find_options, spark_request
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.exit_status import exit_status
from kraftops_cli.syntax.memory import MAX_MEMORY
from kraftops_cli.syntax.values import Number
from kraftops_cli.terminal.options import OVERWRITE

EXAMPLES = (
    ("the directory of a controller", "kraftops report /var/kafka/meta --output report.html"),
    (
        "an hour of several logs",
        "kraftops report bundle.tar.gz --since 2h --until 1h --output report.html",
    ),
    ("a running cluster", "kraftops report -C localhost:9093 --output report.html"),
    ("for programs", "kraftops report /var/kafka/meta --format json"),
)
SECTIONS = (
    (
        "What is told",
        """\
Of a metadata log: the incidents, in words on top, as kraftops incidents tells them, if it has up to
20,000 changes of partitions; the cluster; over time the states of brokers, leaders of the quorum,
elections and changes of ISRs, partitions without a leader, under min ISR and under-replicated,
topics made and deleted, changes of configurations, ACLs, features, quotas and registrations, each
with before and after; the partitions and topics that lost most. The log is read from its first
record if that is still there, or else from the oldest snapshot that it continues: the report says
since when it knows. If a snapshot behind damage and what follows it are the longer part, that part
is told. The min ISR is that of the topic's configuration, else the cluster's, else 1.
Of all logs: records and bytes over time, sizes, codecs, gaps, damage, groups, open transactions.

Lists are bounded: the report says how many entries it leaves out. Secrets are never in it. A record
with a time before that of the record before it counts at that time. With --since, nothing is known
of transactions before that time: an open one counts from its first record since.""",
    ),
    (
        "Several metadata logs",
        """\
The timeline is that of the log that goes on longest. With --until it ends before the first record
that is not before that time.""",
    ),
    (
        "On Spark",
        """\
With --spark logs are counted by Spark. The metadata log is read by this process all the same: its
records make sense only in their order.""",
    ),
    exit_status(
        {
            2: "done; damage has hidden records.",
            3: "the output exists, and --overwrite is not given.",
        }
    ),
)


@click.command(
    cls=ToolCommand,
    syntax=Argparse4j(ours=frozenset(LIVE) | SHARED, expands_files=False),
    name="report",
    examples=EXAMPLES,
    sections=SECTIONS,
    help="Tell what happened: an HTML page in one file, or its data as JSON.",
)
@click.argument("sources", metavar="SOURCE…", nargs=-1)
@click.option("--output", metavar="FILE", help="Write to this file, whole or not at all.")
@OVERWRITE
@click.option(
    "--since",
    metavar="TIME",
    help="Only what happened from this time on: ISO 8601 (UTC), a time of day, as 14:02 or"
    " 'yesterday 14:02', on the last day of the log, or a duration before now, as 2h.",
)
@click.option("--until", metavar="TIME", help="Only what happened before this time.")
@click.option(
    "--incident",
    type=Number(10_000, minimum=1),
    metavar="N",
    help="Only incident N of those that kraftops incidents lists, and a minute around it.",
)
@click.option("--title", metavar="TEXT", help="The title of the report.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("html", "json")),
    default="html",
    show_default=True,
    help="A page, or its data.",
)
@click.option(
    "--jobs",
    type=Number(1024, minimum=1),
    metavar="N",
    help="Threads that count.  [default: one a core, one for small files]",
)
@MAX_MEMORY
@live_options
@spark_find_options
@click.pass_context
def report(ctx: click.Context, /, **options: Any) -> int:
    """Run the command."""
    from kraftops_cli.report.run import run_report

    return run_report(options, spark_request(ctx, options), ctx.obj)
