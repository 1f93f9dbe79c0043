"""Confirmation by a person on a terminal, or by an option."""

from __future__ import annotations

import click

from kraftops.errors import RefusedError
from kraftops_terminal.descriptors import can_ask


def confirm(word: str, action: str, *, yes: bool) -> None:
    """Have a person type *word* before an *action*, unless --yes is given.

    Raises:
        RefusedError: nobody can be asked, or somebody does not agree.
    """
    if yes:
        return
    if not can_ask():
        raise RefusedError(
            f"nobody can be asked here whether to {action}",
            hint="--yes agrees to it",
            code="not-confirmed",
        )
    try:
        answer = click.prompt(f"Type {word} to {action}", default="", show_default=False, err=True)
    except click.Abort as error:
        if not isinstance(error.__context__, EOFError):
            raise
        answer = ""
        click.echo(err=True)  # Ctrl-D leaves the line open
    if str(answer).replace(" ", "") != word:
        raise RefusedError("nothing is changed", code="not-confirmed")
