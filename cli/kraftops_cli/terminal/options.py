"""Options for output on a terminal."""

from __future__ import annotations

import click

from kraftops_cli.terminal.streams import Terminal


def _set_color(ctx: click.Context, _: click.Parameter, color: str) -> None:
    if terminal := ctx.find_object(Terminal):
        terminal.color = color


def _set_escapes(ctx: click.Context, _: click.Parameter, keeps_escapes: bool) -> None:  # noqa: FBT001 - as Click calls it
    if terminal := ctx.find_object(Terminal):
        terminal.keeps_escapes = keeps_escapes


COLOR = click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    expose_value=False,
    callback=_set_color,
    help="Use colours: always, never, or only on a terminal.",
)
OVERWRITE = click.option(
    "--overwrite", is_flag=True, help="Replace the output if it exists, as a whole."
)
NO_ESCAPE = click.option(
    "--no-escape",
    is_flag=True,
    expose_value=False,
    callback=_set_escapes,
    help="Write control characters of data to a terminal as they are.",
)
