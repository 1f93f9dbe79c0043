"""Files written whole or not at all: a temporary file beside the target, fsync, rename."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
            with _naming(self.path), open(fd, "wb") as file:
                file.write(self.data)
                file.flush()
                if self.mode is not None:
                    os.fchmod(fd, self.mode)
                give(fd, owner)
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
        with _naming(path):
            os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Give an error of a call that knows but a file descriptor the path that it is of."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise


def give(file: int | str, owner: Owner | None) -> None:
    """Give a file to *owner*, as far as root may: in a container it may not."""
    if owner:
        with suppress(PermissionError):
            os.chown(file, *owner)


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


def make_directories(path: str, owner: Owner | None, made: list[str]) -> None:
    """Make a directory and those above it; add to *made* what was made, the outermost first.

    Raises:
        OSError: one cannot be made; those made before it stay.
    """
    missing = []
    at = os.path.abspath(path)
    while not os.path.isdir(at):
        missing.append(at)
        at = os.path.dirname(at)
    for directory in reversed(missing):
        make_directory(directory, owner, made)
        sync_directory(os.path.dirname(directory))


def make_directory(path: str, owner: Owner | None, made: list[str]) -> None:
    """Make one directory and add it to *made*, unless it is there: another was faster.

    Raises:
        OSError: it cannot be made.
    """
    try:
        os.mkdir(path)
    except FileExistsError:
        if os.path.isdir(path):
            return
        raise
    made.append(path)
    give(path, owner)
