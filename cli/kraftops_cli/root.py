"""The command `kraftops`; a subcommand is imported when it is run."""

from __future__ import annotations

import click

from kraftops.errors import CODES
from kraftops_cli.syntax.common_options import COMMON_OPTIONS, VERSION_OPTION
from kraftops_cli.syntax.environment import environment
from kraftops_cli.syntax.exit_status import exit_status
from kraftops_cli.syntax.lazy_group import LazyGroup

COMMANDS = {
    "dump-log": (
        "kraftops_cli.dump_log.command:dump_log",
        "Print log segments, snapshots and indexes.",
    ),
    "storage": (
        "kraftops_cli.storage.command:storage",
        "Format, verify and recover log directories.",
    ),
    "metadata-shell": (
        "kraftops_cli.metadata_shell.command:metadata_shell",
        "Browse the metadata of a cluster.",
    ),
    "cluster": (
        "kraftops_cli.cluster.command:cluster",
        "Show a running cluster, restart, empty and unregister its nodes.",
    ),
    "spark": (
        "kraftops_cli.on_spark:spark",
        "Read logs that are too large for one machine, on Spark.",
    ),
    "report": (
        "kraftops_cli.report.command:report",
        "Tell what happened, in one file.",
    ),
    "changes": (
        "kraftops_cli.incidents.changes:changes",
        "Show what changed, and what changed it.",
    ),
    "incidents": (
        "kraftops_cli.incidents.incidents:incidents",
        "Show what happened, by cause.",
    ),
    "doctor": (
        "kraftops_cli.doctor.doctor:doctor",
        "Say what is wrong with nodes, directories or a cluster.",
    ),
    "explain": (
        "kraftops_cli.doctor.explain:explain",
        "Explain a code of a finding or an error.",
    ),
    "disk": (
        "kraftops_cli.doctor.disk:disk",
        "Show what takes the room on the disks of brokers.",
    ),
    "help": ("kraftops_cli.help:help_", "Show the help of a command, or a chapter of the manual."),
    "coordinator-partition": (
        "kraftops_cli.coordinator_partition:coordinator_partition",
        "Say where a group or a transactional id is kept.",
    ),
    "completions": (
        "kraftops_cli.completions:completions",
        "Install completions for bash, zsh and fish.",
    ),
}
"""Module, function and short help of each command."""
TASKS = {
    "What is wrong": ("doctor", "explain", "disk"),
    "What happened": ("incidents", "changes", "report"),
    "Read logs and metadata": ("dump-log", "metadata-shell", "spark", "coordinator-partition"),
    "Change nodes and clusters": ("cluster", "storage"),
    "Help": ("help", "completions"),
}
"""Titles in the help, and the names of the commands below them."""
EXAMPLES = {
    "what is wrong: with a node, with copies of disks or a bundle?": "kraftops doctor WHAT",
    "the disk is full: which topic, and what grows?": "kraftops disk -c server.properties",
    "why is nothing deleted?": "kraftops disk -c server.properties --why orders-3",
    "may a broker be restarted?": "kraftops cluster safe-to-stop -b localhost:9092 --id 3",
    "what would its loss do, by files?": (
        "kraftops metadata-shell -c server.properties what-if --lose 3"
    ),
    "the quorum is lost": "kraftops help a quorum is lost",
    "when was a configuration changed, and by what?": (
        "kraftops changes DIR --kind config --topic orders"
    ),
    "which group lags, by files?": "kraftops dump-log summary DIR --log __consumer_offsets",
    "would Kafka 4.3 boot here, before an upgrade?": (
        "kraftops storage verify -c server.properties --release-version 4.3"
    ),
    "records for DuckDB, Polars, pandas": (
        "kraftops dump-log DIR --format parquet --output records.parquet"
    ),
    "follow what changes in a running cluster": (
        "kraftops dump-log -C localhost:9093 --follow --format json"
    ),
    "move all data off a broker": (
        "kraftops cluster decommission -b localhost:9092 -C localhost:9093 --id 3 --dry-run"
    ),
}
"""Questions of operators, each with the command that answers it."""
SECTIONS = {
    **exit_status(),
    **environment(),
    "JSON": """\
With --format json a program reads the output: one object on one line, with command, formatVersion,
and lists under plural names. Fields are added, and never renamed; formatVersion changes when a
field changes its meaning. Each output has a schema, in the folder json_schemas of the package
kraftops: TOOL-COMMAND.v2.json.

A command that fails says so in the same object, besides the line on standard error: error (a code),
message, hint, and what is known, as address, broker, path and position (failure.v2.json). If
Ctrl-C or a signal ends work on several things, the object has what was done until then.

Rows are lines of their own, without command: those of a dump (row.v1.json; a failure is an object
after them, which unlike a row has no field file), and in the metadata shell those of --format
ndjson. Commands that run until they are interrupted, as with --watch and --follow, print an object
for each answer.""",
    "Codes of errors in JSON": "\n\n".join(
        f"{code}: {code_of_error.meaning} (exit status {code_of_error.exit_code})."
        for code, code_of_error in CODES.items()
    ),
}
"""Sections of the manual that are about all tools."""


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    tasks=TASKS,
    name="kraftops",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The operator's toolkit for KRaft Kafka.",
    epilog="Kafka's tools are also there under their own names, as kafka-dump-log.",
    examples=EXAMPLES,
    sections=SECTIONS,
    params=[VERSION_OPTION, *COMMON_OPTIONS],
)
@click.pass_context
def root(ctx: click.Context, /) -> None:
    """Print the help if no command is given."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def command_hint(name: str) -> str:
    """Return a hint with the command lines that run commands called *name*; "" without any."""
    if name == "version":
        return "--version shows it"
    context = click.Context(root)
    lines = [f"kraftops {name}"] if name in COMMANDS else []
    for tool in ("cluster", "storage", "dump-log"):
        group = root.get_command(context, tool)
        if isinstance(group, click.Group) and name in group.list_commands(context):
            lines.append(f"kraftops {tool} {name}")
    if not lines:
        from kraftops_shell.grammar.registry import commands

        if name in commands(kafka=False, one_shot=True):
            lines.append(f"kraftops metadata-shell {name}")
    return f"it is {' or '.join(lines)}" if lines else ""
