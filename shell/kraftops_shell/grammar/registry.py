"""The registry of the shell's commands: arguments, flags, help, and the function of each.

A new command is a row in a module of `kraftops_shell.grammar.rows`, and a function in
`kraftops_shell.commands`. Parsing, help, man page and completion follow from the row.
"""

from __future__ import annotations

from functools import cache

from kraftops_shell.grammar.command import Command, Task
from kraftops_shell.grammar.rows import browsing, checks, moments, views, words

COMMANDS: tuple[Command, ...] = tuple(
    sorted(
        (*browsing.ROWS, *checks.ROWS, *moments.ROWS, *views.ROWS, *words.ROWS),
        key=lambda command: command.name,
    )
)


@cache
def commands(*, kafka: bool, one_shot: bool) -> dict[str, Command]:
    """Return the commands of a form by name; with *one_shot*, only commands for a single use."""
    return {
        command.name: _in_kafkas_form(command) if kafka else command
        for command in COMMANDS
        if (command.is_kafkas or not kafka) and (not one_shot or _is_one_shot(command, kafka=kafka))
    }


@cache
def words_of_a_terminal() -> dict[str, Command]:
    """Return the commands of ours that a terminal takes in Kafka's form, too, by name."""
    return {command.name: command for command in COMMANDS if command.is_word}


def _is_one_shot(command: Command, *, kafka: bool) -> bool:
    """Tell whether a command may be the only one; words of a session only in our form."""
    return command.is_one_shot and not (kafka and command.task is Task.SESSION)


def _in_kafkas_form(command: Command) -> Command:
    arguments = tuple(argument for argument in command.arguments if not argument.is_ours)
    return command._replace(arguments=arguments)
