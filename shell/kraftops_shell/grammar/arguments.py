"""The call of a command from the words of a line; messages are those of argparse4j, as in Kafka."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kraftops_shell.grammar.command import Command, Values
from kraftops_shell.grammar.nearest import meant, unknown

_NUMBER = re.compile(r"-[0-9]+")
_DURATION = re.compile(r"-([0-9]+(ms|[smhdw]))+")


HELP_FLAGS = ("--help", "-h")
_LONG_LISTS = (["-la"], ["-al"])


class BadLineError(Exception):
    """A line is not a command; the message is for the user, and perhaps a line of *usage*."""

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.usage = usage


class Call(NamedTuple):
    """A command, its words, and the values of its flags; a flag without a value is `True`.

    *lists* has the values of flags that take several.
    """

    command: Command
    words: tuple[str, ...]
    flags: Mapping[str, str | bool]
    lists: Mapping[str, tuple[str, ...]]

    @property
    def is_json(self) -> bool:
        """Whether the output is JSON: an object, or lines."""
        return self.flags.get("--format") in ("json", "ndjson")


def read_call(
    words: Sequence[str],
    commands: Mapping[str, Command],
    *,
    kafka: bool,
    ours: Mapping[str, Command] | None = None,
) -> Call | None:
    """Return the call that the words of a line make; None for an empty line.

    In Kafka's form commands have no flags, but for those of *ours*: our commands that a terminal
    takes there. `--help` and `-h` ask for the manual of their command.

    Raises:
        BadLineError: the command is unknown, or it does not take these words.
    """
    words = list(words)
    while words and not words[-1]:
        words.pop()
    if not words:
        return None
    name, *rest = words
    if ours:
        call = _ours_in_kafkas_form(name, rest, commands, ours)
        if call:
            return call
    if name in commands:
        return _read(commands[name], rest, commands, kafka=kafka)
    if kafka:
        raise _unknown_in_kafkas_form(name, rest, commands)
    # `show topics`, as in SQL: the second word is the command.
    near = rest[:1] if rest and rest[0] in commands else meant(name, commands)
    if not near and (words := name.split())[1:] and words[0] in commands:
        raise BadLineError(f"there is no command {name!r}: its words are not quoted together")
    if not near:
        raise BadLineError(f"there is no command {name}; help shows the commands")
    raise BadLineError(unknown("command", name, near))


def _ours_in_kafkas_form(
    name: str, rest: list[str], commands: Mapping[str, Command], ours: Mapping[str, Command]
) -> Call | None:
    """Return the call of a command of ours; None where Kafka's form has an answer."""
    if name in ours and (name not in commands or rest[:1] in _LONG_LISTS):
        return _read(ours[name], rest, commands, kafka=False)
    if name in commands and len(rest) == 1 and rest[0] in HELP_FLAGS:
        return _manual(commands[name], commands)
    return None


def _unknown_in_kafkas_form(
    name: str, rest: list[str], commands: Mapping[str, Command]
) -> BadLineError:
    begun = [other for other in commands if name.strip() and other.startswith(name)]
    if len(begun) == 1:
        _read(commands[begun[0]], rest, commands, kafka=True)  # it checks its arguments first
        return BadLineError(f"invalid choice: '{name}': did you mean '{begun[0]}'?")
    if begun:
        return BadLineError(f"ambiguous command: {name} could match {', '.join(begun)}")
    choices = ", ".join(f"'{other}'" for other in commands)
    return BadLineError(f"invalid choice: '{name}' (choose from {choices})")


def asks_for_help(words: Sequence[str], commands: Mapping[str, Command]) -> bool:
    """Tell whether words are answered without a state: `help`, `man`, or a command's `--help`."""
    try:
        call = read_call(words, commands, kafka=False)
    except BadLineError:
        return False
    return call is not None and call.command.name in ("help", "man")


def number_of(call: Call, flag: str) -> int | None:
    """Return the number that a flag has; None where it was not given.

    Raises:
        BadLineError: it is not a number, or below 0.
    """
    text = call.flags.get(flag)
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", str(text)):
        raise BadLineError(f"argument {flag}: '{text}' is not a number")
    return int(str(text))


def _read(
    command: Command, words: Sequence[str], commands: Mapping[str, Command], *, kafka: bool
) -> Call:
    reader = _Reader(command, kafka=kafka)
    try:
        reader.read(list(words))
        _check_count(command, reader.positional, kafka=kafka)
    except _HelpAsked:
        return _manual(command, commands)
    return Call(command, tuple(reader.positional), reader.flags, reader.lists)


def _manual(command: Command, commands: Mapping[str, Command]) -> Call:
    return Call(commands["man"], (command.name,), {}, {})


class _HelpAsked(Exception):
    """The words ask for the manual of their command."""


class _Reader:
    """Reads positional words and flags of a command."""

    def __init__(self, command: Command, *, kafka: bool) -> None:
        self.positional: list[str] = []
        self.flags: dict[str, str | bool] = {}
        self.lists: dict[str, tuple[str, ...]] = {}
        self._options = {} if kafka else {flag.name: flag for flag in command.flags}
        self._kafka = kafka
        self._usage = command.usage
        self._has_line = any(argument.values is Values.LINE for argument in command.arguments)

    def read(self, pending: list[str]) -> None:
        while pending:
            word = pending.pop(0)
            if word == "--":
                self.positional += pending
                return
            if not word.startswith("-") or word == "-" or self._is_value(word):
                self.positional.append(word)
                if self._has_line:
                    self.positional += pending
                    return
            else:
                self._read_flag(word, pending)

    def _is_value(self, word: str) -> bool:
        return bool(_NUMBER.fullmatch(word) or (not self._kafka and _DURATION.fullmatch(word)))

    def _read_flag(self, word: str, pending: list[str]) -> None:
        """Read a flag, and its values from the words that are left."""
        name, equals, value = word.partition("=")
        flag = self._options.get(name)
        if flag is None:
            self._read_unknown(word, pending)
            return
        if flag.value is None:
            if equals:
                raise BadLineError(f"argument {name}: ignore implicit argument '{value}'")
            self.flags[name] = True
            return
        if not equals:
            if not pending:
                raise BadLineError(f"argument {name}: expected one argument")
            value = pending.pop(0)
        if flag.choices and value not in flag.choices:
            choices = ", ".join(f"'{choice}'" for choice in flag.choices)
            raise BadLineError(
                f"argument {name}: invalid choice: '{value}' (choose from {choices})"
            )
        if not flag.is_list:
            self.flags[name] = value
            return
        values = [value]
        while pending and not pending[0].startswith("-"):
            values.append(pending.pop(0))
        self.lists[name] = (*self.lists.get(name, ()), *values)

    def _read_unknown(self, word: str, pending: list[str]) -> None:
        """Read a request for help, or several flags of one letter behind one dash."""
        if self._kafka:
            raise BadLineError(f"unrecognized arguments: '{' '.join([word, *pending])}'")
        if word in HELP_FLAGS:
            raise _HelpAsked
        letters = [f"-{letter}" for letter in word[1:]]
        if all(flag in self._options and self._options[flag].value is None for flag in letters):
            self.flags |= dict.fromkeys(letters, True)
            return
        name = word.partition("=")[0]
        near = [flag for flag in meant(name, self._options) if name.strip("-")]
        raise BadLineError(unknown("option", name, near), self._usage)


def _check_count(command: Command, words: list[str], *, kafka: bool) -> None:
    least = sum(argument.nargs in ("", "+") for argument in command.arguments)
    is_open = any(argument.nargs in ("*", "+") for argument in command.arguments)
    if len(words) < least:
        missing = [argument.name for argument in command.arguments if argument.nargs in ("", "+")][
            len(words) :
        ]
        if kafka:
            raise BadLineError("too few arguments")
        raise BadLineError(f"{command.name} needs {' and '.join(missing)}", command.usage)
    most = len(command.arguments)
    if not is_open and len(words) > most:
        usage = "" if kafka else command.usage
        raise BadLineError(f"unrecognized arguments: '{' '.join(words[most:])}'", usage)
