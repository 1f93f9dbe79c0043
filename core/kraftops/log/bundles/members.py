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
from kraftops.log.bundles.tar_headers import usual_header
from kraftops.log.bundles.torn_zip import torn_members
from kraftops.log.codecs import zstd_module
from kraftops.log.log_file import LogFile
from kraftops.log.reader import BLOCK, DamagedArchive
from kraftops.memory import MOST_RATIO

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

MOST_MEMBERS = 1_000_000  # more than any broker has files; all their names are held
ANY_RATIO_BYTES = 4 << 30
"""Inflated bytes that are never too many: those of two hundred logs with preallocated indexes."""
TOO_LARGE = "unpack it, if that is right, and name the directory"
"""Hint about an archive that is too large."""
_LATEST = 253402300799  # the last second of the year 9999
_MOST_HEADER_BYTES = BLOCK  # of a name or of extended attributes, which are read as a whole
_FILE_BLOCK = 64 << 10  # many small members, and not too much before the content of a large one
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


class Stored(NamedTuple):
    """The bytes of an archive that are the content of a member, as they are."""

    position: int
    size: int


class Member(NamedTuple):
    """Member of an archive; its content can be read until the next member is asked for."""

    name: str
    kind: MemberKind
    modified: float
    """Seconds since the epoch."""
    content: Content | None = None
    stored: Stored | None = None
    """Where the whole content lies, in a tar archive that is not compressed."""

    def blocks(self) -> Iterator[bytes]:
        """Yield the content of a file.

        Raises:
            TornArchive: the archive is damaged.
        """
        assert self.content
        while True:
            try:
                block = self.content.read(BLOCK)
            except Exception:  # to enter a context for each block takes as long as a small file
                with _damage_of_archives():
                    raise
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
    stream = _Stream(inflated_blocks(file, ending)) if ending else _FileStream(file)
    unusual = _UnusualMembers(stream)
    most = _most_bytes(file)
    position = 0
    with _damage_of_archives():
        while True:
            stream.seek(position)
            header = None if unusual.has_common_records else usual_header(stream, position)
            if header is None:
                info = unusual.member(position)
                if info is None:
                    stream.check_end()
                    if ending:
                        stream.check_rest(most)
                    return
                _refuse_bomb(info.offset_data + info.size, most, file)
                if member := unusual.read(info):
                    yield member
                position = unusual.next_position
                continue
            if header.next_position > most:
                _refuse_bomb(header.position + header.size, most, file)
            if not header.is_directory:
                content = _TarContent(stream, header.position, header.size)
                stored = None
                if not ending and header.position + header.size <= file.size:
                    stored = Stored(header.position, header.size)
                modified = _possible(header.modified)
                yield Member(
                    name=header.name,
                    kind=MemberKind.FILE,
                    modified=modified,
                    content=content,
                    stored=stored,
                )
            position = header.next_position


class _UnusualMembers:
    """What tarfile reads of an archive: sparse files, links, devices, long names, and damage."""

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream
        self._tar: tarfile.TarFile | None = None

    @property
    def has_common_records(self) -> bool:
        """Whether extended records of all members were read, but for a comment, as git writes."""
        return bool(self._tar and self._tar.pax_headers.keys() - {"comment"})

    @property
    def next_position(self) -> int:
        """The position of the header after the last member."""
        assert self._tar
        return self._tar.offset

    def member(self, position: int) -> tarfile.TarInfo | None:
        """Return the member whose header is at *position*, where the stream is; None at the end."""
        if self._tar is None:
            fileobj = cast("IO[bytes]", self._stream)
            self._tar = tarfile.open(fileobj=fileobj, mode="r:")  # noqa: SIM115 - it holds no file
            first: tarfile.TarInfo | None = self._tar.firstmember  # type: ignore[attr-defined]
            self._tar.firstmember = None  # type: ignore[attr-defined]
            return first
        self._tar.offset = position
        self._tar.members.clear()  # type: ignore[attr-defined]  # it would keep all
        return self._tar.next()

    def read(self, info: tarfile.TarInfo) -> Member | None:
        kind = _tar_kind(info)
        modified = _possible(info.mtime)
        if kind is not MemberKind.FILE:
            return Member(info.name, kind, modified) if kind else None
        assert self._tar
        content = self._tar.extractfile(info) if info.issparse() else None
        plain = _TarContent(self._stream, info.offset_data, info.size)
        return Member(info.name, kind, modified, content or plain)


def _tar_kind(member: tarfile.TarInfo) -> MemberKind | None:
    if member.isdir():
        return None
    if member.isfile():
        return MemberKind.FILE
    return MemberKind.LINK if member.issym() or member.islnk() else MemberKind.DEVICE


def _possible(seconds: float) -> float:
    """Return the time of a member; 0 if there is no such time, as not a number or beyond 2**63."""
    return seconds if 0 <= seconds <= _LATEST else 0.0


class _TarContent:
    """The content of a member, up to where the archive is cut."""

    def __init__(self, stream: _Stream, position: int, size: int) -> None:
        self._stream = stream
        self._position, self._left = position, size

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
        inflated = sum(info.file_size for info in archive.infolist())
        _refuse_bomb(inflated, _most_bytes(file), file)
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
            _refuse_bomb(inflated, _most_bytes(file), file)


def _most_bytes(file: LogFile) -> int:
    """Return the inflated bytes of an archive that are not too many."""
    return max(ANY_RATIO_BYTES, MOST_RATIO * file.size)


def _refuse_bomb(size: int, most: int, file: LogFile) -> None:
    """Refuse an archive that inflates to *size* bytes or more, if these are too many.

    Raises:
        DamagedArchive: they are.
    """
    if size > most:
        raise DamagedArchive(f"its {file.size} bytes inflate to {size} bytes or more", TOO_LARGE)


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

    def peek(self, offset: int, size: int) -> bytes:
        """Return *size* bytes, *offset* bytes ahead, without moving; fewer at the end."""
        start = self._position + offset - self._start
        while start + size > len(self._block):
            if not self._advance():
                break
            start = self._position + offset - self._start
        return self._block[start : start + size]

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

    def check_rest(self, most: int) -> None:
        """Read on to the checksum at the end, of all that was inflated; junk after it is ignored.

        Raises:
            TornArchive: the checksum is wrong: any of the members may be.
        """
        while self._position < most and self._advance():
            self._position = self._start + len(self._block)
        if self._damage and "header" not in self._damage.message:
            raise TornArchive(self._damage.message)

    def _advance(self) -> bool:
        """Read a block more, and drop what is before the position but for one byte."""
        try:
            block = self._next_block()
        except DamagedArchive as error:
            self._damage = error
            return False
        # tarfile looks at the byte before a header again
        dropped = min(max(0, self._position - self._start - 1), len(self._block))
        self._start += dropped
        self._block = self._block[dropped:] + block
        return bool(block)

    def _next_block(self) -> bytes:
        return next(self._blocks, b"")


class _FileStream(_Stream):
    """An archive that is not compressed: what is not read is not looked at."""

    def __init__(self, file: LogFile) -> None:
        super().__init__(iter(()))
        self._file = file

    def _next_block(self) -> bytes:
        end = self._start + len(self._block)
        if self._position > end:
            self._block, self._start = b"", self._position
            end = self._position
        return self._file.read_at(end, _FILE_BLOCK)


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
