"""The registry of the shell's commands: arguments, flags, help, and the function of each.

A new command is a row here and a function in `kraftops_shell.commands`. Parsing, help, man page
and completion follow from the row.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple


class Values(Enum):
    """The values of an argument or flag, for completion."""

    NODES = auto()
    """Paths of the tree."""
    STATES = auto()
    """Paths of the tree, or `source:` and a file."""
    COMMANDS = auto()
    FILES = auto()
    DIRECTORIES = auto()
    TEXT = auto()
    """Nothing to complete, or the choices of a flag."""


class Argument(NamedTuple):
    """A positional argument: *nargs* is `?`, `*`, `+`, or empty for one, as in argparse4j."""

    name: str
    nargs: str
    help: str
    values: Values = Values.NODES


class Flag(NamedTuple):
    """An option of a command in our form.

    *value* is the placeholder of its value in the help, None for an option without a value. If
    *is_list*, all words up to the next option are values.
    """

    name: str
    value: str | None
    help: str
    choices: tuple[str, ...] = ()
    is_list: bool = False
    values: Values = Values.TEXT


class Command(NamedTuple):
    """A command; *function* is `module:function` in `kraftops_shell.commands`.

    The function takes the session and the call, and returns an exit code or None. *help* is a line
    for `help`; *details* and *examples* (a command line and its meaning) are for `man`.
    """

    name: str
    help: str
    function: str
    arguments: tuple[Argument, ...] = ()
    flags: tuple[Flag, ...] = ()
    is_one_shot: bool = True
    """Whether it makes sense as the only command of a process."""
    is_kafkas: bool = False
    """Whether Kafka's shell has it; its help and the help of its arguments are Kafka's."""
    details: str = ""
    examples: tuple[tuple[str, str], ...] = ()


_TEXT_OR_JSON = Flag("--format", "text|json", "Print text, or lines of JSON.", ("text", "json"))

COMMANDS: tuple[Command, ...] = (
    Command(
        "cat",
        "Show the contents of metadata files.",
        "browse:cat",
        (Argument("targets", "+", "The metadata files to display."),),
        is_kafkas=True,
        details="""\
Values are JSON: coloured on a terminal, and long ones on several lines.""",
        examples=(("cat /image/topics/byName/orders/*", "all leaves of a topic"),),
    ),
    Command(
        "cd",
        "Set the current working directory.",
        "browse:cd",
        (Argument("target", "?", "The directory to change to."),),
        is_one_shot=False,
        is_kafkas=True,
    ),
    Command(
        "diff",
        "Show the differences between two states, or two nodes.",
        "diff:diff_command",
        (
            Argument(
                "A",
                "",
                "The older: @OFFSET, @TIME, source:PATH, or a path of the tree.",
                Values.STATES,
            ),
            Argument("B", "", "The newer, in the same form.", Values.STATES),
            Argument("path", "?", "Compare only this path of two states."),
        ),
        flags=(_TEXT_OR_JSON,),
        details="""\
A line for each difference: + for a node that only B has, - for a node that only A has, ~ for values
that differ, with the fields that differ. @OFFSET is the state after a record, @TIME the state at a
time (ISO 8601, or 2h for two hours ago), source:PATH the state of other files. In whole states,
topics are compared by name, and the provenance is left out. The earliest state of a running quorum
is its newest snapshot. Exit code: 2 if there is a difference.""",
        examples=(
            ("diff @4000 @4200", "the changes by the records up to 4200"),
            ("diff @1d /image/configs", "configurations of a day ago and of now"),
            ("diff source:/backup/kafka @4200 /image/topics", "topics of a copy and of this log"),
        ),
    ),
    Command(
        "exit",
        "Exit the metadata shell.",
        "control:leave",
        is_one_shot=False,
        is_kafkas=True,
    ),
    Command(
        "export",
        "Write nodes as JSON.",
        "export:export",
        (Argument("path", "?", "The node, written with all nodes below it."),),
        flags=(
            Flag(
                "--format",
                "json|ndjson",
                "One JSON value, or a line of path and value for each leaf.",
                ("json", "ndjson"),
            ),
            Flag(
                "--output",
                "FILE",
                "Write to a file, as a whole or not at all.",
                values=Values.FILES,
            ),
        ),
        examples=(
            ("export /image/configs --output configs.json", "configurations to a file"),
            ("export /image --format ndjson", "all leaves, for tools like jq"),
        ),
    ),
    Command(
        "find",
        "Search for nodes in the directory hierarchy.",
        "find:find",
        (Argument("paths", "*", "The paths to start at."),),
        flags=(
            Flag("-name", "PATTERN", "Only nodes with a matching name."),
            Flag("-path", "PATTERN", "Only nodes with a matching path; * matches slashes too."),
            Flag("-type", "d|f", "Only directories, or only leaves.", ("d", "f")),
            Flag("-maxdepth", "N", "Go down no more than N levels."),
            Flag(
                "-newer-than", "OFFSET|TIME", "Only leaves that changed after that offset or time."
            ),
            Flag("-value", "REGEX", "Only leaves with JSON that contains a match."),
        ),
        is_kafkas=True,
        details="""\
All conditions must hold. A time is ISO 8601, or a duration before now, for example 2h. A change
that only a snapshot has, without the log before it, counts at the snapshot's end.""",
        examples=(
            ("find /image -name 'orders*' -type d", "directories with a name"),
            ("find /image/topics/byName -newer-than 4000", "leaves that changed after offset 4000"),
            ("find /image/topics/byName -value '\"leader\":-1'", "partitions without a leader"),
        ),
    ),
    Command(
        "grep",
        "Search for values.",
        "grep:grep",
        (
            Argument("PATTERN", "", "A regular expression.", values=Values.TEXT),
            Argument("paths", "*", "The nodes to search, with all nodes below them."),
        ),
        flags=(
            Flag("-i", None, "Ignore case."),
            Flag("-l", None, "Print paths only."),
        ),
        details="Values are searched as JSON on one line. Exit code: 1 without a match.",
        examples=(
            ("grep '\"leader\":7[,}]' /image/topics/byName", "partitions with leader 7"),
            ("grep -i sasl /image/cluster", "brokers and controllers with SASL"),
        ),
    ),
    Command(
        "help",
        "Display this help message.",
        "manual:show_help",
        is_one_shot=False,
        is_kafkas=True,
    ),
    Command(
        "history",
        "Print command history.",
        "control:history",
        (Argument("numEntriesToShow", "?", "The number of entries to show.", values=Values.TEXT),),
        is_one_shot=False,
        is_kafkas=True,
    ),
    Command(
        "history-of",
        "Show the changes of a node.",
        "history_of:history_of",
        (Argument("path", "", "The node; it may be deleted."),),
        flags=(_TEXT_OR_JSON,),
        details="""\
A line for each change, oldest first: offset, time, type of the record, path, and fields. The log is
read from its beginning or its oldest snapshot, and in a running quorum from its newest snapshot. A
change that only the snapshot has is shown with <= and the last offset before the log.""",
        examples=(
            ("history-of /image/topics/byName/orders/0", "leaders and ISR of a partition"),
            ("history-of /image/cluster/brokers/3", "registrations and fencing of a broker"),
            ("history-of /image/configs/TOPIC:orders", "changes of a topic's configuration"),
        ),
    ),
    Command(
        "ls",
        "List metadata nodes.",
        "ls:ls",
        (Argument("targets", "*", "The metadata node paths to list."),),
        flags=(
            Flag("-l", None, "Show type, size, offset and time of the last change."),
            Flag(
                "--sort", "name|natural", "Sort by text, or numbers by value.", ("name", "natural")
            ),
        ),
        is_kafkas=True,
        details="""\
A node is a directory, or a leaf with a value. The size of a leaf is the number of bytes of its
JSON, the size of a directory the number of its children; the last change of a directory is the
newest change below it. For changes before a snapshot, the log before it is read when they are first
needed; without that log, <= stands before the last offset that the change may have.

In the paths of all commands, * matches any text, ? one character and {a,b} either of two; \\ before
one of these characters, or before a slash that is part of a name, is an escape.""",
        examples=(
            ("ls -l /image/topics/byName", "topics and their last changes"),
            ("ls --sort natural /image/topics/byName/orders", "partitions 0, 1, 2 … 10"),
        ),
    ),
    Command(
        "man",
        "Show the help text for a specific command.",
        "manual:man",
        (Argument("cmd", "", "The command to get help text for.", values=Values.COMMANDS),),
        is_one_shot=False,
        is_kafkas=True,
    ),
    Command(
        "pwd",
        "Print the current working directory.",
        "browse:pwd",
        is_one_shot=False,
        is_kafkas=True,
    ),
    Command(
        "stat",
        "Show size, last change and record of nodes.",
        "stat:stat",
        (Argument("paths", "+", "The nodes."),),
        flags=(_TEXT_OR_JSON,),
        details="""\
Kind and size, offset and time of the last change, and for a leaf the record that made it: type,
file, and position of its batch.""",
        examples=(("stat /image/topics/byName/orders/0", "the last record of a partition"),),
    ),
    Command(
        "summary",
        "Show the health of the cluster and its metadata log.",
        "summary:summary",
        flags=(_TEXT_OR_JSON,),
        details="""\
Cluster id and metadata version, brokers by state, topics, partitions, under-replicated and
leaderless partitions, the size of the log, and age and lag of the newest snapshot.""",
        examples=(("summary --format json", "values for monitoring"),),
    ),
    Command(
        "tree",
        "Show the contents of metadata nodes in a tree structure.",
        "browse:tree",
        (Argument("targets", "+", "The metadata nodes to display."),),
        flags=(Flag("-L", "N", "Go down no more than N levels."),),
        is_kafkas=True,
        examples=(("tree -L 2 /image", "the upper levels of the tree"),),
    ),
    Command(
        "verify",
        "Check the log for what a server would refuse.",
        "verify:verify_command",
        (Argument("sources", "*", "Other sources: replicas of one log.", values=Values.FILES),),
        flags=(
            Flag("--upgrade", "RELEASE", "Also find registrations that block an upgrade."),
            Flag("--for", "RELEASE", "Also find records and features that a release cannot read."),
            Flag(
                "--log-dirs",
                "DIR",
                "Also find partitions in log directories that do not belong there.",
                is_list=True,
                values=Values.DIRECTORIES,
            ),
            _TEXT_OR_JSON,
        ),
        details="""\
A line for each finding: file, offset, position of the batch, reason, and a cure where there is one.
The checks find records that cannot apply or be read, damage, gaps, epochs that go back, and open
transactions; and in the state impossible replicas, ISRs, leaders and directories, and unknown
features. Several sources are also compared with each other, batch by batch: the first offset, epoch
and CRC that differ are named. Exit code: 2 if there are findings.""",
        examples=(
            ("verify", "check the browsed log"),
            ("verify c1/data c2/data c3/data", "check and compare three controllers"),
            ("verify --upgrade 4.3", "check for an upgrade to 4.3"),
            ("verify --log-dirs /data1 /data2", "find stray partitions on disk"),
        ),
    ),
)


def commands(*, kafka: bool, one_shot: bool) -> dict[str, Command]:
    """Return the commands of a form by name; with *one_shot*, only commands for a single use."""
    return {
        command.name: command
        for command in COMMANDS
        if (command.is_kafkas or not kafka) and (command.is_one_shot or not one_shot)
    }
