"""Directories: make them, sync them, and give new files to their owner."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

Owner = tuple[int, int]
"""User and group."""


def sync_directory(path: str) -> None:
    """Make the renames and removals in a directory last.

    Raises:
        OSError: the directory cannot be synced.
    """
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with errors_with_path(path):
            os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def errors_with_path(path: str) -> Iterator[None]:
    """Add *path* to errors of calls that know only a file descriptor."""
    try:
        yield
    except OSError as error:
        if not isinstance(error.filename, str):
            error.filename = path
        raise


def change_owner(file: int | str, owner: Owner | None) -> None:
    """Give a file to *owner*, as far as root may: in a container it may not.

    A symbolic link, which someone may have put in its place, is not followed.
    """
    if owner:
        with suppress(PermissionError):
            if isinstance(file, int):
                os.fchown(file, *owner)
            else:
                os.lchown(file, *owner)


def owner_of(path: str) -> Owner | None:
    """Return the owner for files made in or as *path*; None for the user of this process.

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


def make_directories(path: str, owner: Owner | None, created: list[str]) -> None:
    """Make a directory and those above it; add each to *created*, the outermost first.

    Raises:
        OSError: one cannot be made; those made before it stay.
    """
    missing = []
    directory = os.path.abspath(path)
    while not os.path.isdir(directory):
        missing.append(directory)
        directory = os.path.dirname(directory)
    for directory in reversed(missing):
        make_directory(directory, owner, created)
        sync_directory(os.path.dirname(directory))


def make_directory(path: str, owner: Owner | None, created: list[str]) -> None:
    """Make one directory and add it to *created*, unless another process was faster.

    Raises:
        OSError: it cannot be made.
    """
    created.append(path)  # before it is: a signal may come as soon as it is there
    try:
        os.mkdir(path)
    except OSError as error:
        created.remove(path)
        if isinstance(error, FileExistsError) and os.path.isdir(path):
            return
        raise
    change_owner(path, owner)
