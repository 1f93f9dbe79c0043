"""`kafka-storage`: make and inspect log directories as Kafka's StorageTool does."""

from __future__ import annotations

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import chapters
from kraftops_cli.syntax.command import ToolGroup
from kraftops_cli.syntax.exit_status import exit_status

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

EXAMPLES = {
    "a cluster id": "kafka-storage random-uuid",
    "the first controller of a new cluster": (
        'kafka-storage format -c server.properties -t "$CLUSTER_ID" --standalone'
    ),
    "the state of the directories": "kafka-storage info -c server.properties",
}
SECTIONS = {
    **chapters(__file__, "manual.txt"),
    **exit_status(
        {
            1: "bad arguments or configuration, directories that Kafka's tool would not format, a"
            " directory to format that holds partitions, and of info a problem that it knows.",
            2: "verify has findings.",
        }
    ),
    "Files": """\
DIR/meta.properties: the ids that make a directory a log directory: cluster.id, node.id,
directory.id.

DIR/bootstrap.checkpoint: the first features and SCRAM users of a new cluster.

DIR/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint: the first voters of a dynamic
quorum.

DIR/.lock: locked by a running server.

DIR/meta.properties.before-rewrite: the file before the last rewrite.""",
}


@click.group(
    cls=ToolGroup,
    name="storage",
    syntax=Argparse4j(ours=frozenset(COMMANDS) - _KAFKAS),
    lazy=COMMANDS,
    examples=EXAMPLES,
    sections=SECTIONS,
    help="Format and inspect the log directories of KRaft nodes.",
)
def storage() -> None:
    """Do nothing: the subcommands do the work."""
