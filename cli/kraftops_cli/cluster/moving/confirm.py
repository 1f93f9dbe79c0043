"""Confirmation by a person on a terminal, or by an option."""

from __future__ import annotations

from kraftops.errors import RefusedError
from kraftops_terminal.prompts import asked, can_ask


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
    if asked(f"Type {word} to {action}").replace(" ", "") != word:
        raise RefusedError("nothing is changed", code="not-confirmed")
