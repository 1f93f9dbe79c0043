"""The command class of all tools: Kafka's argument syntax on top of Click."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import click


class ToolCommand(click.Command):
    """A tool with Kafka's argument syntax, as jopt-simple reads it.

    Long options may begin with one dash, a flag may carry a value that means nothing, an option
    that needs a value takes the next argument whatever it looks like, and may be given once.
    Options are never abbreviated. Arguments that are no options, and all after `--`, are ignored.
    """

    def __init__(
        self,
        *args: Any,
        examples: Sequence[tuple[str, str]] = (),
        sections: Sequence[tuple[str, str]] = (),
        **kwargs: Any,
    ) -> None:
        """Make a command: *examples* are (what it does, command), *sections* for the manual."""
        kwargs.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        kwargs.setdefault("add_help_option", True)
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.sections = sections

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse *args*; without any, say how the command is used."""
        if not args:
            raise click.UsageError("no options are given", ctx)
        ctx.meta["ignored"], ctx.meta["repeated"] = [], []
        return super().parse_args(ctx, self._clicks_syntax(ctx, args))

    def _clicks_syntax(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the arguments in the form that Click's parser takes; note what it cannot say."""
        ignored, repeated = ctx.meta["ignored"], ctx.meta["repeated"]
        options = {
            name.removeprefix("-").removeprefix("-"): option
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
            for name in option.opts
        }
        out: list[str] = []
        given: set[str] = set()
        left = list(args)
        while left:
            argument = left.pop(0)
            if argument == "--":
                ignored += left
                break
            if not argument.startswith("-") or argument == "-":
                ignored.append(argument)
                continue
            name, has_value, value = argument.removeprefix("-").removeprefix("-").partition("=")
            option = options.get(name)
            if option is None:
                out.append(argument)  # Click says so, and what may have been meant
                continue
            name = "--" + name if len(name) > 1 else "-" + name
            if option.is_flag:
                out.append(name)
                continue
            if not has_value:
                if _needs_value(option):
                    if not left:
                        raise click.UsageError(f"{name} needs a value", ctx)
                    value = left.pop(0)
                elif left and not left[0].startswith("-"):
                    value = left.pop(0)
                else:
                    value = str(option.flag_value)
            if name in given:
                repeated.append(name)
            else:
                given.add(name)
                out.append(f"{name}={value}")
        return out

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help: a sentence, usage, examples, options, exit codes."""
        self.format_help_text(ctx, formatter)
        formatter.write_paragraph()
        self.format_usage(ctx, formatter)
        with formatter.section("Examples"):
            for what, command in self.examples:
                formatter.write_text(f"# {what}")
                formatter.write_text(command)
        self.format_options(ctx, formatter)
        for title, text in self.sections:
            if title == "Exit status":
                with formatter.section(title):
                    for paragraph in paragraphs(text):
                        formatter.write_text(paragraph)


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a section, each on one line; `TAG: …` begins one too."""
    blocks = re.split(r"\n\s*\n|\n(?=\w+: )", text.strip())
    return [" ".join(block.split()) for block in blocks if block.strip()]


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


def _needs_value(option: click.Option) -> bool:
    return not option._flag_needs_value  # noqa: SLF001 - Click has no public name for it


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - Click's
        """Write the table of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, short) for name, (_, short) in self._lazy.items()])
