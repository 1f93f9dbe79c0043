"""Unpacking of archives to a directory: of a node, a recovery needs the last segments alone."""

from __future__ import annotations

import os
from collections.abc import Callable

from kraftops.log.bundles.members import Member
from kraftops.log.bundles.wanted import MORE_ROOM, NoRoom, Room, Skipped, read_wanted
from kraftops.log.zeros import are_zeros


def unpack(path: str, folder: str, is_wanted: Callable[[str], bool]) -> list[Skipped]:
    """Write the files of an archive whose path in it *is_wanted*, with their times, to a directory.

    Raises:
        NoRoom: there is no room, or the directory cannot be written.
        SourceError: as `read_wanted`.
    """
    files = _Files(folder, Room(path, folder))
    skipped = read_wanted(path, is_wanted, files)
    for parent in files.folders:
        os.utime(parent, (0, 0))  # that it has just been made says nothing
    return skipped


class _Files:
    """The files in a directory."""

    def __init__(self, folder: str, room: Room) -> None:
        self.folders = {os.path.dirname(os.path.join(folder, ""))}
        self.size = 0
        self._folder, self._room = folder, room

    def keep(self, member: Member, name: str) -> None:
        """Write a file."""
        target = os.path.join(self._folder, name)
        try:
            self._make_folder(os.path.dirname(target))
            with open(target, "wb") as file:
                ends_with_hole = False
                for block in member.blocks():
                    self.size += len(block)
                    if ends_with_hole := are_zeros(block):
                        file.seek(len(block), os.SEEK_CUR)
                    else:
                        self._room.use(len(block))
                        file.write(block)
                if ends_with_hole:
                    file.truncate()
        except OSError as error:
            raise NoRoom(f"cannot write {target}: {error.strerror}", MORE_ROOM) from None
        os.utime(target, (member.modified, member.modified))

    def _make_folder(self, path: str) -> None:
        """Make a directory unless it was made already, and note it and those above it."""
        if path not in self.folders:
            os.makedirs(path, exist_ok=True)
        while path not in self.folders:
            self.folders.add(path)
            path = os.path.dirname(path)
