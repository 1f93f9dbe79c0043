"""The command `kraftops`; a subcommand is imported when it is run."""

from __future__ import annotations

import click

from kraftops_cli.syntax.lazy_group import LazyGroup
from kraftops_cli.version import KAFKA_VERSION, VERSION

COMMANDS = {
    "dump-log": (
        "kraftops_cli.dump_log.command:dump_log",
        "Print log segments, snapshots and indexes.",
    ),
    "storage": (
        "kraftops_cli.storage.command:storage",
        "Format and inspect log directories.",
    ),
    "metadata-shell": (
        "kraftops_cli.metadata_shell.command:metadata_shell",
        "Browse the metadata of a cluster.",
    ),
    "cluster": (
        "kraftops_cli.cluster.command:cluster",
        "Show a running cluster, and unregister brokers.",
    ),
    "coordinator-partition": (
        "kraftops_cli.coordinator_partition:coordinator_partition",
        "Say where a group or a transactional id is kept.",
    ),
}
"""Module, function and short help of each command."""


def _print_version(context: click.Context, _: click.Parameter, asked: object) -> None:
    if not asked or context.resilient_parsing:
        return
    from kraftops.engine.choice import engine_name, why_not_native

    engine, reason = engine_name(), why_not_native()
    missing = f" (the native one is {reason})" if reason else ""
    click.echo(f"kraftops {VERSION} (Kafka {KAFKA_VERSION}), {engine} engine{missing}")
    context.exit()


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    name="kraftops",
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The operator's toolkit for KRaft Kafka.",
    epilog="Kafka's tools are also there under their own names, as kafka-dump-log.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
def root() -> None:
    """Do nothing: the commands do the work."""
