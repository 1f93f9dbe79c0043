"""`kafka-storage`: make and inspect log directories as Kafka's StorageTool does."""

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import ToolGroup

COMMANDS = {
    "info": (".storage.info", "Show the state of the log directories of a node."),
    "format": (".storage.format:format_", "Format the log directories of a node."),
    "version-mapping": (
        ".storage.versions:version_mapping",
        "Show the feature levels of a release.",
    ),
    "feature-dependencies": (
        ".storage.versions:feature_dependencies",
        "Show which other features a feature level needs.",
    ),
    "random-uuid": (".storage.versions:random_uuid", "Print a new UUID."),
    "rewrite": (".storage.rewrite", "Change the ids of formatted directories."),
    "verify": (".storage.verify", "Check whether a server would start."),
    "recover": (
        ".storage.recover",
        "Recover a cluster that has lost its quorum, or its addresses.",
    ),
    "recover-plan": (
        ".storage.recover_plan",
        "Write the recovery of all hosts of a cluster as scripts.",
    ),
    "compare": (".storage.compare", "Compare the copies of partitions on several brokers' disks."),
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
