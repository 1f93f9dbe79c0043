"""Answer of a command, printed as JSON or as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from kraftops_cli.terminal.streams import Terminal

FORM_ATTRIBUTES: dict[str, Any] = {
    "type": click.Choice(("text", "json")),
    "default": "text",
    "show_default": True,
    "help": "The form of the output.",
}
FORM = click.option("--format", "form", **FORM_ATTRIBUTES)


def print_answer(
    terminal: Terminal,
    form: str,
    command: str,
    data: Callable[[], Mapping[str, object]],
    text: Callable[[], str | Iterable[str]],
) -> None:
    """Print the answer of *command* in the form that `--format` asks for.

    Only the function of that form is called, since the other may cost time.

    Args:
        terminal: Where it is printed.
        form: `json`, or any other for text.
        command: Name of the command, a field of the JSON.
        data: Returns the other fields of the JSON.
        text: Returns the text, or pieces of it, each written as soon as it is made.
    """
    if form == "json":
        terminal.answer(command, data())
    else:
        output = text()
        for piece in (output,) if isinstance(output, str) else output:
            terminal.write(piece)
