"""Directories of which no other user can change anything."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def private_directory(path: str) -> Iterator[str]:
    """Yield the directory *path*, made with mode 0700 where it is missing and kept afterwards.

    Where it cannot be made private, a fresh temporary directory is yielded, which is removed at
    the end: without a *path*, on a read-only disk, if it is another user's or a symbolic link.
    """
    if path and _made_private(path):
        yield path
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="kraftops-") as fresh:
        yield fresh


def make_private_directories(path: str) -> None:
    """Make a directory and those above it, as far as they are missing, each with mode 0700.

    Raises:
        OSError: one cannot be made.
    """
    parent = os.path.dirname(path)
    if parent and not os.path.isdir(parent):
        make_private_directories(parent)
    with suppress(FileExistsError):
        os.mkdir(path, stat.S_IRWXU)


def _made_private(path: str) -> bool:
    try:
        make_private_directories(path)
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.fstat(fd).st_uid != os.geteuid():
            return False
        os.fchmod(fd, stat.S_IRWXU)
        return os.access(path, os.W_OK)
    except OSError:
        return False
    finally:
        os.close(fd)


def is_private_file(path: str, text: str) -> bool:
    """Tell whether a file of this user, and not a link to one, has *text* and no other writer."""
    others = stat.S_IWGRP | stat.S_IWOTH
    try:
        # Not blocking, or a pipe would wait for its writer.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        status = os.fstat(fd)
        is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        expected = text.encode()
        if not is_ours or status.st_mode & others or status.st_size != len(expected):
            return False
        return os.read(fd, len(expected)) == expected
    finally:
        os.close(fd)
