"""The commands clear and ll."""

from __future__ import annotations

from kraftops_shell.commands.ls import ls
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.session.session import Session
from kraftops_terminal.screen import erase


def clear(session: Session, _call: Call) -> None:
    """Clear the terminal, where there is one with a cursor."""
    console = session.console
    if console and session.is_on_terminal and not console.is_dumb:
        console.flush()
        erase(1)


def ll(session: Session, call: Call) -> None:
    """List nodes with details."""
    ls(session, call._replace(flags={**call.flags, "-l": True}))
