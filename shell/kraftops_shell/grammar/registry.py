"""The commands of the shell: their words, their help, and where each is."""

from __future__ import annotations

from typing import NamedTuple


class Argument(NamedTuple):
    """The words of a command: *number* is as in Kafka's parser, `?`, `*`, `+` or empty for one."""

    name: str
    number: str
    help: str
    is_path: bool = True


class Flag(NamedTuple):
    """An option of a command of ours; *value* names what follows it, None where nothing does.

    Of one that *is a list*, all words up to the next option are values.
    """

    name: str
    value: str | None
    help: str
    choices: tuple[str, ...] = ()
    is_list: bool = False


class Command(NamedTuple):
    """A command: *place* (`module:function`) is imported to run it.

    *examples* are command lines and what they do.
    """

    name: str
    help: str
    place: str
    arguments: tuple[Argument, ...] = ()
    flags: tuple[Flag, ...] = ()
    is_one_shot: bool = True
    is_kafkas: bool = True
    details: str = ""
    examples: tuple[tuple[str, str], ...] = ()


_TEXT_OR_JSON = Flag(
    "--format", "text|json", "Say it as text, or as lines of JSON.", ("text", "json")
)

COMMANDS: tuple[Command, ...] = (
    Command(
        "cat",
        "Show the contents of metadata files.",
        "kraftops_shell.commands.browse:cat",
        (Argument("targets", "+", "The metadata files to display."),),
        details="""\
Values are JSON: on a terminal in colours, and on several lines where they are long.""",
        examples=(("cat /image/topics/byName/orders/*", "all about a topic"),),
    ),
    Command(
        "cd",
        "Set the current working directory.",
        "kraftops_shell.commands.browse:cd",
        (Argument("target", "?", "The directory to change to."),),
        is_one_shot=False,
    ),
    Command(
        "diff",
        "Show what is different between two states, or two nodes.",
        "kraftops_shell.commands.diff:diff_command",
        (
            Argument("A", "", "The older: @OFFSET, @TIME, source:PATH, or a path of the tree."),
            Argument("B", "", "The newer, in the same way."),
            Argument("path", "?", "Of two states, compare only what is here."),
        ),
        flags=(_TEXT_OR_JSON,),
        is_kafkas=False,
        details="""\
A line each: + for what only B has, - for what only A has, ~ for values that differ, with the fields
that do. @OFFSET is the state after that record, @TIME that at a time (ISO 8601, or 2h for two hours
ago), source:PATH that of other files. Of whole states, topics are compared by name, and the
provenance is not. Of a running quorum, the earliest state is that of its newest snapshot. Exit
code: 2 when something is different.""",
        examples=(
            ("diff @4000 @4200", "what the records up to 4200 changed"),
            ("diff @1d /image/configs", "the configurations of a day ago, and those of now"),
            ("diff source:/backup/kafka @4200 /image/topics", "the topics of a copy, and ours"),
        ),
    ),
    Command(
        "exit",
        "Exit the metadata shell.",
        "kraftops_shell.session.session:leave",
        is_one_shot=False,
    ),
    Command(
        "export",
        "Write nodes as JSON.",
        "kraftops_shell.commands.export:export",
        (Argument("path", "?", "What is written, with all below it."),),
        flags=(
            Flag(
                "--format",
                "json|ndjson",
                "One JSON value, or a line of path and value for each leaf.",
                ("json", "ndjson"),
            ),
            Flag("--output", "FILE", "The file, which is there whole or not at all."),
        ),
        is_kafkas=False,
        examples=(
            ("export /image/configs --output configs.json", "the configurations, into a file"),
            ("export /image --format ndjson", "all leaves, for jq and its kind"),
        ),
    ),
    Command(
        "find",
        "Search for nodes in the directory hierarchy.",
        "kraftops_shell.commands.find:find",
        (Argument("paths", "*", "The paths to start at."),),
        flags=(
            Flag("-name", "PATTERN", "Only nodes whose name matches."),
            Flag("-path", "PATTERN", "Only nodes whose whole path matches; * spans slashes."),
            Flag("-type", "d|f", "Only directories, or only leaves.", ("d", "f")),
            Flag("-maxdepth", "N", "Go down no more than N levels."),
            Flag("-newer-than", "OFFSET|TIME", "Only leaves that changed after that."),
            Flag("-value", "REGEX", "Only leaves in whose JSON the expression is."),
        ),
        details="""\
All tests must hold. A time is ISO 8601, or a duration before now such as 2h. What is known from a
snapshot alone, without the log behind it, counts as changed at its end.""",
        examples=(
            ("find /image -name 'orders*' -type d", "what is called so"),
            ("find /image/topics/byName -newer-than 4000", "partitions that changed since"),
            ("find /image/topics/byName -value '\"leader\":-1'", "partitions without leader"),
        ),
    ),
    Command(
        "grep",
        "Search for values.",
        "kraftops_shell.commands.grep:grep",
        (
            Argument("PATTERN", "", "A regular expression.", is_path=False),
            Argument("paths", "*", "Where to look, with all below."),
        ),
        flags=(
            Flag("-i", None, "Take capitals and small letters for the same."),
            Flag("-l", None, "Print paths only."),
        ),
        is_kafkas=False,
        details="Values are searched as JSON on one line. Exit code: 1 when there is none such.",
        examples=(
            ("grep '\"leader\":7[,}]' /image/topics/byName", "the partitions that 7 leads"),
            ("grep -i sasl /image/cluster", "who listens with SASL"),
        ),
    ),
    Command(
        "help",
        "Display this help message.",
        "kraftops_shell.commands.manual:show_help",
        is_one_shot=False,
    ),
    Command(
        "history",
        "Print command history.",
        "kraftops_shell.session.session:history",
        (Argument("numEntriesToShow", "?", "The number of entries to show.", is_path=False),),
        is_one_shot=False,
    ),
    Command(
        "history-of",
        "Show what happened to a node.",
        "kraftops_shell.commands.history_of:history_of",
        (Argument("path", "", "The node, which need not be there any more."),),
        flags=(_TEXT_OR_JSON,),
        is_kafkas=False,
        details="""\
A line for each change, oldest first: offset, time, type of the record, path, and what changed. The
log is read from its beginning, or from its oldest snapshot, that of a running quorum from its
newest one. What only that knows is shown with <= and the last offset before the log.""",
        examples=(
            ("history-of /image/topics/byName/orders/0", "leaders and ISR of a partition"),
            ("history-of /image/cluster/brokers/3", "when a broker came and went"),
            ("history-of /image/configs/TOPIC:orders", "who changed the configuration, and when"),
        ),
    ),
    Command(
        "ls",
        "List metadata nodes.",
        "kraftops_shell.commands.ls:ls",
        (Argument("targets", "*", "The metadata node paths to list."),),
        flags=(
            Flag("-l", None, "Show type, size, offset and time of the last change."),
            Flag(
                "--sort", "name|natural", "By text, or with numbers as such.", ("name", "natural")
            ),
        ),
        details="""\
The size of a leaf is that of its JSON in bytes, that of a directory the number of its children; its
last change is the last of anything in it. What came before a snapshot is looked up in the log
behind it, which is read when first needed; where that does not reach back so far, or is not there,
<= stands before the last offset that the change may have.

In the paths of all commands, * stands for any text, ? for one sign and {a,b} for either; \\ before
such a sign, or before a slash that is part of a name, takes it as it is.""",
        examples=(
            ("ls -l /image/topics/byName", "topics, and when they changed last"),
            ("ls --sort natural /image/topics/byName/orders", "partitions 0, 1, 2 … 10"),
        ),
    ),
    Command(
        "man",
        "Show the help text for a specific command.",
        "kraftops_shell.commands.manual:man",
        (Argument("cmd", "", "The command to get help text for.", is_path=False),),
        is_one_shot=False,
    ),
    Command(
        "pwd",
        "Print the current working directory.",
        "kraftops_shell.commands.browse:pwd",
        is_one_shot=False,
    ),
    Command(
        "stat",
        "Show what is known about nodes.",
        "kraftops_shell.commands.stat:stat",
        (Argument("paths", "+", "The nodes."),),
        flags=(_TEXT_OR_JSON,),
        is_kafkas=False,
        details="""\
Sort and size, offset and time of the last change, and of a leaf the record that made it: its type,
the file, and the position of its batch in it.""",
        examples=(("stat /image/topics/byName/orders/0", "the last record about a partition"),),
    ),
    Command(
        "summary",
        "Show how the cluster and its metadata log do.",
        "kraftops_shell.commands.summary:summary",
        flags=(_TEXT_OR_JSON,),
        is_kafkas=False,
        details="""\
Cluster id and metadata version, brokers by state, topics and partitions, those under-replicated and
without leader, the size of the log, and age and lag of the newest snapshot.""",
        examples=(("summary --format json", "for a monitor"),),
    ),
    Command(
        "tree",
        "Show the contents of metadata nodes in a tree structure.",
        "kraftops_shell.commands.browse:tree",
        (Argument("targets", "+", "The metadata nodes to display."),),
        flags=(Flag("-L", "N", "Go down no more than N levels."),),
        examples=(("tree -L 2 /image", "what there is, in broad strokes"),),
    ),
    Command(
        "verify",
        "Look for what would make a server choke on this log.",
        "kraftops_shell.commands.verify:verify_command",
        (Argument("sources", "*", "Other sources: replicas of one log.", is_path=False),),
        flags=(
            Flag("--upgrade", "RELEASE", "Also: registrations that keep the cluster from it."),
            Flag("--for", "RELEASE", "Also: records and features that it cannot read."),
            Flag(
                "--log-dirs",
                "DIR",
                "Also: partitions in these log directories that do not belong there.",
                is_list=True,
            ),
            _TEXT_OR_JSON,
        ),
        is_kafkas=False,
        details="""\
A line for each finding: file, offset, position of the batch, what is wrong, and where there is one
the cure. Looked at are records that cannot apply or be read, damage, gaps, epochs that go back,
open transactions, and what the records amount to: replicas, ISRs, leaders and directories that
cannot be, features that no server knows. Several sources are also compared with each other, batch
by batch: the first offset, epoch and CRC that differ are named. Exit code: 2 when there are
findings.""",
        examples=(
            ("verify", "the log that is browsed"),
            ("verify c1/data c2/data c3/data", "the replicas of three controllers"),
            ("verify --upgrade 4.3", "who is too old for it"),
            ("verify --log-dirs /data1 /data2", "partitions on disk that nobody wants"),
        ),
    ),
)


def commands(*, kafka: bool, one_shot: bool) -> dict[str, Command]:
    """Return the commands that there are in a form, by name.

    *one_shot*: only those that make sense when nothing comes after them.
    """
    return {
        command.name: command
        for command in COMMANDS
        if (command.is_kafkas or not kafka) and (command.is_one_shot or not one_shot)
    }
