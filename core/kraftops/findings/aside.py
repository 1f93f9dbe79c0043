"""Commands that move something out of a log directory, and keep it."""

import os
import shlex
from dataclasses import replace

from kraftops.display import quoting
from kraftops.display.sizes import first_names, size_text
from kraftops.fileio.directories import existing_parent, owner_of
from kraftops.fileio.mounts import ARCHIVE_ROOT, archive_of
from kraftops.findings.finding import Cure, Finding


def aside_of(directory: str) -> str:
    """Return a folder beside a log directory; a broker stops at a strange folder inside it."""
    path = os.path.normpath(directory)
    has_name = os.path.basename(path) not in ("", os.curdir, os.pardir)
    return f"{path if has_name else os.path.abspath(path)}.aside"


def new_folder(directory: str, name: str) -> str:
    """Return words of a shell for a new folder of a name in the one beside a log directory.

    Each command has its own: what an earlier one put there under the same name stays.
    """
    return f'"$(mktemp -d {quoting.quote_path(os.path.join(aside_of(directory), name))}.XXXXXX)"'


def obstacle(directory: str, *, moved: str = "", copied: str = "") -> str | None:
    """Return what to do before a command sets aside what is in a log directory; None for nothing.

    Beside a mount point is another file system, often a small one of the host: a move copies there.
    A relative link in what is moved leads nowhere afterwards; copies (`cp -aL`) follow links.
    """
    parent = existing_parent(aside_of(directory))
    try:
        if moved and (links := _relative_links(moved)):
            return f"first make its relative links absolute, which a move breaks: {links}"
        size = _allocated(copied) if copied else 0
        if moved and os.stat(parent).st_dev != os.stat(moved).st_dev:
            size += _allocated(moved)
        space = os.statvfs(parent)
    except OSError:
        return None
    free = space.f_bavail * space.f_frsize
    if size <= free:
        return None
    room = f"{parent} has {size_text(free)} for {size_text(size)}"
    return f"copy it to a disk with more room: {room}"


def _relative_links(path: str) -> str:
    with os.scandir(path) as entries:
        links = [path, *(entry.path for entry in entries)]
    relative = (
        os.path.basename(link)
        for link in links
        if os.path.islink(link) and not os.path.isabs(os.readlink(link))
    )
    return first_names(sorted(relative))


def _allocated(folder: str) -> int:
    """Return what the files of a folder take: indexes are larger than what they have."""
    with os.scandir(folder) as entries:
        return sum(entry.stat().st_blocks * 512 for entry in entries)


def given_to_owner(place: str, directory: str, source: str | None = None) -> str:
    """Return the end of a command that puts something into a directory: root gives it its owner.

    *place* is a word of a shell; what is copied or moved from a *source* keeps the owner of that.
    """
    owner = owner_of(directory)
    made_by = owner_of(source) if source else (0, 0)
    return f" && chown -R {owner[0]}:{owner[1]} {place}" if owner and owner != made_by else ""


def aside_cure(text: str, directory: str, name: str) -> Cure:
    """Return the cure that moves something in a log directory beside it."""
    if reason := obstacle(directory, moved=os.path.join(directory, name)):
        return Cure(f"{text}; {reason}")
    return Cure(text, (aside_command(directory, name),))


def aside_command(directory: str, name: str) -> str:
    """Return the shell command that moves something out of a log directory, beside it."""
    place = quoting.quote_path(os.path.join(directory, name))
    aside = quoting.quote_path(aside_of(directory))
    return f"mkdir -p {aside} && mv {place} {new_folder(directory, name)}"


def typed(finding: Finding) -> Finding:
    """Return a finding whose commands can be run: they name archives instead of paths in them."""
    commands = filter(None, map(_typed, finding.commands))
    return replace(finding, commands=tuple(dict.fromkeys(commands)))  # of directories, one archive


def _typed(command: str) -> str | None:
    """Return a command that can be run; None for one of a shell about files in an archive."""
    words = shlex.split(command) if ARCHIVE_ROOT in command else []
    archives = [archive_of(word) for word in words]
    if not any(archives):
        return command
    if not command.startswith(("kraftops ", "kafka-")):
        return None
    return quoting.join(archive or word for word, archive in zip(words, archives, strict=True))
