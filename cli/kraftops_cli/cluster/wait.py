"""`kafka-cluster wait`: wait until conditions of a cluster are true."""

from __future__ import annotations

from typing import Any

import click

from kraftops_cli.cluster.options import cluster_syntax, target_options
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.renamed import RenamedOption
from kraftops_cli.terminal.streams import Terminal

EXAMPLES = (
    (
        "after a rolling restart",
        "kafka-cluster wait -b localhost:9092 --for brokers=3:unfenced --timeout 300",
    ),
    (
        "before the next restart",
        "kafka-cluster wait -b b:9092 --for broker=103:unfenced --for no-under-replicated",
    ),
)


@click.command(
    cls=ToolCommand,
    syntax=cluster_syntax("conditions"),
    name="wait",
    examples=EXAMPLES,
    help="""\
Wait until conditions are true, all at one moment.

Conditions are brokers=N (so many or more are registered; fenced ones count, too),
brokers=N:unfenced, broker=ID:fenced, broker=ID:unfenced, broker=ID:gone (it is not registered),
broker=ID:empty (it has no replicas), no-under-replicated and no-reassignments.

Addresses that refuse connections are tried again until --timeout is over. -C reads the metadata
log, and needs CLUSTER_ACTION on the cluster. With -b, only Kafka 4.0 and later list fenced
brokers.""",
)
@target_options
@click.option(
    "--for",
    "conditions",
    cls=RenamedOption,
    former=("--until",),
    metavar="CONDITION",
    multiple=True,
    required=True,
    help="A condition, as broker=103:fenced; may be given more than once.",
)
@click.pass_obj
def wait(terminal: Terminal, /, form: str, *, conditions: tuple[str, ...], **options: Any) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops_cli.cluster.moving.wait_until import wait_until
    from kraftops_cli.cluster.target import target_of

    return wait_until(terminal, form, conditions, target_of(terminal, **options))
