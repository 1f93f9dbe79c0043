"""Commands that move something out of a log directory, and keep it."""

from __future__ import annotations

import os
import shlex

from kraftops.fileio.directories import owner_of


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


def given_to_owner(place: str, directory: str, source: str | None = None) -> str:
    """Return the end of a command that puts something into a directory: root gives it its owner.

    *place* is a word of a shell; what is copied or moved from a *source* keeps the owner of that.
    """
    owner = owner_of(directory)
    made_by = owner_of(source) if source else (0, 0)
    return f" && chown -R {owner[0]}:{owner[1]} {place}" if owner and owner != made_by else ""


def aside_command(directory: str, name: str) -> str:
    """Return the command that moves something in a log directory beside it."""
    place = shlex.quote(os.path.join(directory, name))
    return (
        f"mkdir -p {shlex.quote(aside_of(directory))} && mv {place} {new_folder(directory, name)}"
    )
