"""`kafka-storage`: make and inspect log directories as Kafka's StorageTool does."""

from __future__ import annotations

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
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
    "How format works": """\
Every directory is checked before any is written: that it can be made or written to, that no
process holds its lock, that it holds no partitions. Then all files are written under temporary
names and synced, then renamed, meta.properties last in each directory. If a format is interrupted,
each directory is either formatted or untouched, and format -g completes the rest. Meanwhile format
holds the lock (DIR/.lock) that a server would take; the file stays. What a killed format has left
does not count as data, and is replaced. When root formats, the files belong to the owner of the
directory, or of the nearest existing directory above it.

With --ensure, directories that are formatted already are compared with the request: cluster id,
node id, directory ids, and voters. Every difference is refused, with both values; if there is none,
empty directories are formatted. The command may be repeated as often as you like.""",
    "Guards of format": """\
Two things would lose data, and are refused without --force: a controller that begins a quorum
(--standalone, --initial-controllers) beside partitions or a metadata log that are there already,
and a directory with partitions that the metadata has on other brokers. With --force a warning names
the topics or partitions, and their records and bytes.

Checked are the directories of the node, and those that --metadata names: the metadata
directories of other nodes, or copies of them. If some are named, an empty voter of
controller.quorum.voters is formatted only if most of the voters have their logs among them.

Other nodes are not asked. Without --metadata, format cannot know that an empty disk had a log
before, or that other voters are empty too: if most voters are formatted again with the same list,
they elect a leader without the records. kafka-storage verify, with the configurations of all
controllers, shows this before a server starts.""",
    "Differences from Kafka": """\
Help and error texts are ours: one line on standard error, with the message of Kafka's tool, the
file and the line of a configuration key, and often a second line with a hint. There are no stack
traces, not even on standard output. Salts and keys of SCRAM users, and possible parts of passwords,
are shown as <redacted>.

Refused, where Kafka's tool goes on: an empty cluster id; an empty metadata.log.dir; one directory
under two names; voters without a host, with a reserved directory id, or two with the same one; a
directory that is not formatted but holds partitions (--force formats it); a new quorum beside
partitions of an old one; a directory that another process has locked, even if only others are to be
formatted; a metadata directory that cannot be read; any directory that cannot be made or written,
before the others are changed. A data directory that cannot be read is skipped, as Kafka's tool
does, with a warning; --strict and --ensure refuse it.

A UUID with a leading dash may follow -t after a blank. A cluster id that is not the base64 of 16
bytes is accepted with a warning; --strict refuses it. Characters outside ASCII are written to
meta.properties as \\uXXXX: Kafka's tool writes them in a form that it cannot read back. A voters'
snapshot of an unfinished format is removed when the new quorum is another one; the snapshot of a
metadata log that a server has written is kept, also with --force. An IPv6 address in the listener
of --standalone is understood. Classes in the configuration are not loaded, and so not checked.
Standard output of info has no stack trace where a meta.properties is bad; problems that Kafka's
tool does not check are on standard error, and do not change the exit status.""",
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
