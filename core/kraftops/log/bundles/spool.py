"""Archives as directories to read: a tree of names, each a range of one file.

That is the archive itself where a tar archive is not compressed, and else a temporary file without
a name, which is gone with the process: a hundred thousand files would take the system a minute.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from kraftops.fileio.mounts import Extent, Mount, mounted
from kraftops.log.bundles.members import Member
from kraftops.log.bundles.wanted import MORE_ROOM, NoRoom, Room, Skipped, read_wanted
from kraftops.log.reader import BLOCK
from kraftops.log.zeros import are_zeros

_LEAST_HOLE = 4096  # bytes: a page of a file system


@contextmanager
def mounted_archive(
    path: str, is_wanted: Callable[[str], bool]
) -> Iterator[tuple[Mount, list[Skipped]]]:
    """Let paths lead into an archive, to the files whose path in it *is_wanted*.

    Raises:
        NoRoom: the temporary directory has no room.
        SourceError: as `read_wanted`.
    """
    from tempfile import TemporaryFile, gettempdir

    with ExitStack() as stack:
        mount = Mount(path)
        try:
            archive = stack.enter_context(open(path, "rb", buffering=0))
            file = stack.enter_context(TemporaryFile(buffering=0))
        except OSError as error:
            raise NoRoom(f"cannot read it: {error.strerror}", MORE_ROOM) from None
        spool = _Spool(mount, archive.fileno(), file.fileno(), Room(path, gettempdir()))
        skipped = read_wanted(path, is_wanted, spool)
        spool.flush()
        stack.enter_context(mounted(mount))
        yield mount, skipped


class _Spool:
    """The contents of files, one after another in a file."""

    def __init__(self, mount: Mount, archive: int, file: int, room: Room) -> None:
        """Begin with an empty *file*; both are descriptors."""
        self.size = 0
        self._mount, self._archive, self._file, self._room = mount, archive, file, room
        self._end = 0  # of what was kept
        self._unwritten = bytearray()

    def keep(self, member: Member, name: str) -> str | None:
        """Keep a file, or note where it lies in the archive."""
        if stored := member.stored:
            self.size += stored.size
            extent = Extent(self._archive, stored.position, stored.size, member.modified)
            return self._added(name, extent)
        start = self._end
        try:
            for block in member.blocks():
                self._add(block)
        finally:
            self.size += self._end - start
            extent = Extent(self._file, start, self._end - start, member.modified)
            reason = self._added(name, extent)
        return reason

    def _added(self, name: str, extent: Extent) -> str | None:
        is_placed = self._mount.add(name, extent)
        return None if is_placed else "its path is that of a directory, or leads through a file"

    def _add(self, block: bytes) -> None:
        is_hole = len(block) >= _LEAST_HOLE and are_zeros(block)
        if is_hole:
            self.flush()
        else:
            self._room.use(len(block))
            self._unwritten += block
        self._end += len(block)
        if len(self._unwritten) >= BLOCK:
            self.flush()

    def flush(self) -> None:
        """Write all that is kept, with holes for zeros."""
        unwritten = memoryview(self._unwritten)
        position = self._end - len(unwritten)
        try:
            while unwritten:
                written = os.pwrite(self._file, unwritten, position)
                position, unwritten = position + written, unwritten[written:]
            os.ftruncate(self._file, self._end)
        except OSError as error:
            raise NoRoom(f"cannot keep what is in it: {error.strerror}", MORE_ROOM) from None
        self._unwritten = bytearray()
