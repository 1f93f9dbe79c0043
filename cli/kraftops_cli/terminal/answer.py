"""Answer of a command, printed as JSON or as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.answers.fields import Field


def _set_form(ctx: click.Context, _: click.Parameter, form: str) -> str:
    if terminal := ctx.find_object(Terminal):
        terminal.is_json = form == "json"
    return form


FORM_ATTRIBUTES: dict[str, Any] = {
    "type": click.Choice(("text", "json")),
    "default": "text",
    "show_default": True,
    "callback": _set_form,
    "help": "The form of the output.",
}
FORM = click.option("--format", "form", expose_value=False, **FORM_ATTRIBUTES)


def print_answer(
    terminal: Terminal,
    fields: Iterable[Field],
    answered: object,
    text: Callable[[], str | Iterable[str]],
) -> None:
    """Print what the command that runs has answered, in the form that `--format` asks for.

    Only the values of that form are made, since the other may cost time.

    Args:
        terminal: Where it is printed.
        fields: The fields of the JSON, read from what is answered.
        answered: What is answered; a mapping has its JSON fields already.
        text: Returns the text, or pieces of it, each written as soon as it is made.
    """
    if terminal.is_json:
        from kraftops.answers.fields import json_of

        terminal.answer(terminal.command, json_of(fields, answered))
    else:
        output = text()
        for piece in (output,) if isinstance(output, str) else output:
            terminal.write(piece)
