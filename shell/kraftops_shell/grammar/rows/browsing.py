"""Commands that look at the tree and search it."""

from __future__ import annotations

from kraftops_shell.grammar.command import TEXT_OR_ROWS, Argument, Command, Flag, Task, Values

ROWS: tuple[Command, ...] = (
    Command(
        "browse",
        "Browse the tree on a full screen.",
        "browser.command:browse",
        (Argument("path", "?", "The node to begin with."),),
        details="""\
The tree, with the details of the chosen node beside it, or below it on a narrow terminal. Arrows
move, open and close, and so does Enter; / searches names in the whole tree, or paths if the text
has a slash, and n goes on. [ and ], or Shift and an arrow, go back and forward by a change of the
state, { and } by a hundred, = to the newest state. p shows the partitions with a problem at that
moment, c the changes of the hour before it, o the partitions that move; Escape leads back. d
scrolls the details, ? shows more keys on the last line. The newest state stays current; the space
bar pauses that. Ctrl-C leaves a search, q the browser; the session is as before.""",
        examples=(("browse /image/topics/byName", "the topics, with their partitions"),),
        task=Task.LOOK,
        phrase="Browse the tree on a full screen, and through time.",
    ),
    Command(
        "cat",
        "Show the contents of metadata files.",
        "nodes:cat",
        (Argument("targets", "+", "The metadata files to display."),),
        is_kafkas=True,
        details="""\
Values are JSON: coloured on a terminal, and long ones on several lines.""",
        examples=(("cat /image/topics/byName/orders/*", "all leaves of a topic"),),
        task=Task.LOOK,
        phrase="Show values.",
    ),
    Command(
        "cd",
        "Set the current working directory.",
        "nodes:cd",
        (Argument("target", "?", "The directory to change to."),),
        is_one_shot=False,
        is_kafkas=True,
        task=Task.LOOK,
        phrase="Change the working directory.",
        examples=(("cd /image/topics/byName", "to the topics"),),
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
that only a snapshot has, without the log before it, counts at the snapshot's end. Regular
expressions are those of grep. Views as /image/byBroker are searched if they are named.""",
        examples=(
            ("find /image -name 'orders*' -type d", "directories with a name"),
            ("find /image/topics/byName -newer-than 4000", "leaves that changed after offset 4000"),
            ("find /image/topics/byName -value '\"leader\":-1'", "partitions without a leader"),
        ),
        task=Task.SEARCH,
        phrase="Find nodes by name, depth, change or value.",
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
        details="""\
Values are searched as JSON on one line. A search takes a step for each character, so that no
expression can hang: it has classes, groups, |, repetitions, ^ and $, but no references, lookarounds
and \\b. Views as /image/byBroker are searched if they are named. Exit code: 1 without a match.""",
        examples=(
            ("grep '\"leader\":7[,}]' /image/topics/byName", "partitions with leader 7"),
            ("grep -i sasl /image/cluster", "brokers and controllers with SASL"),
        ),
        task=Task.SEARCH,
    ),
    Command(
        "ls",
        "List metadata nodes.",
        "ls:ls",
        (Argument("targets", "*", "The metadata node paths to list."),),
        flags=(
            Flag("-l", None, "Show what nodes mean, and offset and time of their last change."),
            Flag("-a", None, "Show all nodes, as ls always does."),
            Flag(
                "--sort",
                "name|natural",
                "Sort by text, or numbers by value (the default).",
                ("name", "natural"),
            ),
        ),
        is_kafkas=True,
        is_word=True,
        details="""\
A node is a directory, or a leaf with a value. With -l, partitions have leader, ISR and replicas,
topics partitions and replication, brokers state, rack and listeners, features level and the
metadata version that brought it. Other nodes have type and size: a leaf the bytes of its JSON, a
directory the number of its children. The last change of a directory is the newest change below it.
For changes before a snapshot, the log before it is read when they are first needed; without that
log, <= stands before the last offset that the change may have.

In the paths of all commands, * matches any text, ? one character, [a-c] one of some, [!a] one of
all others, and {a,b} either of two; \\ before one of these characters, or before a slash that is
part of a name, is an escape.""",
        examples=(
            ("ls -l /image/topics/byName", "topics and their last changes"),
            ("ls -l /image/topics/byName/orders", "leaders, ISRs and replicas of partitions"),
            ("ls /image/byBroker/103/leader", "the partitions that a broker leads"),
        ),
        task=Task.LOOK,
        phrase="List nodes.",
    ),
    Command(
        "pwd",
        "Print the current working directory.",
        "nodes:pwd",
        is_one_shot=False,
        is_kafkas=True,
        task=Task.LOOK,
        phrase="Show the working directory.",
        examples=(("pwd", "the working directory"),),
    ),
    Command(
        "stat",
        "Show size, last change and record of nodes.",
        "stat:stat",
        (Argument("paths", "+", "The nodes."),),
        flags=(TEXT_OR_ROWS,),
        details="""\
Kind and size, offset and time of the last change, and for a leaf the record that made it: type,
file, and position of its batch.""",
        examples=(("stat /image/topics/byName/orders/0", "the last record of a partition"),),
        task=Task.LOOK,
    ),
    Command(
        "tree",
        "Show the contents of metadata nodes in a tree structure.",
        "nodes:tree",
        (Argument("targets", "+", "The metadata nodes to display."),),
        flags=(Flag("-L", "N", "Go down no more than N levels."),),
        is_kafkas=True,
        examples=(("tree -L 2 /image", "the upper levels of the tree"),),
        task=Task.LOOK,
        phrase="Show nodes and values as a tree.",
    ),
)
