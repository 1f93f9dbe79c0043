"""Arguments as argparse4j reads them, the parser of Kafka's newer tools."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import NoReturn

import click

from kraftops_cli.syntax.command import BadArguments, ToolCommand, ToolGroup

_FILE = re.compile(r"@(.+)", re.DOTALL)
_NEGATIVE_NUMBER = re.compile(r"-[0-9]+")
_UUID = re.compile(r"[A-Za-z0-9_-]{22}")
_MAX_FILE_LENGTH = 1 << 20
_MAX_FILE_ARGUMENTS = 100_000


def clicks_arguments(
    command: ToolCommand | ToolGroup, ctx: click.Context, args: list[str]
) -> list[str]:
    """Return the arguments in the form that Click's parser takes.

    Long options and subcommands may be shortened: a prefix is looked for among Kafka's names
    first, then among ours. A value stands behind a blank, behind `=`, or directly behind a short
    option; flags may be joined; of an option given twice the last counts. `@FILE` stands for the
    lines of a file. The help wins over what follows it, and over what is missing. Beyond
    argparse4j, a UUID that begins with a dash is a value.

    This is the *syntax* of a `ToolCommand`. A `ToolGroup` has it by itself; for one, what this
    returns ends in the full name of the subcommand and its arguments, which are left as they are.
    """
    return _Reading(command, ctx, _Left(args, ctx, files=True)).clicks_arguments()


def clicks_arguments_without_files(
    command: ToolCommand | ToolGroup, ctx: click.Context, args: list[str]
) -> list[str]:
    """Return what `clicks_arguments` does, for tools to which `@FILE` means nothing special."""
    return _Reading(command, ctx, _Left(args, ctx, files=False)).clicks_arguments()


class _FromFile(str):
    """An argument from a file, which another named, and so on: all their *paths*."""

    __slots__ = ("paths",)
    paths: tuple[str, ...]


class _Left:
    """The arguments that are left; with *files*, `@FILE` becomes its lines when it is next."""

    def __init__(self, args: Iterable[str], ctx: click.Context, *, files: bool) -> None:
        self._args = deque(args)
        self._ctx = ctx
        self._files = files
        self._from_files = 0

    def look(self) -> str | None:
        """Return the next argument, which stays where it is."""
        while self._files and self._args and (file := _FILE.fullmatch(self._args[0])):
            lines = _lines(file[1], _paths(self._args.popleft()), self._ctx)
            self._from_files += len(lines)
            if self._from_files > _MAX_FILE_ARGUMENTS:
                raise BadArguments(f"more than {_MAX_FILE_ARGUMENTS} arguments in files", self._ctx)
            self._args.extendleft(reversed(lines))
        return self._args[0] if self._args else None

    def take(self) -> str:
        """Return the argument that was looked at, and go on to the one behind it."""
        return self._args.popleft()

    def all(self) -> list[str]:
        """Return all arguments as they are."""
        return list(self._args)


def _lines(path: str, outer: tuple[str, ...], ctx: click.Context) -> list[_FromFile]:
    """Return the arguments in a file, which that of the *outer* ones names."""
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
        raise BadArguments(refusal, ctx, "it is too long, or no text")
    lines = [_FromFile(line) for line in text.removesuffix("\n").split("\n")] if text else []
    for line in lines:
        line.paths = paths
    return lines


def _paths(argument: str) -> tuple[str, ...]:
    return argument.paths if isinstance(argument, _FromFile) else ()


class _Reading:
    """One reading of the arguments of one command."""

    def __init__(self, command: ToolCommand | ToolGroup, ctx: click.Context, left: _Left) -> None:
        self._command = command
        self._ctx = ctx
        self._left = left
        params = command.get_params(ctx)
        self._options = {
            name: param
            for param in params
            if isinstance(param, click.Option)
            for name in (*param.opts, *param.secondary_opts)
        }
        self._arguments = [param for param in params if isinstance(param, click.Argument)]
        self._given: dict[click.Option, None] = {}
        self._subcommands = command.list_commands(ctx) if isinstance(command, ToolGroup) else []

    def clicks_arguments(self) -> list[str]:
        """Check the arguments in their order, then what is missing; return them all."""
        out: list[str] = []
        others: list[str] = []
        options_are_over = False
        while (argument := self._left.look()) is not None:
            if options_are_over or not _is_like_an_option(argument):
                if self._takes_another(len(others)):
                    others.append(str(self._left.take()))
                elif self._subcommands and not options_are_over:
                    return [*out, self._subcommand(self._left.take()), *self._left.all()]
                else:
                    self._refuse_unrecognized(self._left.all())
            elif self._left.take() == "--":
                options_are_over = True
            else:
                for name, value in self._named_by(argument):
                    option = self._options[name]
                    if option.is_eager and not _takes_value(option):
                        return [name]
                    out += self._option_for_click(name, value)
        self._refuse_missing(len(others))
        return [*out, "--", *others] if others else out

    def _named_by(self, argument: str) -> Iterator[tuple[str, str | None]]:
        """Yield the options that *argument* names, in full, and the value that is in it."""
        name, equals, value = argument.partition("=")
        ours = {key for key, option in self._options.items() if option.name in self._command.ours}
        found = _resolve("option", name, self._options, ours, self._ctx)
        if found:
            yield found, value if equals else None
            return
        for end, letter in enumerate(argument[1:], 2):
            name = f"-{letter}"
            if argument.startswith("--") or name not in self._options:
                self._refuse_unrecognized([argument], self._options)
            if _takes_value(self._options[name]):
                yield name, argument[end:] or None
                return
            yield name, None

    def _option_for_click(self, name: str, value: str | None) -> list[str]:
        """Return an option with its value, which is the next argument where *value* is none."""
        option = self._options[name]
        for other in self._given:
            if other is not option and any(
                {other.name, option.name} <= set(group) for group in self._command.exclusive
            ):
                self._refuse(f"{_spelled(option)}: not allowed with argument {_spelled(other)}")
        self._given[option] = None
        if not _takes_value(option):
            if value is not None:
                self._refuse(f"{_spelled(option)}: ignore implicit argument '{value}'")
            return [name]
        if value is None:
            following = self._left.look()
            if following is None or _reads_as_option(following):
                hint = f"{name}=VALUE takes any value" if following else ""
                self._refuse(f"{_spelled(option)}: expected one argument", hint)
            value = str(self._left.take())
        return [f"{name}={value}"] if name.startswith("--") else [name, value]

    def _takes_another(self, count: int) -> bool:
        """Return whether there is room for another argument that is no option, after *count*."""
        numbers = [argument.nargs for argument in self._arguments]
        return -1 in numbers or count < sum(numbers)

    def _subcommand(self, name: str) -> str:
        """Return the full name of the subcommand that *name* means."""
        found = _resolve("command", name, self._subcommands, self._command.ours, self._ctx)
        if not found:
            choices = ", ".join(f"'{choice}'" for choice in self._subcommands)
            raise BadArguments(
                f"invalid choice: '{name}' (choose from {choices})",
                self._ctx,
                _hint(name, self._subcommands),
            )
        return found

    def _refuse_missing(self, others: int) -> None:
        """Refuse what lacks a subcommand, an argument (there are *others*) or an option."""
        needed = sum(max(argument.nargs, 1) for argument in self._arguments if argument.required)
        if self._subcommands or others < needed:
            raise BadArguments("too few arguments", self._ctx)
        options = dict.fromkeys(self._options.values())
        missing = [option for option in options if option.required and option not in self._given]
        if missing:
            # Of several, argparse4j names the last.
            self._refuse(f"{_spelled(missing[-1])} is required")
        for group in self._command.one_of:
            spelled = [_spelled(option) for option in options if option.name in group]
            if not any(option.name in group for option in self._given):
                raise BadArguments(
                    f"one of the arguments {' '.join(spelled)} is required", self._ctx
                )

    def _refuse_unrecognized(self, arguments: list[str], names: Collection[str] = ()) -> NoReturn:
        """Refuse *arguments*, of which the first may have been meant as one of *names*."""
        raise BadArguments(
            f"unrecognized arguments: '{' '.join(arguments)}'",
            self._ctx,
            _hint(arguments[0], names),
        )

    def _refuse(self, reason: str, hint: str = "") -> NoReturn:
        raise BadArguments(f"argument {reason}", self._ctx, hint)


def _resolve(
    kind: str, name: str, names: Collection[str], ours: Collection[str], ctx: click.Context
) -> str | None:
    """Return the one of *names* that *name* is or begins: Kafka's own first, then *ours*."""
    if name in names:
        return name
    if not name:
        return None
    for are_ours in (False, True):
        found = sorted(n for n in names if n.startswith(name) and (n in ours) == are_ours)
        if len(found) > 1:
            raise BadArguments(f"ambiguous {kind}: {name} could match {', '.join(found)}", ctx)
        if found:
            return found[0]
    return None


def _nearest(name: str, names: Collection[str]) -> str:
    """Return the one of *names* that *name* may be meant as, or nothing."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, names, 1)), "")


def _hint(argument: str, names: Collection[str]) -> str:
    """Return what may help where *argument* is none of *names*."""
    near = _nearest(argument.partition("=")[0], names)
    hints = [f"perhaps {near} is meant"] if near else []
    if _paths(argument):
        hints.append("checking trailing white spaces or new lines in @file may help")
    return "; ".join(hints)


def _is_like_an_option(argument: str) -> bool:
    is_number = _NEGATIVE_NUMBER.fullmatch(argument)
    return argument.startswith("-") and argument != "-" and not is_number


def _reads_as_option(argument: str) -> bool:
    """Tell whether what stands where a value is due is refused, as by argparse4j.

    A UUID with a leading dash is none: tools of earlier releases made such cluster ids.
    """
    return _is_like_an_option(argument) and not _UUID.fullmatch(argument)


def _takes_value(option: click.Option) -> bool:
    return not (option.is_flag or option.count)


def _spelled(option: click.Option) -> str:
    """Return the names of an option as Kafka declares them: the long one first."""
    return "/".join(sorted(option.opts, key=len, reverse=True))
