"""The command `kraftops`; a subcommand is imported when it is run."""

import click

from kraftops.errors import CODES
from kraftops_cli.syntax.chapters import environment, manual
from kraftops_cli.syntax.common_options import COMMON_OPTIONS, VERSION_OPTION
from kraftops_cli.syntax.lazy_group import LazyGroup

COMMANDS = {
    "dump-log": (".dump_log.command:dump_log", "Print log segments, snapshots and indexes."),
    "storage": (".storage.command:storage", "Format, verify and recover log directories."),
    "metadata-shell": (
        ".metadata_shell.command:metadata_shell",
        "Browse the metadata of a cluster.",
    ),
    "cluster": (
        ".cluster.command:cluster",
        "Show a running cluster, restart, empty and unregister its nodes.",
    ),
    "spark": (".on_spark:spark", "Read logs that are too large for one machine, on Spark."),
    "report": (".report.command:report", "Tell what happened, in one file."),
    "changes": (".incidents.changes", "Show what changed, and what changed it."),
    "incidents": (".incidents.incidents", "Show what happened, by cause."),
    "doctor": (".doctor.doctor", "Say what is wrong with nodes, directories or a cluster."),
    "explain": (".doctor.explain", "Explain a code of a finding or an error."),
    "disk": (".doctor.disk", "Show what takes up the space on the disks of brokers."),
    "help": (".help:help_", "Show the help of a command, or a chapter of the manual."),
    "coordinator-partition": (
        ".coordinator_partition",
        "Say where a group or a transactional id is kept.",
    ),
    "completions": (".completions", "Install completions for bash, zsh and fish."),
}
"""Module, its function and short help of each command."""
TASKS = {
    "What is wrong": ("doctor", "explain", "disk"),
    "What happened": ("incidents", "changes", "report"),
    "Read logs and metadata": ("dump-log", "metadata-shell", "spark", "coordinator-partition"),
    "Change nodes and clusters": ("cluster", "storage"),
    "Help": ("help", "completions"),
}
"""Titles in the help, and the names of the commands below them."""
_CODES = "\n\n".join(
    f"{code}: {code_of_error.meaning} (exit status {code_of_error.exit_code})."
    for code, code_of_error in CODES.items()
)


_BY_OTHER_NAMES = dict.fromkeys(
    ("lag", "lags", "consumer-groups", "kafka-consumer-groups"),
    "kraftops dump-log summary DIR --log __consumer_offsets",
)
"""Command lines by what people type who know other tools."""


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    tasks=TASKS,
    name="kraftops",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Kafka's tools are also there under their own names, such as kafka-dump-log.",
    **manual(__file__, more=environment(), CODES=_CODES),
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
    lines += [_BY_OTHER_NAMES[name]] if name in _BY_OTHER_NAMES else []
    for tool in ("cluster", "storage", "dump-log"):
        group = root.get_command(context, tool)
        if isinstance(group, click.Group) and name in group.list_commands(context):
            lines.append(f"kraftops {tool} {name}")
    if not lines:
        from kraftops_shell.grammar.registry import commands

        if name in commands(kafka=False, one_shot=True):
            lines.append(f"kraftops metadata-shell {name}")
    return f"it is {' or '.join(lines)}" if lines else ""
