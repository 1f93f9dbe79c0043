"""Commands that move something out of a log directory, and keep it."""

from __future__ import annotations

import os
import shlex


def aside_of(directory: str) -> str:
    """Return a folder beside a log directory; a broker stops at a strange folder inside it."""
    path = os.path.normpath(directory)
    has_name = os.path.basename(path) not in ("", os.curdir, os.pardir)
    return f"{path if has_name else os.path.abspath(path)}.aside"


def aside_command(directory: str, name: str) -> str:
    """Return the command that moves something in a log directory beside it."""
    aside = shlex.quote(f"{aside_of(directory)}/")
    return f"mkdir -p {aside} && mv {shlex.quote(os.path.join(directory, name))} {aside}"
