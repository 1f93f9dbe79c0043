"""Members of archives of directories, tar or zip, read in one pass and in blocks."""

from __future__ import annotations

import stat
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import IO, NamedTuple, cast

from kraftops.log.archives import inflated_blocks
from kraftops.log.codecs import zstd_module
from kraftops.log.log_file import LogFile
from kraftops.log.reader import BLOCK, DamagedArchive

MOST_MEMBERS = 1_000_000
MOST_RATIO = 1100
"""Inflated bytes for each byte of an archive; deflate reaches 1032, with zeros."""
ANY_RATIO_BYTES = 32 << 30
"""Inflated bytes that are never too many: zeros of preallocated indexes take next to nothing."""
TOO_LARGE = "unpack it, if that is right, and name the directory"
"""Hint about an archive that is too large."""
_MOST_HEADER_BYTES = BLOCK  # of a name or of extended attributes, which are read as a whole
_ZIP = b"PK"
_ENDINGS = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"\xfd7zXZ": ".xz", b"BZh": ".bz2"}


class MemberKind(Enum):
    """Kind of a member that is no directory."""

    FILE = "file"
    LINK = "link"
    DEVICE = "device"


class Member(NamedTuple):
    """Member of an archive; its content can be read until the next member is asked for."""

    name: str
    kind: MemberKind
    modified: float
    """Seconds since the epoch."""
    content: IO[bytes] | None = None

    def blocks(self) -> Iterator[bytes]:
        """Yield the content of a file.

        Raises:
            DamagedArchive: the archive is damaged.
        """
        assert self.content
        while True:
            with _damage_of_archives():
                block = self.content.read(BLOCK)
            if not block:
                return
            yield block


def members(path: str) -> Iterator[Member]:
    """Yield the members of an archive that are no directories.

    Raises:
        SourceError: it cannot be opened or read.
        DamagedArchive: it is damaged, or no archive, or inflates beyond all measure.
    """
    with LogFile(path) as file:
        magic = file.read_at(0, 6)
        found = _zip_members(path, file) if magic.startswith(_ZIP) else _tar_members(file, magic)
        for count, member in enumerate(found):
            if count >= MOST_MEMBERS:
                raise DamagedArchive(f"it has more than {MOST_MEMBERS} members", TOO_LARGE)
            yield member


def _tar_members(file: LogFile, magic: bytes) -> Iterator[Member]:
    ending = next((end for start, end in _ENDINGS.items() if magic.startswith(start)), None)
    blocks = inflated_blocks(file, ending) if ending else _blocks(file)
    stream = cast("IO[bytes]", _Stream(blocks))
    with _damage_of_archives():
        tar = tarfile.open(fileobj=stream, mode="r:")  # noqa: SIM115 - it holds no file of its own
    while True:
        with _damage_of_archives():
            member = tar.next()
        if member is None:
            return
        tar.members.clear()  # type: ignore[attr-defined]  # it would keep all
        _refuse_bomb(member.offset_data + member.size, file)
        kind = _tar_kind(member)
        if kind is MemberKind.FILE:
            yield Member(member.name, kind, member.mtime, tar.extractfile(member))
        elif kind:
            yield Member(member.name, kind, member.mtime)


def _tar_kind(member: tarfile.TarInfo) -> MemberKind | None:
    if member.isdir():
        return None
    if member.isfile():
        return MemberKind.FILE
    return MemberKind.LINK if member.issym() or member.islnk() else MemberKind.DEVICE


def _zip_members(path: str, file: LogFile) -> Iterator[Member]:
    from zipfile import BadZipFile, ZipFile

    with _damage_of_archives():
        archive = ZipFile(path)
    with archive:
        _refuse_bomb(sum(info.file_size for info in archive.infolist()), file)
        for info in archive.infolist():
            modified = time.mktime((*info.date_time, 0, 0, -1))
            if stat.S_ISLNK(info.external_attr >> 16):
                yield Member(info.filename, MemberKind.LINK, modified)
            elif not info.is_dir():
                with _damage_of_archives():
                    if info.flag_bits & 1:
                        raise BadZipFile("it is encrypted")
                    content = archive.open(info)
                with content:
                    yield Member(info.filename, MemberKind.FILE, modified, content)


def _refuse_bomb(size: int, file: LogFile) -> None:
    """Refuse an archive that inflates to *size* bytes or more, if these are too many.

    Raises:
        DamagedArchive: they are.
    """
    if size > max(ANY_RATIO_BYTES, MOST_RATIO * file.size):
        raise DamagedArchive(f"its {file.size} bytes inflate to {size} bytes or more", TOO_LARGE)


def _blocks(file: LogFile) -> Iterator[bytes]:
    position = 0
    while block := file.read_at(position, BLOCK):
        yield block
        position += len(block)


class _Stream:
    """Blocks with the reading part of the interface of files; goes back by one byte at most."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._block = b""
        self._start = 0  # of the block
        self._position = 0

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> int:
        if position < self._start:
            raise tarfile.ReadError("its members overlap")
        self._position = position
        return position

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _MOST_HEADER_BYTES:
            raise tarfile.ReadError(f"a header of {size} bytes")
        parts = []
        while size:
            index = self._position - self._start
            if index >= len(self._block):
                if not self._advance():
                    break
                continue
            part = self._block[index : index + size]
            parts.append(part)
            size -= len(part)
            self._position += len(part)
        return b"".join(parts)

    def _advance(self) -> bool:
        block = next(self._blocks, b"")
        kept = self._block[-1:]  # tarfile looks at the byte before a header again
        self._start += len(self._block) - len(kept)
        self._block = kept + block
        return bool(block)


@contextmanager
def _damage_of_archives() -> Iterator[None]:
    """Turn errors of damaged archives into one.

    Raises:
        DamagedArchive: there was an error.
    """
    from lzma import LZMAError
    from struct import error as struct_error
    from zipfile import BadZipFile
    from zlib import error as zlib_error

    of_zip = (BadZipFile, NotImplementedError, zlib_error, LZMAError, struct_error, EOFError)
    try:
        yield
    except (tarfile.TarError, *of_zip, zstd_module().ZstdError, ValueError, OverflowError) as error:
        raise DamagedArchive(str(error)) from None
