"""Directories of which no other user can change anything."""

import os
import stat
from contextlib import suppress


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
