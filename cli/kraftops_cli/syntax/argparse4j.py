"""The argument syntax of argparse4j, the parser of Kafka's newer tools."""

import os
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

import click

from kraftops_cli.syntax.common_options import COMMON_NAMES
from kraftops_cli.syntax.errors import BadArguments, UnknownCommand
from kraftops_cli.syntax.nearest import nearest, unknown_option
from kraftops_cli.syntax.option_fields import RenamedOption
from kraftops_cli.terminal.streams import Terminal

_FILE = re.compile(r"@(.+)", re.DOTALL)
_NEGATIVE_NUMBER = re.compile(r"-[0-9]+")
_UUID = re.compile(r"[A-Za-z0-9_-]{22}")
_DURATION = re.compile(r"-([0-9]+(ms|[smhdw]))+")
_SECRET = re.compile(r"((?:pass|secret|token)[\w.-]*[= ])[^\s,\]]+", re.IGNORECASE)
_VALUES_OF_OPTIONS = (
    (r"\d+(,\d+)*", "--id"),
    (r"\S+:\d+(,\S+:\d+)*", "--bootstrap-server"),
    (r".+\.(properties|conf|cfg)", "--config"),
    (r".+\.(properties|conf|cfg)", "--command-config"),
    (r"[^-/]+", "--group"),
)
"""Patterns of values, and the options that take them."""
_USUAL_ALTERNATIVES = {"voters": "--voters self makes this node the only voter"}
"""Hints by the first parameter of a group of which one is required."""
# Characters of an argument file; a file that is named by mistake may have any size.
_MAX_FILE_LENGTH = 1 << 20
_MAX_FILE_ARGUMENTS = 100_000  # in files that may name each other


@dataclass(frozen=True, slots=True)
class Argparse4j:
    """The syntax of a command or of a group; called, it returns arguments as Click's parser takes.

    Long options and subcommands may be shortened: a prefix is looked for among Kafka's names
    first, then among ours. A value stands after a blank, after `=`, or directly after a short
    option; one with a `flag_value` may lack it. Flags may be joined; of an option given twice the
    last counts. The help wins over what follows it, and over what is missing. Beyond argparse4j, a
    UUID that begins with a dash is a value. For a group, the result ends in the full name of the
    subcommand and its arguments, unchanged.
    """

    ours: Collection[str] = frozenset()
    """The parameters (`dry_run`) and subcommands (`dry-run`) that Kafka's tool does not have."""
    kafkas: Collection[str] | None = None
    """The parameters that it has, instead of *ours*, where these are fewer."""
    exclusive: Sequence[Sequence[str]] = ()
    """Groups of parameters (`standalone`): at most one of each group may be given."""
    one_of: Sequence[Sequence[str]] = ()
    """Groups of parameters: exactly one of each group must be given."""
    expands_files: bool = True
    """Whether `@FILE` stands for the lines of a file."""

    def has_added(self, name: str | None) -> bool:
        """Tell whether Kafka's tool lacks a parameter."""
        if self.kafkas is not None:
            return name not in self.kafkas
        return name in self.ours or name in COMMON_NAMES

    def __call__(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the arguments in the form that Click's parser takes.

        Raises:
            BadArguments: the syntax does not allow them.
        """
        return _Parser(self, ctx, args).click_arguments()


class _FileArgument(str):
    """An argument from a file; *paths* are that file and the files that led to it."""

    __slots__ = ("paths",)
    paths: tuple[str, ...]


class _ArgumentQueue:
    """The arguments that are not parsed yet; `@FILE` is expanded when it comes first."""

    def __init__(self, args: Iterable[str], ctx: click.Context, *, expands_files: bool) -> None:
        self._args = deque(args)
        self._ctx = ctx
        self._expands_files = expands_files
        self._from_files = 0

    def peek(self) -> str | None:
        """Return the next argument without taking it; None at the end."""
        while self._expands_files and self._args and (file := _FILE.fullmatch(self._args[0])):
            lines = _lines(file[1], _paths(self._args.popleft()), self._ctx)
            self._from_files += len(lines)
            if self._from_files > _MAX_FILE_ARGUMENTS:
                raise BadArguments(f"more than {_MAX_FILE_ARGUMENTS} arguments in files", self._ctx)
            self._args.extendleft(reversed(lines))
        return self._args[0] if self._args else None

    def take(self) -> str:
        """Remove and return the argument that `peek` returned."""
        return self._args.popleft()

    def rest(self) -> list[str]:
        """Return all arguments that are left, without expanding files."""
        return list(self._args)


def _lines(path: str, outer: tuple[str, ...], ctx: click.Context) -> list[_FileArgument]:
    paths = (*outer, os.path.realpath(path))
    refusal = f"Could not read arguments from file '{path}'"
    if paths[-1] in paths[:-1]:
        raise BadArguments(refusal, ctx, "it names itself")
    try:
        # Lines end as for Java's readLine: newlines of all systems, and nothing else.
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(_MAX_FILE_LENGTH + 1)
    except OSError as error:
        raise BadArguments(refusal, ctx, error.strerror or "") from error
    if len(text) > _MAX_FILE_LENGTH or "\0" in text:
        raise BadArguments(refusal, ctx, "it is too long, or not text")
    lines = [_FileArgument(line) for line in text.removesuffix("\n").split("\n")] if text else []
    for line in lines:
        line.paths = paths
    return lines


def _paths(argument: str) -> tuple[str, ...]:
    return argument.paths if isinstance(argument, _FileArgument) else ()


class _Parser:
    """One pass over the arguments of one command."""

    def __init__(self, syntax: Argparse4j, ctx: click.Context, args: list[str]) -> None:
        self._syntax = syntax
        self._ctx = ctx
        self._queue = _ArgumentQueue(args, ctx, expands_files=syntax.expands_files)
        command = ctx.command
        params = command.get_params(ctx)
        self._options = {
            name: param
            for param in params
            if isinstance(param, click.Option)
            for name in (*param.opts, *param.secondary_opts)
        }
        self._arguments = [param for param in params if isinstance(param, click.Argument)]
        self._given: dict[click.Option, None] = {}
        self._subcommands = command.list_commands(ctx) if isinstance(command, click.Group) else []

    def click_arguments(self) -> list[str]:
        """Check the arguments in their order, then what is missing; return them all."""
        out: list[str] = []
        others: list[str] = []
        options_are_over = False
        while (argument := self._queue.peek()) is not None:
            if options_are_over or not _looks_like_option(argument):
                if self._has_room_for_argument(len(others)):
                    others.append(str(self._queue.take()))
                elif self._subcommands and not options_are_over:
                    return [*out, self._subcommand(self._queue.take()), *self._queue.rest()]
                else:
                    self._refuse_unrecognized(self._queue.rest())
            elif self._queue.take() == "--":
                options_are_over = True
            else:
                for name, value in self._options_in(argument):
                    option = self._options[name]
                    if option.is_eager and not _takes_value(option):
                        return [name]
                    out += self._click_option(name, value)
        self._refuse_missing(len(others))
        return [*out, "--", *others] if others else out

    def _options_in(self, argument: str) -> Iterator[tuple[str, str | None]]:
        """Yield the full names of the options in *argument*, each with the value that is in it."""
        name, equals, value = argument.partition("=")
        ours = {key for key, option in self._options.items() if self._syntax.has_added(option.name)}
        resolved = _resolve("option", name, self._options, ours, self._ctx)
        if resolved:
            yield resolved, value if equals else None
            return
        for end, letter in enumerate(argument[1:], 2):
            name = f"-{letter}"
            if argument.startswith("--") or name not in self._options:
                self._refuse_unrecognized([argument], self._options)
            if _takes_value(self._options[name]):
                yield name, argument[end:] or None
                return
            yield name, None

    def _click_option(self, name: str, value: str | None) -> list[str]:
        """Return an option with its value; without *value*, the next argument is the value."""
        option = self._options[name]
        for other in self._given:
            if other is not option and any(
                {other.name, option.name} <= set(group)
                for group in (*self._syntax.exclusive, *self._syntax.one_of)
            ):
                self._refuse(f"{_all_names(option)}: not allowed with argument {_all_names(other)}")
        self._given[option] = None
        if not _takes_value(option):
            if value is not None:
                self._refuse(f"{_all_names(option)}: ignore implicit argument '{value}'")
            return [name]
        if value is None:
            following = self._queue.peek()
            is_missing = following is None or _is_refused_as_value(following)
            if is_missing and isinstance(option.flag_value, str):
                return [f"{name}={option.flag_value}"]
            if is_missing:
                hint = f"{name}=VALUE takes any value" if following else ""
                self._refuse(f"{_all_names(option)}: expected one argument", hint)
            value = str(self._queue.take())
        return [f"{name}={value}"] if name.startswith("--") else [name, value]

    def _has_room_for_argument(self, count: int) -> bool:
        """Tell whether a positional argument may follow *count* others."""
        numbers = [argument.nargs for argument in self._arguments]
        return -1 in numbers or count < sum(numbers)

    def _subcommand(self, name: str) -> str:
        subcommand = _resolve("command", name, self._subcommands, self._syntax.ours, self._ctx)
        if not subcommand:
            choices = ", ".join(f"'{choice}'" for choice in self._subcommands)
            raise UnknownCommand(
                f"invalid choice: '{name}' (choose from {choices})",
                self._ctx,
                _hint(name, self._subcommands),
                name,
            )
        if name == "version" and (terminal := self._ctx.find_object(Terminal)):
            terminal.error(f"note: {name} is read as {subcommand}; --version shows the version")
        return subcommand

    def _refuse_missing(self, others: int) -> None:
        """Refuse a command line that lacks a subcommand, an argument or an option.

        *others* is the number of positional arguments that are there.
        """
        needed = sum(max(argument.nargs, 1) for argument in self._arguments if argument.required)
        if self._subcommands or others < needed:
            raise BadArguments("too few arguments", self._ctx)
        options = dict.fromkeys(self._options.values())
        missing = [option for option in options if option.required and option not in self._given]
        if missing:
            # Of several, argparse4j names the last.
            self._refuse(f"{_all_names(missing[-1])} is required")
        for group in self._syntax.one_of:
            alternatives = [_all_names(option) for option in options if option.name in group]
            if not any(option.name in group for option in self._given):
                raise BadArguments(
                    f"one of the arguments {' '.join(alternatives)} is required",
                    self._ctx,
                    _USUAL_ALTERNATIVES.get(group[0], ""),
                )

    def _refuse_unrecognized(self, arguments: list[str], names: Collection[str] = ()) -> NoReturn:
        """Refuse *arguments*; *names* are the options where the first one is none of these.

        Kafka's form has the text of Kafka's tool.
        """
        hint = self._hint_of_commands(arguments[0].partition("=")[0])
        if arguments[0] == "--json" and "--format" in self._options:
            hint = "it is --format json"
        terminal = self._ctx.find_object(Terminal)
        if names and terminal and not terminal.has_kafkas_form:
            name = arguments[0].partition("=")[0]
            raise BadArguments(unknown_option(name, () if hint else names), self._ctx, hint)
        hint = hint or _hint(arguments[0], names)
        if not arguments[0].startswith("-") and not hint:
            hint = self._hint_of_value(arguments[0])
        raise BadArguments(f"unrecognized arguments: '{_shown(arguments)}'", self._ctx, hint)

    def _hint_of_commands(self, name: str) -> str:
        """Return a hint for an option of subcommands, which stands before them, or of siblings.

        A command that follows is the one that is meant.
        """
        above = self._ctx if self._subcommands else self._ctx.parent
        group = above.command if above else None
        if above is None or not isinstance(group, click.Group) or name in self._options:
            return ""
        commands = [(word, group.get_command(above, word)) for word in group.list_commands(above)]
        takers = [
            word
            for word, command in commands
            if command and any(name in param.opts for param in command.params)
        ]
        takers = [word for word in takers if word in self._queue.rest()] or takers
        verb = "goes after a command that takes it:" if self._subcommands else "is an option of"
        return f"{name} {verb} {', '.join(takers[:3])}" if takers else ""

    def _hint_of_value(self, value: str) -> str:
        """Return a hint for a bare value: the option that it is for, or the required ones."""
        for pattern, option in _VALUES_OF_OPTIONS:
            if option in self._options and re.fullmatch(pattern, value):
                return f"{option} {_shown([value])}, if that is meant"
        if "--config" in self._options and os.path.isdir(value):
            return f"kraftops doctor {value} examines log directories without a configuration"
        needed = {
            _all_names(option)
            for option in self._options.values()
            if option.required and option not in self._given
        }
        return f"it takes only options, and needs {', '.join(sorted(needed))}" if needed else ""

    def _refuse(self, reason: str, hint: str = "") -> NoReturn:
        raise BadArguments(f"argument {reason}", self._ctx, hint)


def _shown(arguments: Iterable[str]) -> str:
    """Return arguments as a text without what follows the name of a password."""
    return _SECRET.sub(r"\1<redacted>", " ".join(arguments))


def _resolve(
    kind: str, name: str, names: Collection[str], ours: Collection[str], ctx: click.Context
) -> str | None:
    """Resolve a name or unique prefix: among Kafka's own names first, then *ours*."""
    if name in names:
        return name
    if not name:
        return None
    for are_ours in (False, True):
        matching = sorted(n for n in names if n.startswith(name) and (n in ours) == are_ours)
        if len(matching) > 1:
            raise BadArguments(f"ambiguous {kind}: {name} could match {', '.join(matching)}", ctx)
        if matching:
            return matching[0]
    return None


def _hint(argument: str, names: Collection[str]) -> str:
    near = nearest(argument.partition("=")[0], names)
    hints = [f"perhaps {near} is meant"] if near else []
    if _paths(argument):
        hints.append("checking trailing white spaces or new lines in @file may help")
    return "; ".join(hints)


def _looks_like_option(argument: str) -> bool:
    is_number = _NEGATIVE_NUMBER.fullmatch(argument)
    return argument.startswith("-") and argument != "-" and not is_number


def _is_refused_as_value(argument: str) -> bool:
    """Tell whether argparse4j refuses an argument where a value must stand.

    A UUID with a leading dash is accepted: earlier releases of Kafka made such cluster ids. So is
    a duration, as -2h: it is a time.
    """
    is_value = _UUID.fullmatch(argument) or _DURATION.fullmatch(argument)
    return _looks_like_option(argument) and not is_value


def _takes_value(option: click.Option) -> bool:
    return not (option.is_flag or option.count)


def _all_names(option: click.Option) -> str:
    """Return the names of an option as Kafka declares them: the long one first."""
    names = option.present if isinstance(option, RenamedOption) else option.opts
    return "/".join(sorted(names, key=len, reverse=True))
