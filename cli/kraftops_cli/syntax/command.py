"""The command classes of all tools: Kafka's argument syntax and our help on top of Click."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, TypeVar

import click

from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.common_options import COMMON_OPTIONS, COMMON_TITLE, VERSION_OPTION
from kraftops_cli.syntax.help_text import ToolContext, write_examples
from kraftops_cli.syntax.lazy_group import LazyGroup
from kraftops_cli.syntax.option_fields import RenamedOption, parameters
from kraftops_cli.terminal.streams import Terminal

F = TypeVar("F", bound=Callable[..., object])
Syntax = Callable[[click.Context, list[str]], list[str]]
"""Returns the arguments of the context's command in the form that Click's parser takes.

Raises `click.UsageError` for arguments that the syntax does not allow.
"""


_TAGGED = re.compile(r"(?:[\w-]+, )*\S+: ")


class ToolCommand(click.Command):
    """A tool, or a subcommand of a tool, with the argument syntax of Kafka's tool."""

    context_class = ToolContext
    groups: Mapping[str, Sequence[str]] = {}
    elsewhere: Mapping[str, str] = {}

    def __init__(
        self,
        *args: Any,
        syntax: Syntax,
        examples: Mapping[str, str] | None = None,
        sections: Mapping[str, str] | None = None,
        answer: str = "",
        options: Callable[..., object] | None = None,
        **kwargs: Any,
    ) -> None:
        """Make a command.

        Args:
            *args: Click's own arguments.
            syntax: An `Argparse4j`, or `jopt.click_arguments`.
            examples: Command lines by what they are for.
            sections: Texts of the manual by title; `Exit status` is in the help too.
            answer: Where the `Answer` of `--format json` is defined, as `MODULE:NAME`; its schema
                and its part of the manual are generated.
            options: Makes the values of the options one object, the only argument of the command's
                function beside Click's; without it, each value is an argument. If it is a
                dataclass, its `option_fields` are options of the command, too.
            **kwargs: Click's own arguments.
        """
        params = [*(kwargs.pop("params", None) or ()), *parameters(options)]
        super().__init__(
            *args, **_with_common_options({**kwargs, "params": params}, COMMON_OPTIONS)
        )
        self._syntax = syntax
        self.examples = examples or {}
        self.sections = sections or {}
        self.answer = answer
        self._options = options

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse *args* in the syntax of this command, and tell the terminal what runs."""
        terminal = ctx.find_object(Terminal)
        if terminal:
            terminal.command = str(self.name)
        parsed = self._syntax(ctx, args)
        if terminal:
            _note_former_names(self, parsed, terminal)
        remaining = super().parse_args(ctx, parsed)
        if terminal:
            terminal.has_kafkas_form = _is_kafkas(ctx)
        return remaining

    def invoke(self, ctx: click.Context) -> Any:
        """Call the function of the command, with its options as one object if it takes one."""
        if self._options is None or self.callback is None:
            return super().invoke(ctx)
        return ctx.invoke(self.callback, self._options(**ctx.params))

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help: a sentence, usage, examples, options, exit codes."""
        _write_help(self, ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options below their titles, those of all commands under Kafka's names alone."""
        titles = {name: title for title, names in self.groups.items() for name in names}
        titles |= dict.fromkeys((str(option.name) for option in COMMON_OPTIONS), COMMON_TITLE)
        records: dict[str, list[tuple[str, str]]] = {
            title: [] for title in (*self.groups, "Options", COMMON_TITLE)
        }
        for param in self.get_params(ctx):
            record = None if isinstance(param, click.Argument) else param.get_help_record(ctx)
            if record:
                records[titles.get(str(param.name), "Options")].append(record)
        if not _has_kafkas_name(ctx):
            del records[COMMON_TITLE]
        for title, listed in records.items():
            if listed:
                with formatter.section(title):
                    if title in self.elsewhere:
                        formatter.write_text(f"see {self.elsewhere[title]} (--help)")
                    else:
                        formatter.write_dl(listed)


def tool_command(
    syntax: Syntax, *, answer: str = "", **attributes: Any
) -> Callable[[Callable[..., object]], click.Command]:
    """Return a decorator that makes a function of the terminal and of options a command.

    The command has the name of the function, and so has the text beside its module that has its
    manual, unless the attributes give a help.

    Args:
        syntax: An `Argparse4j`, or `jopt.click_arguments`.
        answer: As of `ToolCommand`, or the name alone of one in the function's module.
        **attributes: Those of Click and `ToolCommand`.
    """

    def make(run: Callable[..., object]) -> click.Command:
        name = run.__name__.strip("_")
        texts: dict[str, Any] = {"name": name.replace("_", "-")}
        if "help" not in attributes:
            texts |= manual(str(sys.modules[run.__module__].__file__), f"{name}.txt")
        if answer:
            texts["answer"] = answer if ":" in answer else f"{run.__module__}:{answer}"
        command = click.command(cls=ToolCommand, syntax=syntax, **{**texts, **attributes})
        return command(click.pass_obj(run))

    return make


class GroupedCommand(ToolCommand):
    """A tool with so many options that the help has them below titles."""

    def __init__(
        self,
        *args: Any,
        groups: Mapping[str, Sequence[str]],
        elsewhere: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        """Make a command.

        Args:
            *args: Click's own arguments.
            groups: Titles in the help, and the names of the parameters below them.
            elsewhere: Titles of groups that the help leaves to other commands, which it names.
            **kwargs: Arguments of Click and `ToolCommand`.
        """
        super().__init__(*args, **kwargs)
        names = [name for names in groups.values() for name in names]
        places = {name: place for place, name in enumerate(names)}
        # In the order of the help; the shell takes the first that begins as what is typed.
        self.params.sort(key=lambda param: places.get(str(param.name), len(places)))
        self.groups = groups
        self.elsewhere = elsewhere or {}


class PathsCommand(GroupedCommand, LazyGroup):
    """A tool that takes paths, parts of which are commands of their own under our name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the parts; Kafka's tool has none."""
        return [] if _has_kafkas_name(ctx) else super().list_commands(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, unless the first names a part, and no file."""
        if args and args[0] in self.list_commands(ctx) and not os.path.lexists(args[0]):
            ctx.invoked_subcommand, ctx.args = args[0], args[1:]
            return args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the tool, or the part."""
        name = ctx.invoked_subcommand
        part = self.get_command(ctx, name) if name else None
        if part is None:
            return super().invoke(ctx)
        with part.make_context(name, list(ctx.args), parent=ctx) as context:
            return part.invoke(context)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return click.Command.collect_usage_pieces(self, ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        if self.list_commands(ctx):
            self.format_commands(ctx, formatter)


def _has_kafkas_name(ctx: click.Context) -> bool:
    return str(ctx.find_root().info_name).startswith("kafka-")


def _note_former_names(command: click.Command, args: Sequence[str], terminal: Terminal) -> None:
    """Note on standard error the present names of options that were given by former names."""
    present = {
        name: param.opts[0]
        for param in command.params
        if isinstance(param, RenamedOption)
        for name in param.former
    }
    for arg in takewhile(lambda arg: arg != "--", args) if present else ():
        name = arg.partition("=")[0]
        if name in present:
            terminal.error(f"note: {name} is now called {present[name]}")


def _is_kafkas(ctx: click.Context) -> bool:
    """Tell whether Kafka's tool of the same name has this command, and reads the same source."""
    group = ctx.parent.command if ctx.parent else None
    is_ours = isinstance(group, ToolGroup) and group.has_added(str(ctx.info_name))
    is_live = ctx.params.get("controllers") is not None
    return _has_kafkas_name(ctx) and not is_ours and not is_live


class ToolGroup(LazyGroup):
    """A tool with subcommands, each a `ToolCommand` in a module of its own."""

    def __init__(
        self,
        *args: Any,
        syntax: Syntax,
        examples: Mapping[str, str] | None = None,
        sections: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        """Make a tool.

        Args:
            *args: Click's own arguments.
            syntax: An `Argparse4j`.
            examples: Command lines by what they are for.
            sections: Texts of the manual by title; `Exit status` is in the help too.
            **kwargs: Arguments of Click and `LazyGroup`; users see the order of *lazy*.
        """
        super().__init__(*args, sections=sections, **_with_common_options(kwargs))
        self._syntax = syntax
        self.examples = examples or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options before the subcommand, and find the subcommand."""
        return super().parse_args(ctx, self._syntax(ctx, args))

    def has_added(self, name: str) -> bool:
        """Tell whether Kafka's tool lacks the subcommand *name*."""
        return name in getattr(self._syntax, "ours", ())

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help: a sentence, usage, examples, options, subcommands, exit codes."""
        _write_help(self, ctx, formatter)


def _with_common_options(
    kwargs: dict[str, Any], common: Sequence[click.Option] = ()
) -> dict[str, Any]:
    """Return Click's arguments of a command with *common* options, and a version if it has none."""
    params = [*(kwargs.get("params") or []), *common]
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
    write_examples(formatter, ctx, command.examples)
    command.format_options(ctx, formatter)
    if text := command.sections.get("Exit status"):
        with formatter.section("Exit status"):
            for tag, paragraph in paragraphs(text):
                formatter.write_text(f"{tag}: {paragraph}" if tag else paragraph)


def paragraphs(text: str) -> list[tuple[str, str]]:
    """Return the paragraphs of a section, each on one line, with their tags.

    A block that begins with `TAG: ` is a list, of which each such line begins an item.
    """
    pieces = [
        piece
        for block in re.split(r"\n\s*\n", text.strip())
        for piece in (
            re.split(rf"\n(?={_TAGGED.pattern})", block) if _TAGGED.match(block) else [block]
        )
    ]
    tags = [(_TAGGED.match(piece) or ("",))[0] for piece in pieces]
    return [
        (tag.removesuffix(": "), " ".join(piece.removeprefix(tag).split()))
        for tag, piece in zip(tags, pieces, strict=True)
    ]
