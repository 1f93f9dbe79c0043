"""Commands that move something out of a log directory, and keep it."""

from __future__ import annotations

import os
import shlex


def aside_of(directory: str) -> str:
    """Return a folder beside a log directory; a broker stops at a strange folder inside it."""
    path = os.path.normpath(directory)
    has_name = os.path.basename(path) not in ("", os.curdir, os.pardir)
    return f"{path if has_name else os.path.abspath(path)}.aside"


def new_folder(directory: str, name: str) -> str:
    """Return words of a shell for a new folder of a name in the one beside a log directory.

    Each command has its own: what an earlier one put there under the same name stays.
    """
    return f'"$(mktemp -d {shlex.quote(os.path.join(aside_of(directory), name))}.XXXXXX)"'


def aside_command(directory: str, name: str) -> str:
    """Return the command that moves something in a log directory beside it."""
    place = shlex.quote(os.path.join(directory, name))
    return (
        f"mkdir -p {shlex.quote(aside_of(directory))} && mv {place} {new_folder(directory, name)}"
    )
