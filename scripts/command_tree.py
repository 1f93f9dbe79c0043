"""The commands with their options and arguments, for the manual and the completions."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

import click

from kraftops.log.files import RENAMED, FileKind
from kraftops.query.conditions.row_types import row_types
from kraftops.records.decoders import decoder_named
from kraftops.records.decoders.user import DECODERS
from kraftops.records.dialects import DIALECTS
from kraftops.records.internal_topics import decoder_names
from kraftops.storage.bootstrap.releases import METADATA_VERSIONS
from kraftops_cli.metadata_shell.command import metadata_shell
from kraftops_cli.root import root
from kraftops_cli.syntax.command import PathsCommand, ToolGroup
from kraftops_cli.syntax.common_options import COMMON_OPTIONS
from kraftops_cli.syntax.option_fields import RenamedOption
from kraftops_shell.grammar import command as shell
from kraftops_shell.grammar.command import Command, Flag
from kraftops_shell.grammar.registry import commands

REPOSITORY = Path(__file__).parents[1]


class Kind(Enum):
    """Kinds of completion of a value."""

    NOTHING = auto()
    WORDS = auto()
    FILES = auto()
    DIRECTORIES = auto()


@dataclass(frozen=True, slots=True)
class Values:
    """The completion of a value; files end in one of *suffixes*, then perhaps a second suffix."""

    kind: Kind = Kind.NOTHING
    words: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    second_suffixes: tuple[str, ...] = ()
    is_list: bool = False


_DECODER_CLASSES = Values(Kind.WORDS, words=tuple(DECODERS))
_RELEASES = dict.fromkeys(v.release for v in METADATA_VERSIONS)


def _names_in_conditions() -> tuple[str, ...]:
    """Return the columns, and the fields of keys and values that any decoder knows."""
    types = row_types(frozenset(map(decoder_named, decoder_names())))
    fields = (f"{column}.{name}" for column in ("key", "value") for name in types[column].fields)
    return (*types, *sorted(fields))


VALUES = {
    "--add-scram-file": Values(Kind.FILES),
    "--command-config": Values(Kind.FILES),
    "--config": Values(Kind.FILES),
    "--dialect": Values(Kind.WORDS, words=DIALECTS),
    "--files": Values(
        Kind.FILES,
        suffixes=tuple(kind.value for kind in FileKind),
        second_suffixes=tuple(RENAMED),
        is_list=True,
    ),
    "--key-decoder-class": _DECODER_CLASSES,
    "--release-version": Values(
        Kind.WORDS, words=(*_RELEASES, *(version.name for version in METADATA_VERSIONS))
    ),
    "--snapshot": Values(Kind.FILES),
    "--value-decoder-class": _DECODER_CLASSES,
    "--where": Values(Kind.WORDS, words=_names_in_conditions()),
}
"""Completions that Click's types of values do not give."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A command and the *words* that run it."""

    words: tuple[str, ...]
    context: click.Context

    @classmethod
    def of(cls, command: click.Command, words: tuple[str, ...]) -> "Tool":
        """Return the tool that *words* run."""
        context = click.Context(command, info_name=" ".join(words), **command.context_settings)
        return cls(words, context)

    @property
    def command(self) -> click.Command:
        """The command itself."""
        return self.context.command

    @property
    def options(self) -> list[click.Option]:
        """The options that are offered; common ones under Kafka's names and `kraftops`."""
        params = self.command.get_params(self.context)
        options = [param for param in params if isinstance(param, click.Option)]
        has_common = self.words[0].startswith("kafka-") or self.command is root
        return [option for option in options if has_common or option not in COMMON_OPTIONS]

    @property
    def arguments(self) -> list[click.Argument]:
        """The positional arguments, without the words of a following command."""
        if self.completed and not self.takes_paths:
            return []
        return [param for param in self.command.params if isinstance(param, click.Argument)]

    @property
    def takes_paths(self) -> bool:
        """Whether paths may stand where its commands do."""
        return isinstance(self.command, PathsCommand)

    @property
    def subtools(self) -> list["Tool"]:
        """The commands below a group."""
        group = self.command
        if not isinstance(group, click.Group):
            return []
        found = ((n, group.get_command(self.context, n)) for n in group.list_commands(self.context))
        return [Tool.of(sub, (*self.words, n)) for n, sub in found if sub and not sub.hidden]

    @property
    def completed(self) -> list["Tool"]:
        """The commands that completion offers as the next word, including the shell's."""
        if self.command is not metadata_shell:
            return self.subtools
        is_kafkas = len(self.words) == 1  # the form that this name has when nobody asks for another
        inner = commands(kafka=is_kafkas, one_shot=True).values()
        own = [option for option in self.options if not option.is_eager]
        return [
            Tool.of(_shell_command(one, own, with_flags=not is_kafkas), (*self.words, one.name))
            for one in inner
        ]

    def walk(self) -> Iterator["Tool"]:
        """Yield this tool and all below it."""
        yield self
        for tool in self.subtools:
            yield from tool.walk()

    def walk_completed(self) -> Iterator["Tool"]:
        """Yield this tool and all that completion offers after it."""
        yield self
        for tool in self.completed:
            yield from tool.walk_completed()

    def pages(self) -> Iterator["Tool"]:
        """Yield this tool and the tools below it with manual pages of their own."""
        yield self
        # The subcommands of a tool are sections of its page.
        for tool in () if isinstance(self.command, ToolGroup) else self.subtools:
            yield from tool.pages()


def _shell_command(
    command: Command, tools_own: list[click.Option], *, with_flags: bool
) -> click.Command:
    """Return a command of the metadata shell in Click's terms, for completion.

    The tool's own options may follow it, except those it defines itself.
    """
    flags = command.flags if with_flags else ()
    taken = {flag.name for flag in flags}
    params: list[click.Parameter] = [_shell_option(flag) for flag in flags]
    params += [option for option in tools_own if taken.isdisjoint(names(option))]
    params += [
        click.Argument([argument.name.lower()], type=_SHELL_TYPES.get(argument.values), nargs=-1)
        for argument in command.arguments[:1]
    ]
    return click.Command(command.name, params=params, help=command.help, add_help_option=False)


def _shell_option(flag: Flag) -> click.Option:
    if flag.value is None:
        return click.Option([flag.name, "value"], is_flag=True, help=flag.help)
    kind = click.Choice(flag.choices) if flag.choices else _SHELL_TYPES.get(flag.values)
    return click.Option([flag.name, "value"], type=kind, help=flag.help, multiple=flag.is_list)


_SHELL_TYPES = {
    shell.Values.DIRECTORIES: click.Path(file_okay=False),
    shell.Values.FILES: click.Path(),
}


def names(option: click.Option) -> list[str]:
    """Return all spellings of an option but former ones."""
    if isinstance(option, RenamedOption):
        return option.present
    return [*option.opts, *option.secondary_opts]


def value_is_optional(option: click.Option) -> bool:
    """Return whether the value of the option is optional."""
    return option._flag_needs_value  # noqa: SLF001 - Click has no public name for it


def values(param: click.Parameter) -> Values:
    """Return the completion for the value of an option or argument."""
    for name in param.opts:
        if name in VALUES:
            return VALUES[name]
    match param.type:
        case click.Choice(choices=choices):
            return Values(Kind.WORDS, words=tuple(map(str, choices)))
        case click.Path(file_okay=False):
            return Values(Kind.DIRECTORIES)
        case click.Path() | click.File():
            return Values(Kind.FILES)
        case _:
            return Values()


def summary(help_text: str | None) -> str:
    """Return the first paragraph of a help text, without defaults and full stop."""
    return " ".join((help_text or "").split("\n\n")[0].partition("  [")[0].split()).rstrip(".")


def programs() -> list[Tool]:
    """Return the installed programs: `kraftops`, and each command NAME as `kafka-NAME`."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    kraftops = Tool.of(root, ("kraftops",))
    commands = {f"kafka-{tool.words[-1]}": tool.command for tool in kraftops.subtools}
    drop_ins = [name for name in project["scripts"] if name != "kraftops" and "." not in name]
    return [kraftops, *(Tool.of(commands[name], (name,)) for name in drop_ins)]
