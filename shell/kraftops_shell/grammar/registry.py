"""The registry of the shell's commands: arguments, flags, help, and the function of each.

A new command is a part of `commands.txt`, and a function in `kraftops_shell.commands`. Parsing,
help, man page and completion follow from the part.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache

from kraftops.fileio.packaged import packaged_parts
from kraftops_shell.grammar.command import Argument, Command, Flag, Task, Values

_TASKS = {task.word: task for task in Task}
_PHRASE, _SHARED = "= ", "@"
_ARGUMENT = re.compile(r"(\S+?)([?*+]?)(?: <([a-z-]+)>)?( ours)?  +(.+)")
_FLAG = re.compile(r"(-\S+)(?: ([^<\s]+))?(?: <([a-z-]+)(\+?)>)?  +(.+)")
_Flags = tuple[Flag, ...]


def _values(kind: str | None, usual: Values) -> Values:
    return Values[kind.upper().replace("-", "_")] if kind else usual


def _flags(lines: Iterable[str], shared: Mapping[str, _Flags]) -> _Flags:
    flags: list[Flag] = []
    for line in lines:
        if line.startswith(_SHARED):
            flags += shared[line]
        elif match := _FLAG.fullmatch(line):
            name, value, kind, is_list, help_text = match.groups()
            choices = tuple(value.split("|")) if value and value.islower() else ()
            values = _values(kind, Values.TEXT)
            flags.append(
                Flag(
                    name=name,
                    value=value,
                    help=help_text,
                    choices=choices,
                    is_list=bool(is_list),
                    values=values,
                )
            )
    return tuple(flags)


def _argument(line: str) -> Argument:
    match = _ARGUMENT.fullmatch(line)
    assert match, line
    name, nargs, kind, is_ours, help_text = match.groups()
    return Argument(
        name=name,
        nargs=nargs,
        help=help_text,
        values=_values(kind, Values.NODES),
        is_ours=bool(is_ours),
    )


def _command(title: str, lines: list[str], shared: Mapping[str, _Flags]) -> Command:
    name, function, task, *marks = title.split()
    help_text, *rest = lines
    phrases = [line.removeprefix(_PHRASE) for line in rest if line.startswith(_PHRASE)]
    arguments = [line for line in rest if not line.startswith((_PHRASE, _SHARED, "-"))]
    return Command(
        name=name,
        help=help_text,
        function=function,
        arguments=tuple(map(_argument, arguments)),
        flags=_flags(rest, shared),
        is_one_shot="interactive" not in marks,
        is_kafkas="kafka" in marks,
        task=_TASKS[task],
        phrase="".join(phrases),
        is_word="word" in marks,
    )


def _commands() -> tuple[Command, ...]:
    """Read `commands.txt`, which says at its beginning what its parts are."""
    texts = packaged_parts(__file__, "commands.txt", "# ")
    del texts[""]
    parts = {title: [*map(str.strip, text.strip().splitlines())] for title, text in texts.items()}
    shared: dict[str, _Flags] = {}
    for title, lines in parts.items():
        if title.startswith(_SHARED):
            shared[title] = _flags(lines, shared)
    return tuple(
        _command(title, lines, shared)
        for title, lines in parts.items()
        if not title.startswith(_SHARED)
    )


COMMANDS = _commands()
"""All commands, by name."""


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
