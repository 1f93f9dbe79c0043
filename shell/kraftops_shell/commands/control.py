"""The commands exit, clear and history."""

import re

from kraftops_shell.grammar.arguments import BadLineError, Call
from kraftops_shell.session.session import Session
from kraftops_terminal.screen import erase

_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")


def leave(session: Session, _call: Call) -> None:
    session.is_over = True


def clear(session: Session, _call: Call) -> None:
    """Clear the terminal, where there is one with a cursor."""
    console = session.console
    if console and session.is_on_terminal and not console.is_dumb:
        console.flush()
        erase(1)


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
