"""The call of a command from the words of a line; messages are those of argparse4j, as in Kafka."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kraftops_shell.grammar.command import Command, Flag

_NUMBER = re.compile(r"-[0-9]+")


class BadLineError(Exception):
    """A line is no command; the message is for the user."""


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
        """Whether the output is JSON."""
        return self.flags.get("--format") == "json"


def read_call(words: Sequence[str], known: Mapping[str, Command], *, kafka: bool) -> Call | None:
    """Return the call that the words of a line make; None for an empty line.

    In Kafka's form commands have no flags.

    Raises:
        BadLineError: the command is unknown, or it does not take these words.
    """
    words = list(words)
    while words and not words[-1]:
        words.pop()
    if not words:
        return None
    name, *rest = words
    if name in known:
        return _read(known[name], rest, kafka=kafka)
    meant = [other for other in known if name.strip() and other.startswith(name)]
    if len(meant) == 1:
        if kafka:
            _read(known[meant[0]], rest, kafka=kafka)  # it checks its arguments first
        raise BadLineError(f"invalid choice: '{name}': did you mean '{meant[0]}'?")
    if meant:
        raise BadLineError(f"ambiguous command: {name} could match {', '.join(meant)}")
    choices = ", ".join(f"'{other}'" for other in known)
    raise BadLineError(f"invalid choice: '{name}' (choose from {choices})")


def number_of(call: Call, flag: str) -> int | None:
    """Return the number that a flag has; None where it was not given.

    Raises:
        BadLineError: it is no number, or below 0.
    """
    text = call.flags.get(flag)
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", str(text)):
        raise BadLineError(f"argument {flag}: '{text}' is no number")
    return int(str(text))


def _read(command: Command, words: Sequence[str], *, kafka: bool) -> Call:
    reader = _Reader({} if kafka else {flag.name: flag for flag in command.flags})
    reader.read(list(words))
    _check_count(command, reader.positional)
    return Call(command, tuple(reader.positional), reader.flags, reader.lists)


class _Reader:
    """Reads positional words and flags of a command."""

    def __init__(self, known: Mapping[str, Flag]) -> None:
        self.positional: list[str] = []
        self.flags: dict[str, str | bool] = {}
        self.lists: dict[str, tuple[str, ...]] = {}
        self._known = known

    def read(self, left: list[str]) -> None:
        """Read all words."""
        while left:
            word = left.pop(0)
            if word == "--":
                self.positional += left
                return
            if not word.startswith("-") or word == "-" or _NUMBER.fullmatch(word):
                self.positional.append(word)
            else:
                self._read_flag(word, left)

    def _read_flag(self, word: str, left: list[str]) -> None:
        """Read a flag, and its values from the words that are left."""
        name, equals, value = word.partition("=")
        flag = self._known.get(name)
        if flag is None:
            raise BadLineError(f"unrecognized arguments: '{' '.join([word, *left])}'")
        if flag.value is None:
            if equals:
                raise BadLineError(f"argument {name}: ignore implicit argument '{value}'")
            self.flags[name] = True
            return
        if not equals:
            if not left:
                raise BadLineError(f"argument {name}: expected one argument")
            value = left.pop(0)
        if flag.choices and value not in flag.choices:
            choices = ", ".join(f"'{choice}'" for choice in flag.choices)
            raise BadLineError(
                f"argument {name}: invalid choice: '{value}' (choose from {choices})"
            )
        if not flag.is_list:
            self.flags[name] = value
            return
        values = [value]
        while left and not left[0].startswith("-"):
            values.append(left.pop(0))
        self.lists[name] = (*self.lists.get(name, ()), *values)


def _check_count(command: Command, words: list[str]) -> None:
    least = sum(argument.nargs in ("", "+") for argument in command.arguments)
    is_open = any(argument.nargs in ("*", "+") for argument in command.arguments)
    if len(words) < least:
        raise BadLineError("too few arguments")
    most = len(command.arguments)
    if not is_open and len(words) > most:
        raise BadLineError(f"unrecognized arguments: '{' '.join(words[most:])}'")
