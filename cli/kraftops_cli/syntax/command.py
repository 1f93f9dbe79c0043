"""The command classes of all tools: Kafka's argument syntax and our help on top of Click."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import click

_MOST_SECONDS = 10_000_000


class ToolCommand(click.Command):
    """A tool, or a subcommand of one, with the argument syntax that Kafka's tool has.

    The syntaxes are functions of `syntax.jopt` and `syntax.argparse4j`. They return the meaning of
    the arguments as Click's own parser does, or raise `click.UsageError`.
    """

    def __init__(
        self,
        *args: Any,
        syntax: Callable[[ToolCommand, click.Context, list[str]], list[str]],
        ours: frozenset[str] = frozenset(),
        exclusive: Sequence[Sequence[str]] = (),
        one_of: Sequence[Sequence[str]] = (),
        examples: Sequence[tuple[str, str]] = (),
        sections: Sequence[tuple[str, str]] = (),
        **kwargs: Any,
    ) -> None:
        """Make a command.

        Args:
            *args: What Click takes.
            syntax: Return the arguments in the form that Click's parser takes.
            ours: The parameters (`dry_run`) that Kafka's tool has not.
            exclusive: Parameters (`standalone`) of which only one may be given, in groups.
            one_of: Parameters of which one must be given, in groups.
            examples: What each does, and its command line.
            sections: Titles and texts for the manual; `Exit status` is in the help too.
            **kwargs: What Click takes.
        """
        super().__init__(*args, **_with_help_option(kwargs))
        self._syntax = syntax
        self.ours = ours
        self.exclusive = exclusive
        self.one_of = one_of
        self.examples = examples
        self.sections = sections

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse *args* in the syntax of this command."""
        return super().parse_args(ctx, self._syntax(self, ctx, args))

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help: a sentence, usage, examples, options, exit codes."""
        _write_help(self, ctx, formatter)


class LazyGroup(click.Group):
    """A group that imports a command only to run it."""

    def __init__(self, *args: Any, lazy: dict[str, tuple[str, str]], **kwargs: Any) -> None:
        """Make a group: *lazy* has the place (`module:name`) and short help of each command."""
        super().__init__(*args, **kwargs)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - Click's
        """Return the names of all commands."""
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - Click's
        """Import and return a command."""
        from importlib import import_module

        if cmd_name not in self._lazy:
            return None
        module, _, name = self._lazy[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; say of an unknown one which may have been meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(
                error.command_name, possibilities=self.list_commands(ctx), ctx=ctx
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - Click's
        """Write the table of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, short) for name, (_, short) in self._lazy.items()])


class ToolGroup(LazyGroup):
    """A tool with subcommands, as argparse4j reads them: each a `ToolCommand` of its own module."""

    def __init__(
        self,
        *args: Any,
        syntax: Callable[[ToolGroup, click.Context, list[str]], list[str]] | None = None,
        ours: frozenset[str] = frozenset(),
        examples: Sequence[tuple[str, str]] = (),
        sections: Sequence[tuple[str, str]] = (),
        **kwargs: Any,
    ) -> None:
        """Make a tool.

        Args:
            *args: What Click takes.
            syntax: As that of a `ToolCommand`; if none, argparse4j's `clicks_arguments`.
            ours: The subcommands (`dry-run`) and parameters (`dry_run`) that Kafka's tool has not.
            examples: What each does, and its command line.
            sections: Titles and texts for the manual; `Exit status` is in the help too.
            **kwargs: What Click and `LazyGroup` take; the order of *lazy* is shown to users.
        """
        super().__init__(*args, **_with_help_option(kwargs))
        self._syntax = syntax
        self.ours = ours
        self.exclusive: Sequence[Sequence[str]] = ()
        self.one_of: Sequence[Sequence[str]] = ()
        self.examples = examples
        self.sections = sections

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options before the subcommand, and find out which one it is."""
        from kraftops_cli.syntax.argparse4j import clicks_arguments  # not loaded for other dialects

        syntax = self._syntax or clicks_arguments
        return super().parse_args(ctx, syntax(self, ctx, args))

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help: a sentence, usage, examples, options, subcommands, exit codes."""
        _write_help(self, ctx, formatter)


def _with_help_option(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {"context_settings": {"help_option_names": ["-h", "--help"]}, **kwargs}


def _write_help(
    command: ToolCommand | ToolGroup, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    command.format_help_text(ctx, formatter)
    formatter.write_paragraph()
    command.format_usage(ctx, formatter)
    if command.examples:
        with formatter.section("Examples"):
            for what, example in command.examples:
                formatter.write_text(f"# {what}")
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
    command.format_options(ctx, formatter)
    for title, text in command.sections:
        if title == "Exit status":
            with formatter.section(title):
                for paragraph in paragraphs(text):
                    formatter.write_text(paragraph)


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a section, each on one line; `TAG: …` begins one too."""
    blocks = re.split(r"\n\s*\n|\n(?=\w+: )", text.strip())
    return [" ".join(block.split()) for block in blocks if block.strip()]


class BadArguments(click.UsageError):
    """Arguments that the syntax does not allow; *hint*, where there is one, says what may help."""

    def __init__(self, message: str, ctx: click.Context, hint: str = "") -> None:
        """Make an error in the arguments of the command of *ctx*."""
        super().__init__(message, ctx)
        self.hint = hint


class Number(click.ParamType[int]):
    """A number as Java reads it: a sign and digits, between 0 and *most*."""

    name = "number"

    def __init__(self, most: int) -> None:
        """Make the type of numbers up to *most*."""
        self._most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number that *value* names."""
        text = str(value)
        if not re.fullmatch(r"[+-]?[0-9]{1,20}", text) or not 0 <= int(text) <= self._most:
            self.fail(f"{text!r} is no number from 0 to {self._most}", param, ctx)
        return int(text)


class Seconds(click.ParamType[float]):
    """A time in seconds: more than 0, and no more than any clock of the system takes."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number that *value* names."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds <= _MOST_SECONDS:  # NaN is not, either
            self.fail(f"{value!r} is no number of seconds from 0 to {_MOST_SECONDS}", param, ctx)
        return seconds
