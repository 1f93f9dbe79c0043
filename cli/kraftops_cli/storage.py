"""`kafka-storage`: make and inspect log directories as Kafka's StorageTool does."""

from __future__ import annotations

import click

from kraftops_cli.command import ToolGroup

COMMANDS = {
    "info": ("kraftops_cli.storage_info:info", "Show what the log directories of a node hold."),
    "format": ("kraftops_cli.storage_format:format_", "Format the log directories of a node."),
    "version-mapping": (
        "kraftops_cli.storage_versions:version_mapping",
        "Show the feature levels of a release.",
    ),
    "feature-dependencies": (
        "kraftops_cli.storage_versions:feature_dependencies",
        "Show which other features a feature level needs.",
    ),
    "random-uuid": ("kraftops_cli.storage_versions:random_uuid", "Print a new UUID."),
    "rewrite": ("kraftops_cli.storage_rewrite:rewrite", "Change the ids of formatted directories."),
    "verify": ("kraftops_cli.storage_verify:verify", "Tell whether a server would start."),
}
"""By name, in Kafka's order and then ours: where the command is, and its short help."""

EXAMPLES = (
    ("a cluster id", "kafka-storage random-uuid"),
    (
        "the first controller of a new cluster",
        'kafka-storage format -c server.properties -t "$CLUSTER_ID" --standalone',
    ),
    ("what is there", "kafka-storage info -c server.properties"),
)


@click.group(
    cls=ToolGroup,
    name="storage",
    lazy=COMMANDS,
    ours=frozenset({"rewrite", "verify"}),
    examples=EXAMPLES,
    help="Format and inspect the log directories of KRaft nodes.",
)
def storage() -> None:
    """Do nothing: the subcommands do the work."""
