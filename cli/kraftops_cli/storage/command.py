"""`kafka-storage`: make and inspect log directories as Kafka's StorageTool does."""

from __future__ import annotations

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import ToolGroup

COMMANDS = {
    "info": ("kraftops_cli.storage.info:info", "Show the state of the log directories of a node."),
    "format": ("kraftops_cli.storage.format:format_", "Format the log directories of a node."),
    "version-mapping": (
        "kraftops_cli.storage.versions:version_mapping",
        "Show the feature levels of a release.",
    ),
    "feature-dependencies": (
        "kraftops_cli.storage.versions:feature_dependencies",
        "Show which other features a feature level needs.",
    ),
    "random-uuid": ("kraftops_cli.storage.versions:random_uuid", "Print a new UUID."),
    "rewrite": ("kraftops_cli.storage.rewrite:rewrite", "Change the ids of formatted directories."),
    "verify": ("kraftops_cli.storage.verify:verify", "Check whether a server would start."),
    "recover": (
        "kraftops_cli.storage.recover:recover",
        "Recover a cluster that has lost its quorum, or its addresses.",
    ),
    "recover-plan": (
        "kraftops_cli.storage.recover_plan:recover_plan",
        "Write the recovery of all hosts of a cluster as scripts.",
    ),
    "compare": (
        "kraftops_cli.storage.compare:compare",
        "Compare the copies of partitions on several brokers' disks.",
    ),
}
"""By name, in Kafka's order and then ours: where the command is, and its short help."""
_KAFKAS = {"info", "format", "version-mapping", "feature-dependencies", "random-uuid"}


@click.group(
    cls=ToolGroup,
    name="storage",
    syntax=Argparse4j(ours=frozenset(COMMANDS) - _KAFKAS),
    lazy=COMMANDS,
    **manual(__file__),
)
def storage() -> None:
    """Do nothing: the subcommands do the work."""
