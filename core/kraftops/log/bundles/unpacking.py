"""Unpacking of archives of directories to a temporary directory, as far as they are of use."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable
from contextlib import ExitStack
from typing import NamedTuple

from kraftops.log.bundles.members import TOO_LARGE, Member, MemberKind, TornArchive, members
from kraftops.log.reader import DamagedArchive
from kraftops.log.zeros import are_zeros
from kraftops.memory import keep_freed_memory

_MORE_ROOM = "TMPDIR names a directory with more room"
USABLE = 0.9  # of the free space of the temporary directory
MOST_DATA_RATIO = 200
"""Unpacked bytes for each byte of an archive, without blocks of zeros, which take no space."""
ANY_RATIO_DATA_BYTES = 1 << 30
"""Unpacked bytes that are never too many."""


class NoRoom(DamagedArchive):
    """The temporary directory has no room for what is in an archive."""


class Skipped(NamedTuple):
    """A member that is wanted and not completely unpacked, and the reason.

    Without a name it is the rest of a damaged archive.
    """

    name: str
    reason: str
    is_damaged: bool = False


def unpack(path: str, folder: str, is_wanted: Callable[[str], bool]) -> list[Skipped]:
    """Write the files of an archive whose path in it *is_wanted*, with their times, to a directory.

    Links and devices are not made, nor files whose path leads out of the archive. Of a damaged
    archive everything is unpacked that can be read.

    Raises:
        SourceError: the archive cannot be read, or the directory cannot be written.
        TornArchive: it is damaged, and nothing can be read.
        DamagedArchive: it is too large for its size.
        NoRoom: there is no room.
    """
    keep_freed_memory()
    skipped: list[Skipped] = []
    written = 0
    room = _Room(path, folder)
    folders = {os.path.dirname(os.path.join(folder, ""))}
    damage: TornArchive | None = None
    in_archive = members(path)
    while True:
        try:
            member = next(in_archive, None)
        except TornArchive as error:
            damage = error
            skipped.append(Skipped("", error.message, is_damaged=True))
            break
        if member is None:
            break
        name = posixpath.normpath(member.name)
        if posixpath.isabs(name) or ".." in name.split("/") or "\0" in name:
            skipped.append(Skipped(member.name, "its path leads out of the archive"))
            continue
        if not is_wanted(name):
            continue
        if member.kind is not MemberKind.FILE:
            skipped.append(Skipped(name, f"it is a {member.kind.value}"))
            continue
        target = os.path.join(folder, name)
        try:
            _make_folder(os.path.dirname(target), folders)
            _write(member, target, room)
        except TornArchive as error:
            damage = error
            skipped.append(Skipped(name, error.message, is_damaged=True))
        written += os.path.getsize(target) > 0
    if damage and not written:
        raise damage
    for parent in folders:
        os.utime(parent, (0, 0))  # that it has just been made says nothing
    return skipped


def _make_folder(path: str, folders: set[str]) -> None:
    """Make a directory unless it is among the *folders*, and add it and those around it."""
    if path in folders:
        return
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise _no_room(path, error) from None
    while path not in folders:
        folders.add(path)
        path = os.path.dirname(path)


def _no_room(path: str, error: OSError) -> NoRoom:
    return NoRoom(f"cannot write {path}: {error.strerror}", _MORE_ROOM)


class _Room:
    """Room for the data of an archive."""

    def __init__(self, path: str, folder: str) -> None:
        space = os.statvfs(folder)
        self._folder = folder
        self._free = int(space.f_bavail * space.f_frsize * USABLE)
        self._most = max(ANY_RATIO_DATA_BYTES, MOST_DATA_RATIO * os.stat(path).st_size)
        self._used = 0

    def use(self, size: int) -> None:
        """Use *size* bytes.

        Raises:
            DamagedArchive: the archive has too many.
            NoRoom: there is no room for them.
        """
        self._used += size
        if self._used > self._most:
            raise DamagedArchive(f"it inflates to more than {self._most} bytes", TOO_LARGE)
        if self._used > self._free:
            raise NoRoom(f"{self._folder} has no room for what is in it", _MORE_ROOM)


def _write(member: Member, path: str, room: _Room) -> None:
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open(path, "wb"))
            ends_with_hole = False
            for block in member.blocks():
                if ends_with_hole := are_zeros(block):
                    file.seek(len(block), os.SEEK_CUR)
                else:
                    room.use(len(block))
                    file.write(block)
            if ends_with_hole:
                file.truncate()
        except OSError as error:
            raise _no_room(path, error) from None
    os.utime(path, (member.modified, member.modified))
