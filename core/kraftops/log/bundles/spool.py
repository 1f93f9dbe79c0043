"""Archives as directories to read: a tree of names, each a range of one file.

That is the archive itself where a tar archive is not compressed, and else a temporary file without
a name, which is gone with the process: a hundred thousand files would take the system a minute.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from kraftops.errors import SourceError
from kraftops.fileio.mounts import Extent, Mount, mounted
from kraftops.log.bundles.members import TOO_LARGE, Member, MemberKind, TornArchive, members
from kraftops.log.files import PARTITION_NAME
from kraftops.log.reader import BLOCK, DamagedArchive
from kraftops.log.zeros import are_zeros
from kraftops.memory import keep_freed_memory

_LEAST_HOLE = 4096  # bytes: a page of a file system
_IDENTITY = "meta.properties"  # which tells one node's files from another's of the same names
_APART = "pack each node in an archive of its own, or under its own directory"
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
        place = f"{path}!/{self.name}" if self.name else f"the rest of {path}"
        kind = DamagedArchive if self.is_damaged else SourceError
        name = place if self.name else path
        return kind(f"cannot read {place}: {self.reason}", path=name, reason=self.reason)


@contextmanager
def mounted_archive(
    path: str, is_wanted: Callable[[str], bool]
) -> Iterator[tuple[Mount, list[Skipped]]]:
    """Let paths lead into an archive, to the files whose path in it *is_wanted*.

    Raises:
        NoRoom: the temporary directory has no room.
        SourceError: the archive cannot be read.
        TornArchive: it is damaged, and nothing can be read.
        DamagedArchive: it is too large for its size.
    """
    from tempfile import TemporaryFile, gettempdir

    with ExitStack() as stack:
        mount = Mount(path)
        try:
            archive = stack.enter_context(open(path, "rb", buffering=0))
            file = stack.enter_context(TemporaryFile(buffering=0))
        except OSError as error:
            raise NoRoom(f"cannot read it: {error.strerror}", MORE_ROOM) from None
        spool = _Spool(mount, archive.fileno(), file.fileno(), _Room(path, gettempdir()))
        skipped = spool.read(path, is_wanted)
        spool.flush()
        stack.enter_context(mounted(mount))
        yield mount, skipped


class _Spool:
    """The contents of files, one after another in a file."""

    def __init__(self, mount: Mount, archive: int, file: int, room: _Room) -> None:
        """Begin with an empty *file*; both are descriptors."""
        self.size = 0
        self._mount, self._archive, self._file, self._room = mount, archive, file, room
        self._identities: dict[str, bytes] = {}
        self._end = 0  # of what was kept
        self._unwritten = bytearray()

    def read(self, path: str, is_wanted: Callable[[str], bool]) -> list[Skipped]:
        """Keep the files of an archive whose path in it *is_wanted*.

        Links and devices are left out, and files whose path leads out of the archive. Of a damaged
        archive everything is kept that can be read.

        Raises:
            SourceError: the archive cannot be read, or has several nodes under the same names.
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
            if not (is_wanted(name) or _is_linked_partition(member.kind, name)):
                continue
            if member.kind is not MemberKind.FILE:
                skipped.append(Skipped(name, f"it is a {member.kind.value}"))
                continue
            try:
                if reason := self._keep(member, name):
                    skipped.append(Skipped(name, reason))
            except TornArchive as error:
                damage = error
                skipped.append(Skipped(name, error.message, is_damaged=True))
        if damage and not self.size:
            raise damage
        return skipped

    def _keep(self, member: Member, name: str) -> str | None:
        """Keep a file, or note where it lies in the archive; return why that is not possible."""
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
        if posixpath.basename(name) == _IDENTITY:
            self.flush()
            content = extent.read_at(0, extent.size)
            if self._identities.setdefault(name, content) != content:
                text = f"{self._mount.path} has the directories of two nodes under one name: {name}"
                raise SourceError(text, _APART)
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


def _is_linked_partition(kind: MemberKind, name: str) -> bool:
    """Tell whether a member is a link to a partition, which was moved to another disk."""
    return kind is MemberKind.LINK and bool(PARTITION_NAME.fullmatch(posixpath.basename(name)))


def _inner_path(name: str) -> str | None:
    """Return the normal path of a member; None of one that leads out of the archive.

    Absolute ones, as `tar -P` writes them, begin at the root of the archive, as `tar -x` has them.
    """
    if not _UNUSUAL_PATH.search(name):
        return name
    path = posixpath.normpath(name.lstrip("/"))
    leads_out = path.split("/", 1)[0] == ".." or "\0" in path
    return None if leads_out else path


class _Room:
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
