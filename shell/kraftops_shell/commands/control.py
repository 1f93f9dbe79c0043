"""The commands exit and history."""

from __future__ import annotations

import re

from kraftops_shell.grammar.arguments import BadLineError, Call
from kraftops_shell.session.session import Session

_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")


def leave(session: Session, _call: Call) -> None:
    """End the session."""
    session.is_over = True


def history(session: Session, call: Call) -> None:
    """Print the last lines that were entered, or all of them."""
    count = None
    if call.words:
        text = call.words[0]
        if not _INTEGER.fullmatch(text):
            raise BadLineError(
                f"argument numEntriesToShow: could not convert '{text}' to Integer "
                f'(For input string: "{text}")'
            )
        count = int(text)
    for number, line in session.history.last(count):
        session.out(f"{number:5}  {line}\n")
