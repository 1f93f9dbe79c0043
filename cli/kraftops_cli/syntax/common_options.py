"""The options of `kraftops` itself, which every command takes too: version, memory, terminal."""

import os

import click

from kraftops.errors import UsageError
from kraftops.memory import LEAST, USUAL, VARIABLE, Budget, budget_of
from kraftops_cli.syntax.values import Size
from kraftops_cli.terminal.streams import Terminal
from kraftops_cli.version import KAFKA_VERSION, VERSION


def _print_version(context: click.Context, _: click.Parameter, asked: object) -> None:
    if not asked or context.resilient_parsing:
        return
    from kraftops.engine.choice import engine_name
    from kraftops_cli.installed import installed_lines

    click.echo(f"kraftops {VERSION} (Kafka {KAFKA_VERSION}), {engine_name()} engine")
    for line in installed_lines():
        click.echo(line)
    context.exit()


def _set_memory(ctx: click.Context, _: click.Parameter, size: int | None) -> None:
    """Set the budget; refuse too small a one of the environment, by which all data looks damaged.

    Raises:
        UsageError: the environment has no budget of that size.
    """
    terminal = ctx.find_object(Terminal)
    if terminal and size is not None:
        terminal.budget = Budget(size)
    elif terminal and terminal.budget is USUAL and ctx.command.name != "kraftops":
        # `kraftops` itself takes any: its commands may set another.
        terminal.budget = budget_of(os.environ)
        if (memory := terminal.budget.memory) < LEAST.memory:
            least = f"it is a size, at least {LEAST.memory >> 20}m"
            raise UsageError(f"{VARIABLE} is {memory}: that is too little", hint=least)


def _set_color(ctx: click.Context, _: click.Parameter, color: str | None) -> None:
    # A command that does not have the option leaves that of `kraftops` alone.
    if color and (terminal := ctx.find_object(Terminal)):
        terminal.color = color


def _set_escapes(ctx: click.Context, _: click.Parameter, keeps_escapes: bool) -> None:  # noqa: FBT001 - as Click calls it
    if keeps_escapes and (terminal := ctx.find_object(Terminal)):
        terminal.keeps_escapes = True


VERSION_OPTION = click.Option(
    ["-V", "--version", "shows_version"],
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
COMMON_TITLE = "Memory and terminal"
COMMON_OPTIONS = (
    click.Option(
        ["--max-memory"],
        type=Size(LEAST.memory),
        metavar="SIZE",
        expose_value=False,
        callback=_set_memory,
        help=(
            "Memory in addition to the image, such as 512m or 2g; one batch may take a quarter of "
            "it.  [default: 256m]"
        ),
    ),
    click.Option(
        ["--color"],
        type=click.Choice(("auto", "always", "never")),
        expose_value=False,
        callback=_set_color,
        help="Use colours: always, never, or only on a terminal.  [default: auto]",
    ),
    click.Option(
        ["--no-escape"],
        is_flag=True,
        expose_value=False,
        callback=_set_escapes,
        help="Write control characters of data to a terminal as they are.",
    ),
)
"""Options of `kraftops`; each command accepts them, and help has them under Kafka's names."""
COMMON_NAMES = frozenset(str(option.name) for option in (VERSION_OPTION, *COMMON_OPTIONS))
"""The names of the parameters, which no tool of Kafka's has."""
