"""The argument syntax of jopt-simple, the parser of Kafka's older tools."""

from collections import deque

import click

from kraftops_cli.syntax.errors import BadArguments
from kraftops_cli.syntax.nearest import unknown_option


def click_arguments(ctx: click.Context, args: list[str]) -> list[str]:
    """Return the arguments in the form that Click's parser takes.

    Long options may begin with one dash, and are never abbreviated. A value of a flag is ignored.
    An option that needs a value takes the next argument, also one that looks like an option. An
    option may be given once, unless it is `multiple`: names of options that are given again are put
    into `ctx.meta["repeated"]`.

    Raises:
        click.UsageError: there are no arguments, or a value is missing.
    """
    if not args:
        takes_paths = any(isinstance(param, click.Argument) for param in ctx.command.params)
        hint = "name files or directories of logs" if takes_paths else ""
        raise BadArguments("no options are given", ctx, hint)
    return _Parser(ctx, args).click_arguments()


_NO_BROKERS = (
    "-C HOST:PORT reads and follows the metadata log of a running cluster; topics are read from the"
    " disk of a broker"
)
_ELSEWHERE = {
    "b": _NO_BROKERS,
    "bootstrap-server": _NO_BROKERS,
    "group-by": "kraftops disk DIR adds up the bytes by topic, partition or broker",
}
"""Hints for options that other commands have."""


class _Parser:
    """One pass over the arguments of one command."""

    def __init__(self, ctx: click.Context, args: list[str]) -> None:
        self._ctx = ctx
        self._queue = deque(args)
        self._options = {
            _without_dashes(name): option
            for option in ctx.command.get_params(ctx)
            if isinstance(option, click.Option)
            for name in option.opts
        }
        self._given: set[str] = set()
        self._others: list[str] = []
        self._repeated: list[str] = []
        ctx.meta["repeated"] = self._repeated

    def click_arguments(self) -> list[str]:
        """Return the options with their values, in their order."""
        out: list[str] = []
        while self._queue:
            argument = self._queue.popleft()
            if argument == "--":
                self._others += self._queue
                break
            if not argument.startswith("-") or argument == "-":
                self._others.append(argument)
                continue
            name, equals, value = _without_dashes(argument).partition("=")
            option = self._options.get(name)
            if option is None:
                hint = _ELSEWHERE.get(name, "")
                names = [word for option in self._options.values() for word in option.opts]
                text = unknown_option(argument.partition("=")[0], () if hint else names)
                raise BadArguments(text, self._ctx, hint)
            name = f"--{name}" if len(name) > 1 else option.opts[0]
            out += self._click_option(option, name, value if equals else None)
        return [*out, "--", *self._others] if self._others else out

    def _click_option(self, option: click.Option, name: str, value: str | None) -> list[str]:
        if option.is_flag:
            return [name]
        if value is None:
            value = self._separate_value(option, name)
        if name in self._given and not option.multiple:
            self._repeated.append(name)
            return []
        self._given.add(name)
        return [f"{name}={value}"]

    def _separate_value(self, option: click.Option, name: str) -> str:
        """Return the value of an option that has none after `=`."""
        if _needs_value(option):
            if not self._queue:
                raise click.UsageError(f"{name} needs a value", self._ctx)
            return self._queue.popleft()
        if self._queue and not self._queue[0].startswith("-"):
            return self._queue.popleft()
        return str(option.flag_value)


def _without_dashes(text: str) -> str:
    """Return *text* without up to two leading dashes."""
    return text.removeprefix("-").removeprefix("-")


def _needs_value(option: click.Option) -> bool:
    return not option._flag_needs_value  # noqa: SLF001 - Click has no public name for it
