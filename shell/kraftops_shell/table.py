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
    """An option of a command of ours; *value* names what follows it, None where nothing does."""

    name: str
    value: str | None
    help: str
    choices: tuple[str, ...] = ()


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


COMMANDS: tuple[Command, ...] = (
    Command(
        "cat",
        "Show the contents of metadata files.",
        "kraftops_shell.browse:cat",
        (Argument("targets", "+", "The metadata files to display."),),
    ),
    Command(
        "cd",
        "Set the current working directory.",
        "kraftops_shell.browse:cd",
        (Argument("target", "?", "The directory to change to."),),
        is_one_shot=False,
    ),
    Command("exit", "Exit the metadata shell.", "kraftops_shell.session:leave", is_one_shot=False),
    Command(
        "find",
        "Search for nodes in the directory hierarchy.",
        "kraftops_shell.find:find",
        (Argument("paths", "*", "The paths to start at."),),
    ),
    Command(
        "help",
        "Display this help message.",
        "kraftops_shell.manual:show_help",
        is_one_shot=False,
    ),
    Command(
        "history",
        "Print command history.",
        "kraftops_shell.session:history",
        (Argument("numEntriesToShow", "?", "The number of entries to show.", is_path=False),),
        is_one_shot=False,
    ),
    Command(
        "ls",
        "List metadata nodes.",
        "kraftops_shell.listing:ls",
        (Argument("targets", "*", "The metadata node paths to list."),),
    ),
    Command(
        "man",
        "Show the help text for a specific command.",
        "kraftops_shell.manual:man",
        (Argument("cmd", "", "The command to get help text for.", is_path=False),),
        is_one_shot=False,
    ),
    Command(
        "pwd",
        "Print the current working directory.",
        "kraftops_shell.browse:pwd",
        is_one_shot=False,
    ),
    Command(
        "tree",
        "Show the contents of metadata nodes in a tree structure.",
        "kraftops_shell.browse:tree",
        (Argument("targets", "+", "The metadata nodes to display."),),
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
