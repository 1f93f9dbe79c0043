"""Beginning of a session: its console and its settings."""

from __future__ import annotations

from kraftops_shell.session.console import Console
from kraftops_shell.session.session import Session
from kraftops_shell.session.settings_file import open_settings


def begin(session: Session, console: Console) -> None:
    """Give a session its console, and on a terminal its settings."""
    session.console, session.err = console, console.error
    session.is_on_terminal = console.is_input_terminal and console.is_output_terminal
    if session.is_on_terminal:
        opened = open_settings(console.environment)
        session.settings, session.settings_file, problem = opened
        if problem:
            console.error(problem)
