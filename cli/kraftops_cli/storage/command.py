"""`kafka-storage`: make and inspect log directories as Kafka's StorageTool does."""

from __future__ import annotations

import click

from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.command import ToolGroup

COMMANDS = {
    "info": ("kraftops_cli.storage.info:info", "Show what the log directories of a node hold."),
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
    "verify": ("kraftops_cli.storage.verify:verify", "Tell whether a server would start."),
    "recover": (
        "kraftops_cli.storage.recover:recover",
        "Go on where the quorum, or its addresses, are lost.",
    ),
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
SECTIONS = (
    (
        "How format works",
        """\
Every directory is checked before any is written: that it can be made or written to, that no
process holds its lock, that it holds no partitions. Then all files are written under temporary
names and synced, then renamed, meta.properties last in each directory: whatever ends a format,
each directory is formatted or it is not, and format -g completes the rest. Meanwhile format holds
the lock (DIR/.lock) that a server would take; the file stays. What a killed format left behind is
no data and is replaced. When root formats, the files belong to the owner of the directory, or of
the nearest one above that exists.

With --ensure, directories that are formatted already are compared with what is asked: cluster id,
node id, directory ids, and whose quorum it is. All that differs is refused, with both values;
if nothing differs, what is empty is formatted. It may be run as often as you like.""",
    ),
    (
        "Differences from Kafka",
        """\
Help and error texts are ours: one line on standard error, with the message of Kafka's tool, the
file and the line of a configuration key, and often a second line with a hint. There are no stack
traces, on standard output neither. Salts and keys of SCRAM users are shown as <redacted>, and so is
what may be part of a password.

Refused, where Kafka's tool goes on: an empty cluster id; an empty metadata.log.dir; one directory
under two names; voters without a host, with a reserved directory id, or two with the same; a
directory that is not formatted but holds partitions (--force formats it); a directory whose lock is
held while another one is to be formatted; a metadata directory that cannot be read; any directory
that cannot be made or written, before the others are touched. A data directory that cannot be read
is passed over as by Kafka's tool, with a warning; --strict and --ensure refuse it.

A UUID with a leading dash may follow -t after a blank. One that is not the base64 of 16
bytes is taken with a warning; --strict refuses it. Other characters than ASCII are written to
meta.properties as \\uXXXX: Kafka's tool writes what it then cannot read back. A voters' snapshot
that an earlier, unfinished format left is removed when the quorum is to be another one; that of
a metadata log which a server has written is kept, also with --force. An IPv6
address in the listener of --standalone is understood. Classes that the configuration names are not
loaded, and so not checked. Standard output of info has no stack trace where a meta.properties is
bad; what is wrong beyond the checks of Kafka's tool is on standard error, and does not change the
exit status.""",
    ),
    (
        "Exit status",
        """\
0: done; of verify: the servers would start.
1: bad arguments or configuration, or refused; of info: it found a problem that Kafka's tool knows.
2: verify has findings.
130: interrupted.
141: the reader of the output has gone.""",
    ),
    (
        "Files",
        """\
DIR/meta.properties: what makes a directory a log directory: cluster.id, node.id, directory.id.

DIR/bootstrap.checkpoint: the features and SCRAM users that a new cluster begins with.

DIR/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint: the voters that a dynamic
quorum begins with.

DIR/.lock: locked by a running server.

DIR/meta.properties.before-rewrite: what the last rewrite has replaced.""",
    ),
    ("Environment", "KRAFTOPS_DEBUG: set to anything, an error shows where it comes from."),
)


@click.group(
    cls=ToolGroup,
    name="storage",
    syntax=Argparse4j(ours=frozenset({"rewrite", "verify", "recover"})),
    lazy=COMMANDS,
    examples=EXAMPLES,
    sections=SECTIONS,
    help="Format and inspect the log directories of KRaft nodes.",
)
def storage() -> None:
    """Do nothing: the subcommands do the work."""
