"""The wanted files of an archive, given one after another to who keeps them, within limits."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable
from typing import NamedTuple, Protocol

from kraftops.errors import SourceError
from kraftops.log.bundles.members import TOO_LARGE, Member, MemberKind, TornArchive, members
from kraftops.log.reader import DamagedArchive
from kraftops.memory import keep_freed_memory

MORE_ROOM = "TMPDIR names a directory with more room"
USABLE = 0.9  # of the free space of the temporary directory
MOST_DATA_RATIO = 200
"""Unpacked bytes for each byte of an archive, without blocks of zeros, which take no space."""
ANY_RATIO_DATA_BYTES = 1 << 30
"""Unpacked bytes that are never too many."""
_UNUSUAL_PATH = re.compile(r"\A[./]|/[./]|/\Z|\A\Z|\0")  # one that may have to be made normal


class NoRoom(DamagedArchive):
    """The temporary directory has no room for what is in an archive."""


class Skipped(NamedTuple):
    """A member that is wanted and not completely read, and the reason.

    Without a name it is the rest of a damaged archive.
    """

    name: str
    reason: str
    is_damaged: bool = False

    def error(self, path: str) -> SourceError:
        """Return what is said of it, of the archive *path*."""
        place = f"{path}!/{self.name}" if self.name else f"the rest of {path}"
        kind = DamagedArchive if self.is_damaged else SourceError
        name = place if self.name else path
        return kind(f"cannot read {place}: {self.reason}", path=name, reason=self.reason)


class Keeper(Protocol):
    """Keeps the files of an archive."""

    @property
    def size(self) -> int:
        """The bytes that were kept."""

    def keep(self, member: Member, name: str, /) -> str | None:
        """Keep a file under its path in the archive, or return why that is not possible.

        Raises:
            TornArchive: the archive is damaged; what was read before is kept.
            DamagedArchive: it is too large, or there is no room.
        """


def read_wanted(path: str, is_wanted: Callable[[str], bool], keeper: Keeper) -> list[Skipped]:
    """Give the files of an archive whose path in it *is_wanted* to a keeper.

    Links and devices are left out, and files whose path leads out of the archive. Of a damaged
    archive everything is kept that can be read.

    Raises:
        SourceError: the archive cannot be read, or *keeper* cannot write.
        TornArchive: it is damaged, and nothing can be read.
        DamagedArchive: it is too large for its size, or there is no room.
    """
    keep_freed_memory()
    skipped: list[Skipped] = []
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
        name = _inner_path(member.name)
        if name is None:
            skipped.append(Skipped(member.name, "its path leads out of the archive"))
            continue
        if not is_wanted(name):
            continue
        if member.kind is not MemberKind.FILE:
            skipped.append(Skipped(name, f"it is a {member.kind.value}"))
            continue
        try:
            if reason := keeper.keep(member, name):
                skipped.append(Skipped(name, reason))
        except TornArchive as error:
            damage = error
            skipped.append(Skipped(name, error.message, is_damaged=True))
    if damage and not keeper.size:
        raise damage
    return skipped


def _inner_path(name: str) -> str | None:
    """Return the normal path of a member; None of one that leads out of the archive."""
    if not _UNUSUAL_PATH.search(name):
        return name
    path = posixpath.normpath(name)
    leads_out = posixpath.isabs(path) or path.split("/", 1)[0] == ".." or "\0" in path
    return None if leads_out else path


class Room:
    """Room for the data of an archive."""

    def __init__(self, path: str, folder: str) -> None:
        """Measure the free space of *folder*, and the size of the archive *path*."""
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
            raise NoRoom(f"{self._folder} has no room for what is in it", MORE_ROOM)
