"""`kraftops spark find`: `find` of the metadata shell, run by a worker of Spark."""

import click

from kraftops_cli.metadata_shell.arguments import split_words
from kraftops_cli.metadata_shell.command import GROUPS, ShellOptions, run_shell
from kraftops_cli.spark.options import OF_SPARK_COMMANDS
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import GroupedCommand
from kraftops_cli.syntax.option_fields import parameters

_SYNTAX = Argparse4j(
    exclusive=(("at_offset", "at_time"), ("snapshot", "config")), expands_files=False
)


def _arguments(ctx: click.Context, args: list[str]) -> list[str]:
    """Return the arguments as Click takes them: the tests of find begin with a dash, too."""
    own, words = split_words(ctx, args, "find")
    return [*_SYNTAX(ctx, own), "--", *words]


def _options(words: tuple[str, ...], **options: object) -> ShellOptions:
    return ShellOptions(words=("find", *words), spark=True, **options)  # type: ignore[arg-type]


@click.command(
    cls=GroupedCommand,
    syntax=_arguments,
    options=_options,
    params=[
        *parameters(
            ShellOptions,
            *("snapshot", "config", "at_offset", "at_time", "dialect", "show_secrets"),
            *OF_SPARK_COMMANDS,
        ),
        click.Argument(["words"], metavar="PATH… [TEST…]", nargs=-1),
    ],
    groups=GROUPS,
    name="find",
    **manual(__file__),
)
@click.pass_context
def find(ctx: click.Context, options: ShellOptions) -> int:
    return run_shell(ctx, options)
