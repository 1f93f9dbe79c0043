"""Members of archives of directories, tar or zip, read in one pass and in blocks."""

from __future__ import annotations

import stat
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import Enum
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol, cast

from kraftops.log.archives import inflated_blocks
from kraftops.log.bundles.torn_zip import torn_members
from kraftops.log.codecs import zstd_module
from kraftops.log.log_file import LogFile
from kraftops.log.reader import BLOCK, DamagedArchive
from kraftops.memory import MOST_RATIO

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

MOST_MEMBERS = 1_000_000
ANY_RATIO_BYTES = 4 << 30
"""Inflated bytes that are never too many: those of two hundred logs with preallocated indexes."""
TOO_LARGE = "unpack it, if that is right, and name the directory"
"""Hint about an archive that is too large."""
_LATEST = 253402300799  # the last second of the year 9999
_MOST_HEADER_BYTES = BLOCK  # of a name or of extended attributes, which are read as a whole
_ZIP = b"PK"
_ENDINGS = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"\xfd7zXZ": ".xz", b"BZh": ".bz2"}


class TornArchive(DamagedArchive):
    """An archive is damaged, or cut short; the members before the damage were yielded."""


class Content(Protocol):
    """The content of a member."""

    def read(self, size: int, /) -> bytes:
        """Return up to *size* bytes, none only at the end."""


class MemberKind(Enum):
    """Kind of a member that is not a directory."""

    FILE = "file"
    LINK = "link"
    DEVICE = "device"


class Member(NamedTuple):
    """Member of an archive; its content can be read until the next member is asked for."""

    name: str
    kind: MemberKind
    modified: float
    """Seconds since the epoch."""
    content: Content | None = None

    def blocks(self) -> Iterator[bytes]:
        """Yield the content of a file.

        Raises:
            TornArchive: the archive is damaged.
        """
        assert self.content
        while True:
            with _damage_of_archives():
                block = self.content.read(BLOCK)
            if not block:
                return
            yield block


def members(path: str) -> Iterator[Member]:
    """Yield the members of an archive that are not directories.

    Raises:
        SourceError: it cannot be opened or read.
        TornArchive: it is damaged, or no archive; what could be read was yielded.
        DamagedArchive: it inflates beyond all measure.
    """
    with LogFile(path) as file:
        magic = file.read_at(0, 6)
        listed = _zip_members(path, file) if magic.startswith(_ZIP) else _tar_members(file, magic)
        for count, member in enumerate(listed):
            if count >= MOST_MEMBERS:
                raise DamagedArchive(f"it has more than {MOST_MEMBERS} members", TOO_LARGE)
            yield member


def _tar_members(file: LogFile, magic: bytes) -> Iterator[Member]:
    ending = next((end for start, end in _ENDINGS.items() if magic.startswith(start)), None)
    blocks = inflated_blocks(file, ending) if ending else _blocks(file)
    stream = _Stream(blocks)
    with _damage_of_archives():
        tar = tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:")  # noqa: SIM115 - it holds no file of its own
    while True:
        with _damage_of_archives():
            member = tar.next()
        if member is None:
            stream.check_end()
            return
        tar.members.clear()  # type: ignore[attr-defined]  # it would keep all
        _refuse_bomb(member.offset_data + member.size, file)
        kind = _tar_kind(member)
        if kind is MemberKind.FILE:
            content = tar.extractfile(member) if member.issparse() else _TarContent(stream, member)
            yield Member(member.name, kind, _tar_seconds(member), content)
        elif kind:
            yield Member(member.name, kind, _tar_seconds(member))


def _tar_kind(member: tarfile.TarInfo) -> MemberKind | None:
    if member.isdir():
        return None
    if member.isfile():
        return MemberKind.FILE
    return MemberKind.LINK if member.issym() or member.islnk() else MemberKind.DEVICE


def _tar_seconds(member: tarfile.TarInfo) -> float:
    """Return the time of a member; 0 if there is no such time, as not a number or beyond 2**63."""
    return member.mtime if 0 <= member.mtime <= _LATEST else 0.0


class _TarContent:
    """The content of a member, up to where the archive is cut."""

    def __init__(self, stream: _Stream, member: tarfile.TarInfo) -> None:
        self._stream = stream
        self._position, self._left = member.offset_data, member.size

    def read(self, size: int) -> bytes:
        if not self._left:
            return b""
        self._stream.seek(self._position)
        content = self._stream.read(min(size, self._left))
        if not content:
            raise tarfile.ReadError("the archive is cut short")
        self._position += len(content)
        self._left -= len(content)
        return content


def _zip_members(path: str, file: LogFile) -> Iterator[Member]:
    from zipfile import BadZipFile, ZipFile

    try:
        archive = ZipFile(path)
    except BadZipFile:
        yield from _torn_zip_members(file)
        raise TornArchive("its end is missing, with the list of its members") from None
    except NotImplementedError as error:
        raise TornArchive(str(error)) from None
    with archive:
        _refuse_bomb(sum(info.file_size for info in archive.infolist()), file)
        for info in archive.infolist():
            modified = time.mktime((*info.date_time, 0, 0, -1))
            if stat.S_ISLNK(info.external_attr >> 16):
                yield Member(info.filename, MemberKind.LINK, modified)
            elif not info.is_dir():
                with closing(_ZipContent(archive, info)) as content:
                    yield Member(info.filename, MemberKind.FILE, modified, content)


class _ZipContent:
    """The content of a member, opened when it is read: others may be sound."""

    def __init__(self, archive: ZipFile, info: ZipInfo) -> None:
        self._archive, self._info = archive, info
        self._opened: IO[bytes] | None = None

    def read(self, size: int) -> bytes:
        if self._opened is None:
            if self._info.flag_bits & 1:
                raise tarfile.ReadError("it is encrypted")
            self._opened = self._archive.open(self._info)
        return self._opened.read(size)

    def close(self) -> None:
        if self._opened:
            self._opened.close()


def _torn_zip_members(file: LogFile) -> Iterator[Member]:
    inflated = 0
    with _damage_of_archives():
        for name, modified, content in torn_members(file):
            yield Member(name, MemberKind.FILE, modified, content)
            inflated += content.inflated
            _refuse_bomb(inflated, file)


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
        self._damage: DamagedArchive | None = None  # after the block
        self._latest = b""  # what was read last

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
        if self._damage and not parts:
            raise self._damage
        self._latest = b"".join(parts)
        return self._latest

    def check_end(self) -> None:
        """Check that zeros were read last: tarfile takes what is not a header for the end.

        Raises:
            TornArchive: it was something else.
        """
        if self._damage:
            raise TornArchive(self._damage.message)
        if not self._latest:
            raise TornArchive("its end is missing")
        if self._latest.count(0) != len(self._latest):
            position = self._position - len(self._latest)
            raise TornArchive(f"byte {position} of the tar archive: no header of a member")

    def _advance(self) -> bool:
        try:
            block = next(self._blocks, b"")
        except DamagedArchive as error:
            self._damage = error
            return False
        kept = self._block[-1:]  # tarfile looks at the byte before a header again
        self._start += len(self._block) - len(kept)
        self._block = kept + block
        return bool(block)


@contextmanager
def _damage_of_archives() -> Iterator[None]:
    """Turn errors of damaged archives into one.

    Raises:
        TornArchive: there was an error.
    """
    try:
        yield
    except TornArchive:
        raise
    except DamagedArchive as error:
        raise TornArchive(error.message, error.hint) from None
    except _errors_of_archives() as error:
        raise TornArchive(str(error)) from None
    except OSError as error:
        if error.errno is None:  # damage of bzip2
            raise TornArchive(f"bzip2: {error}") from None
        raise


def _errors_of_archives() -> tuple[type[Exception], ...]:
    """Return the errors of the libraries; to import them for each block takes as long as a file."""
    from lzma import LZMAError
    from struct import error as struct_error
    from zipfile import BadZipFile
    from zlib import error as zlib_error

    of_zip = (BadZipFile, NotImplementedError, zlib_error, LZMAError, struct_error, EOFError)
    return (tarfile.TarError, *of_zip, zstd_module().ZstdError, ValueError, OverflowError)
