"""The command classes of all tools: Kafka's argument syntax and our help on top of Click."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import click

from kraftops_cli.syntax.lazy_group import LazyGroup
from kraftops_cli.syntax.version_option import VERSION_OPTION
from kraftops_cli.terminal.streams import Terminal

Syntax = Callable[[click.Context, list[str]], list[str]]
"""Returns the arguments of the context's command in the form that Click's parser takes.

Raises `click.UsageError` for arguments that the syntax does not allow.
"""


class ToolCommand(click.Command):
    """A tool, or a subcommand of a tool, with the argument syntax of Kafka's tool."""

    def __init__(
        self,
        *args: Any,
        syntax: Syntax,
        examples: Sequence[tuple[str, str]] = (),
        sections: Sequence[tuple[str, str]] = (),
        answer: str = "",
        **kwargs: Any,
    ) -> None:
        """Make a command.

        Args:
            *args: Click's own arguments.
            syntax: An `Argparse4j`, or `jopt.click_arguments`.
            examples: Descriptions and command lines.
            sections: Titles and texts for the manual; `Exit status` is in the help too.
            answer: Where the `Answer` of `--format json` is defined, as `MODULE:NAME`; its schema
                and its part of the manual are generated.
            **kwargs: Click's own arguments.
        """
        super().__init__(*args, **_with_common_options(kwargs))
        self._syntax = syntax
        self.examples = examples
        self.sections = sections
        self.answer = answer

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse *args* in the syntax of this command, and tell the terminal what runs."""
        terminal = ctx.find_object(Terminal)
        if terminal:
            terminal.command = str(self.name)
        left = super().parse_args(ctx, self._syntax(ctx, args))
        if terminal:
            terminal.keeps_kafka_codes = _is_kafkas(ctx)
        return left

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help: a sentence, usage, examples, options, exit codes."""
        _write_help(self, ctx, formatter)


def _is_kafkas(ctx: click.Context) -> bool:
    """Tell whether Kafka's tool of the same name has this command, and reads the same source."""
    group = ctx.parent.command if ctx.parent else None
    is_ours = isinstance(group, ToolGroup) and group.has_added(str(ctx.info_name))
    is_live = ctx.params.get("controllers") is not None
    return str(ctx.find_root().info_name).startswith("kafka-") and not is_ours and not is_live


class ToolGroup(LazyGroup):
    """A tool with subcommands, each a `ToolCommand` in a module of its own."""

    def __init__(
        self,
        *args: Any,
        syntax: Syntax,
        examples: Sequence[tuple[str, str]] = (),
        sections: Sequence[tuple[str, str]] = (),
        **kwargs: Any,
    ) -> None:
        """Make a tool.

        Args:
            *args: Click's own arguments.
            syntax: An `Argparse4j`.
            examples: Descriptions and command lines.
            sections: Titles and texts for the manual; `Exit status` is in the help too.
            **kwargs: Arguments of Click and `LazyGroup`; users see the order of *lazy*.
        """
        super().__init__(*args, sections=sections, **_with_common_options(kwargs))
        self._syntax = syntax
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options before the subcommand, and find the subcommand."""
        return super().parse_args(ctx, self._syntax(ctx, args))

    def has_added(self, name: str) -> bool:
        """Tell whether Kafka's tool lacks the subcommand *name*."""
        return name in getattr(self._syntax, "ours", ())

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help: a sentence, usage, examples, options, subcommands, exit codes."""
        _write_help(self, ctx, formatter)


def _with_common_options(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return Click's arguments of a command with help and version, unless it has its own."""
    params = kwargs.get("params") or []
    names = {name for param in params for name in param.opts}
    if "--version" not in names:
        params = [*params, VERSION_OPTION]
    help_names = {"help_option_names": ["-h", "--help"]}
    return {"context_settings": help_names, **kwargs, "params": params}


def _write_help(
    command: ToolCommand | ToolGroup, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    command.format_help_text(ctx, formatter)
    formatter.write_paragraph()
    command.format_usage(ctx, formatter)
    if command.examples:
        with formatter.section("Examples"):
            for description, example in command.examples:
                formatter.write_text(f"# {description}")
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
