"""Directories and files to read: those of this machine, and those in archives that are mounted.

`ARCHIVE!` is the directory that an archive stands for, and `ARCHIVE!/PATH` a file in it: a range of
bytes of the archive, or of the one file that it was inflated to. Mounts are of the process, since
paths are what readers, findings and forked workers have in common.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

ARCHIVE_ROOT = "!"
"""What the path of an archive ends with where it stands for a directory."""


class Extent(NamedTuple):
    """A file in an archive: the bytes of an open file from *start* on, and when it was written."""

    fd: int
    start: int
    size: int
    modified: float
    """In seconds since 1970."""

    def read_at(self, position: int, size: int) -> bytes:
        """Return up to *size* bytes at *position*, fewer only at the end.

        Raises:
            OSError: they cannot be read.
        """
        return os.pread(self.fd, min(size, max(0, self.size - position)), self.start + position)

    @property
    def status(self) -> Status:
        """What is known of it without reading it."""
        return Status(self.size, self.modified)


class Folder(NamedTuple):
    """A directory in an archive: its files, and the names of its directories."""

    files: dict[str, Extent]
    directories: set[str]


class Status(NamedTuple):
    """What is known of a file without reading it; *modified* is in seconds since 1970."""

    size: int
    modified: float

    @property
    def modified_ms(self) -> int:
        """When it was written, in ms since 1970."""
        return round(self.modified * 1_000_000) // 1000  # a float of today has no more digits


class Mount:
    """The files of an archive by their paths in it, which are normal and relative."""

    def __init__(self, path: str) -> None:
        """Begin without files; *path* is that of the archive."""
        self.path = path
        self.folders = {"": Folder({}, set())}

    @property
    def root(self) -> str:
        """The path of the directory that it stands for."""
        return self.path + ARCHIVE_ROOT

    def add(self, name: str, extent: Extent) -> bool:
        """Add a file, also in the place of another; False where its path is not that of a file."""
        parent, _, base = name.rpartition("/")
        folder = self.folders.get(parent) or self._made(parent)
        if folder is None or base in folder.directories:
            return False
        folder.files[base] = extent
        return True

    def remove(self, name: str) -> None:
        """Take a file away, if there is one."""
        parent, _, base = name.rpartition("/")
        if folder := self.folders.get(parent):
            folder.files.pop(base, None)

    def _made(self, path: str) -> Folder | None:
        parent, _, base = path.rpartition("/")
        outer = self.folders.get(parent) or self._made(parent)
        if outer is None or base in outer.files:
            return None
        outer.directories.add(base)
        self.folders[path] = Folder({}, set())
        return self.folders[path]


_MOUNTS: dict[str, Mount] = {}


@contextmanager
def mounted(mount: Mount) -> Iterator[None]:
    """Let paths lead into an archive."""
    paths = {mount.path, os.path.abspath(mount.path)}
    _MOUNTS.update(dict.fromkeys(paths, mount))
    try:
        yield
    finally:
        for path in paths:
            _MOUNTS.pop(path, None)


def archive_of(path: str) -> str | None:
    """Return the archive that a path leads into; None of other paths."""
    place = _place(path)
    return place[0].path if place else None


def folder_at(path: str) -> Folder | None:
    """Return the directory at a path that leads into an archive; None of other paths.

    Raises:
        OSError: there is none.
    """
    place = _place(path)
    if place is None:
        return None
    mount, name = place
    folder = mount.folders.get(name)
    if folder is None:
        raise _error(errno.ENOTDIR if _extent(mount, name) else errno.ENOENT, path)
    return folder


def extent_at(path: str) -> Extent | None:
    """Return the file at a path that leads into an archive; None of other paths.

    Raises:
        OSError: there is none.
    """
    place = _place(path)
    if place is None:
        return None
    mount, name = place
    extent = _extent(mount, name)
    if extent is None:
        raise _error(errno.EISDIR if name in mount.folders else errno.ENOENT, path)
    return extent


@contextmanager
def opened(path: str) -> Iterator[Extent]:
    """Yield the bytes of a file, as long as the context lasts.

    Raises:
        OSError: it cannot be opened.
    """
    if extent := extent_at(path):
        yield extent
        return
    with open(path, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        yield Extent(file.fileno(), 0, status.st_size, status.st_mtime)


def names_in(path: str) -> list[str]:
    """Return the names in a directory, sorted.

    Raises:
        OSError: it cannot be listed.
    """
    folder = folder_at(path)
    return sorted(os.listdir(path) if folder is None else {*folder.files, *folder.directories})


def is_directory(path: str) -> bool:
    place = _place(path)
    return os.path.isdir(path) if place is None else place[1] in place[0].folders


def is_file(path: str) -> bool:
    place = _place(path)
    return os.path.isfile(path) if place is None else _extent(*place) is not None


def exists(path: str) -> bool:
    """Tell whether there is anything at a path, also a link that leads nowhere."""
    place = _place(path)
    return os.path.lexists(path) if place is None else is_directory(path) or is_file(path)


def status_of(path: str) -> Status:
    """Return the status of a file or directory; directories in archives have no time.

    Raises:
        OSError: there is none.
    """
    place = _place(path)
    if place is None:
        status = os.stat(path)
        return Status(status.st_size, status.st_mtime)
    if place[1] in place[0].folders:
        return Status(0, 0.0)
    extent = _extent(*place)
    if extent is None:
        raise _error(errno.ENOENT, path)
    return extent.status


def _place(path: str) -> tuple[Mount, str] | None:
    """Return the archive that a path leads into, and the path in it."""
    if not _MOUNTS:
        return None
    mark = path.find(ARCHIVE_ROOT)
    while mark >= 0:
        mount = _MOUNTS.get(path[:mark])
        if mount and path[mark + 1 : mark + 2] in ("", "/"):
            return mount, path[mark + 2 :].rstrip("/")
        mark = path.find(ARCHIVE_ROOT, mark + 1)
    return None


def _extent(mount: Mount, name: str) -> Extent | None:
    parent, _, base = name.rpartition("/")
    folder = mount.folders.get(parent)
    return folder.files.get(base) if folder else None


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)  # of the class of the number
