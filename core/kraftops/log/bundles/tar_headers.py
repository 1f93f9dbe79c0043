"""Headers of usual members of a tar archive (POSIX.1-2017, `pax`: ustar and pax formats).

tarfile takes 50 to 100 µs for a member, these functions less than 10: an archive of a broker has
a hundred thousand. What is not usual, such as a sparse file, a link or damage, is left to tarfile.
"""

import os
from struct import Struct
from typing import NamedTuple, Protocol

BLOCK = 512  # bytes, of POSIX ustar
_FIELDS = Struct("100s24x12s12s8sc100x6s82x155s12x")
_CHECKSUM = slice(148, 156)
_BASE_256 = 0x80  # of the first byte of a number that octal digits cannot have
_USTAR = b"ustar\0"
_FILE, _OLD_FILE, _DIRECTORY, _PAX = b"0", b"\0", b"5", b"x"
_USUAL = (_FILE, _OLD_FILE, _DIRECTORY)
_MOST_PAX_BYTES = 64 << 10  # the largest extended attribute of Linux (XATTR_SIZE_MAX)


class TarHeader(NamedTuple):
    """A file or directory, and where its content and the next header begin in the archive."""

    name: str
    size: int
    modified: float
    position: int
    next_position: int
    is_directory: bool


class Window(Protocol):
    """Bytes of an archive ahead of a reader."""

    def peek(self, offset: int, size: int, /) -> bytes:
        """Return *size* bytes, *offset* bytes ahead, without moving; fewer at the end."""


class _Fields(NamedTuple):
    name: bytes
    size: int
    modified: float
    kind: bytes


def usual_header(stream: Window, position: int) -> TarHeader | None:
    """Return the member whose header is at *position*, where *stream* is; None if unusual."""
    fields = _fields(stream.peek(0, BLOCK))
    ahead = BLOCK
    records: dict[bytes, bytes] | None = {}
    if fields and fields.kind == _PAX and fields.size <= _MOST_PAX_BYTES:
        records = _pax_records(stream.peek(BLOCK, fields.size))
        ahead += _padded(fields.size)
        fields = _fields(stream.peek(ahead, BLOCK))
        ahead += BLOCK
    if fields is None or records is None or fields.kind not in _USUAL:
        return None
    try:
        size = int(records[b"size"]) if b"size" in records else fields.size
        modified = float(records[b"mtime"]) if b"mtime" in records else fields.modified
    except ValueError:
        return None
    name = records.get(b"path", fields.name)
    # A file of the oldest format, without a kind, is a directory by the end of its name.
    if size < 0 or (fields.kind == _OLD_FILE and name.endswith(b"/")):
        return None
    start = position + ahead
    is_directory = fields.kind == _DIRECTORY
    end = start if is_directory else start + _padded(size)
    return TarHeader(
        name=os.fsdecode(name),
        size=size,
        modified=modified,
        position=start,
        next_position=end,
        is_directory=is_directory,
    )


def _fields(head: bytes) -> _Fields | None:
    if len(head) < BLOCK:
        return None
    name, size, modified, checksum, kind, magic, prefix = _FIELDS.unpack(head)
    if size[0] & _BASE_256 or modified[0] & _BASE_256 or (prefix[0] and magic != _USTAR):
        return None
    try:
        if int(checksum.strip(b" \0"), 8) != sum(head) - sum(head[_CHECKSUM]) + 8 * ord(" "):
            return None
        name = name.partition(b"\0")[0]
        if prefix[0]:
            name = prefix.partition(b"\0")[0] + b"/" + name
        return _Fields(name, _octal(size), _octal(modified), kind)
    except ValueError:
        return None


def _padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _octal(field: bytes) -> int:
    return int(field.strip(b" \0") or b"0", 8)


def _pax_records(block: bytes) -> dict[bytes, bytes] | None:
    """Return the keys and values of an extended header; None if it is unusual."""
    records: dict[bytes, bytes] = {}
    position = 0
    while position < len(block):
        space = block.find(b" ", position)
        digits = block[position:space]
        if space < 0 or not digits.isdigit() or len(digits) > len(str(_MOST_PAX_BYTES)):
            return None
        end = position + int(digits)
        key, equals, text = block[space + 1 : end - 1].partition(b"=")
        is_whole = equals and position < end <= len(block) and block[end - 1 : end] == b"\n"
        if not is_whole or key.startswith((b"GNU.sparse", b"hdrcharset")):
            return None
        records[key] = text
        position = end
    return records
