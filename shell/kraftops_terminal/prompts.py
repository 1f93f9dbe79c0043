"""Prompts: questions to a person, on standard error."""

import sys

from kraftops_terminal.descriptors import is_terminal
from kraftops_terminal.escaping import escaped


def can_ask() -> bool:
    """Tell whether a person can be asked: standard input and standard error are terminals."""
    return is_terminal(0) and is_terminal(2)


def asked(question: str) -> str:
    """Return the line that is typed after a question, without spaces around it; "" for Ctrl-D."""
    sys.stderr.write(f"{escaped(question)}: ")
    sys.stderr.flush()
    try:
        return input().strip()
    except EOFError:
        sys.stderr.write("\n")  # Ctrl-D leaves the line open
        return ""


def agreed(question: str) -> bool:
    """Tell whether a person agrees; anything but yes is no."""
    return asked(f"{question} [y/N]").lower() in ("y", "yes")
