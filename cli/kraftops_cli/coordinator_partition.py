"""`kraftops coordinator-partition`: where a group or a transaction is kept."""

import os

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.values import Number
from kraftops_cli.terminal.answer import FORM, print_answer
from kraftops_cli.terminal.streams import Terminal

_MOST_PARTITIONS = 0x7FFFFFFF  # the number of a partition is an int32

EXAMPLES = {
    "the partition of __consumer_offsets that has the offsets of a group": (
        "kraftops coordinator-partition --group payments"
    ),
    "the same of a producer with transactions": (
        "kraftops coordinator-partition --txn-id payments-1"
    ),
}
SECTIONS = {
    "Notes": """\
The partition is computed: nothing is read, and no server is asked whether there is such a group.
The broker that leads the partition is the coordinator. The number of partitions is the one that the
cluster created the topic with, from offsets.topic.num.partitions or
transaction.state.log.num.partitions.""",
    "Exit status": "0: done.\n1: bad arguments.",
}


@click.command(
    cls=ToolCommand,
    syntax=Argparse4j(one_of=(("group", "transactional_id"),), expands_files=False),
    name="coordinator-partition",
    examples=EXAMPLES,
    sections=SECTIONS,
    help="Say which partition of an internal topic keeps a group or a transactional id.",
)
@click.option("--group", metavar="GROUP", help="The name of a group, in __consumer_offsets.")
@click.option(
    "--txn-id",
    "transactional_id",
    metavar="ID",
    help="A transactional id, in __transaction_state.",
)
@click.option(
    "--partitions",
    type=Number(_MOST_PARTITIONS),
    metavar="N",
    default=50,
    show_default=True,
    help="The number of partitions that the topic has.",
)
@FORM
@click.pass_context
def coordinator_partition(
    ctx: click.Context, /, group: str | None, transactional_id: str | None, partitions: int
) -> None:
    from kraftops.java.text import decode_utf8
    from kraftops.records.partitioning import OFFSETS_TOPIC, TRANSACTION_TOPIC, partition_of

    if not partitions:
        raise click.BadParameter(
            f"'0' is not a number from 1 to {_MOST_PARTITIONS}", ctx, param_hint="--partitions"
        )
    field, argument, topic = "transactionalId", transactional_id, TRANSACTION_TOPIC
    if argument is None:
        field, argument, topic = "group", group or "", OFFSETS_TOPIC
    name = decode_utf8(os.fsencode(argument))  # as a broker decodes the name in a request
    partition = partition_of(name, partitions)
    terminal: Terminal = ctx.obj
    print_answer(
        terminal,
        (),
        {field: name, "topic": topic, "partition": partition, "partitions": partitions},
        lambda: f"{topic}-{partition}\n",
    )
