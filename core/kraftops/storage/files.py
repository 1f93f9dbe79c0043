"""Files written whole or not at all: a temporary file beside the target, fsync, rename."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass

Owner = tuple[int, int]
"""User and group."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to be written; with *mode* None its mode is what the umask leaves of 0666."""

    path: str
    temporary_path: str
    data: bytes
    mode: int | None = None

    def prepare(self, owner: Owner | None) -> None:
        """Write the temporary file, in the place of one that a killed run has left.

        Raises:
            OSError: it cannot be written; nothing of it stays.
        """
        with suppress(FileNotFoundError):
            os.unlink(self.temporary_path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        fd = os.open(self.temporary_path, flags, 0o600 if self.mode else 0o666)
        try:
            with open(fd, "wb") as file:
                file.write(self.data)
                file.flush()
                if self.mode is not None:
                    os.fchmod(fd, self.mode)
                if owner:
                    os.fchown(fd, *owner)
                os.fsync(fd)
        except BaseException:
            self.discard()
            raise

    def commit(self) -> None:
        """Put the temporary file in its place; the caller syncs the directory."""
        os.replace(self.temporary_path, self.path)

    def discard(self) -> None:
        """Remove the temporary file, if it is there."""
        with suppress(OSError):
            os.unlink(self.temporary_path)


def sync_directory(path: str) -> None:
    """Make what was renamed in a directory last."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def owner_of(path: str) -> Owner | None:
    """Return whom files made in or as *path* should belong to; None: to whoever makes them.

    Root gives them to the owner of the directory, or of the nearest one that exists.
    """
    if os.geteuid() != 0:
        return None
    status = os.stat(existing_parent(path))
    return status.st_uid, status.st_gid


def existing_parent(path: str) -> str:
    """Return *path*, or the nearest directory above it that exists."""
    path = os.path.abspath(path)
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return path


def make_directories(path: str, owner: Owner | None) -> list[str]:
    """Make a directory and those above it; return what was made, the outermost first.

    Raises:
        OSError: one cannot be made; those made before it stay.
    """
    missing = []
    at = os.path.abspath(path)
    while not os.path.isdir(at):
        missing.append(at)
        at = os.path.dirname(at)
    for directory in reversed(missing):
        os.mkdir(directory)
        if owner:
            os.chown(directory, *owner)
        sync_directory(os.path.dirname(directory))
    return missing[::-1]
