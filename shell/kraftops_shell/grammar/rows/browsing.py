"""Commands that look at the tree and search it."""

from __future__ import annotations

from kraftops_shell.grammar.command import TEXT_OR_ROWS, Argument, Command, Flag, Task, Values

ROWS: tuple[Command, ...] = (
    Command(
        "browse",
        "Browse the tree on a full screen.",
        "browser.command:browse",
        (Argument("path", "?", "The node to begin with."),),
        task=Task.LOOK,
        phrase="Browse the tree on a full screen, and through time.",
    ),
    Command(
        "cat",
        "Show the contents of metadata files.",
        "nodes:cat",
        (Argument("targets", "+", "The metadata files to display."),),
        is_kafkas=True,
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
        task=Task.SEARCH,
        phrase="Find nodes by name, depth, change or value.",
    ),
    Command(
        "grep",
        "Search for values.",
        "find:grep",
        (
            Argument("PATTERN", "", "A regular expression.", values=Values.TEXT),
            Argument("paths", "*", "The nodes to search, with all nodes below them."),
        ),
        flags=(
            Flag("-i", None, "Ignore case."),
            Flag("-l", None, "Print paths only."),
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
    ),
    Command(
        "stat",
        "Show size, last change and record of nodes.",
        "stat:stat",
        (Argument("paths", "+", "The nodes."),),
        flags=(TEXT_OR_ROWS,),
        task=Task.LOOK,
    ),
    Command(
        "tree",
        "Show the contents of metadata nodes in a tree structure.",
        "nodes:tree",
        (Argument("targets", "+", "The metadata nodes to display."),),
        flags=(Flag("-L", "N", "Go down no more than N levels."),),
        is_kafkas=True,
        task=Task.LOOK,
        phrase="Show nodes and values as a tree.",
    ),
)
