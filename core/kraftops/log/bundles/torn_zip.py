"""Members of a zip archive whose end, with the list of its members, is missing.

Each member has a header of its own before its content (APPNOTE.TXT of PKWARE, 4.3.7). Of members
whose size is only after them, deflated ones are read.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from kraftops.log.log_file import LogFile
from kraftops.log.reader import BLOCK

_HEADER = Struct("<4s2xHHHH4xIIHH")
_MAGIC = b"PK\x03\x04"
_ENCRYPTED, _SIZE_BEHIND = 1, 8
_STORED, _DEFLATED = 0, 8
_IN_EXTRA = 0xFFFFFFFF  # the size is in the extra field (zip64)
_MOST_DESCRIPTOR = 24  # bytes between a member with its size after it and the next one


class TornMember(NamedTuple):
    """A member: its name, its time in seconds, and its content."""

    name: str
    modified: float
    content: TornContent


class TornContent:
    """The content of a member, up to where the archive is cut."""

    def __init__(self, file: LogFile, start: int, size: int | None, method: int) -> None:
        """Begin at byte *start*; *size* is that of the packed bytes, None if it is unknown."""
        self._file = file
        self._stop = file.size if size is None else min(start + size, file.size)
        self._is_cut = size is None or start + size > file.size
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS) if method == _DEFLATED else None
        self.position = start
        self.inflated = 0

    def read(self, size: int) -> bytes:
        """Return up to *size* bytes, none only at the end.

        Raises:
            EOFError: the archive is cut here.
            zlib.error: it is damaged.
        """
        inflater = self._inflater
        while self.position < self._stop or (inflater and inflater.unconsumed_tail):
            if inflater is None:
                content = self._packed(size)
                self.inflated += len(content)
                return content
            packed = inflater.unconsumed_tail or self._packed(BLOCK)
            content = inflater.decompress(packed, size)
            if inflater.eof:
                self.position -= len(inflater.unused_data)
                self._stop, self._is_cut = self.position, False
            if content:
                self.inflated += len(content)
                return content
        if self._is_cut:
            raise EOFError("the archive is cut short")
        return b""

    def _packed(self, size: int) -> bytes:
        block = self._file.read_at(self.position, min(size, self._stop - self.position))
        self.position += len(block)
        return block


def torn_members(file: LogFile) -> Iterator[TornMember]:
    """Yield the members from the first one on, as far as their headers lead."""
    position = 0
    while True:
        head = file.read_at(position, _HEADER.size)
        if len(head) < _HEADER.size or not head.startswith(_MAGIC):
            return
        _, flags, method, clock, day, size, _, name_size, extra_size = _HEADER.unpack(head)
        start = position + _HEADER.size + name_size + extra_size
        has_size = not flags & _SIZE_BEHIND
        is_readable = method == _DEFLATED or (method == _STORED and has_size)
        if flags & _ENCRYPTED or size == _IN_EXTRA or not is_readable:
            return
        name = file.read_at(position + _HEADER.size, name_size).decode("utf-8", "replace")
        content = TornContent(file, start, size if has_size else None, method)
        if not name.endswith("/"):
            yield TornMember(name, _seconds(day, clock), content)
        while content.read(BLOCK):
            pass
        position = content.position
        if not has_size:
            next_header = file.read_at(position, _MOST_DESCRIPTOR + len(_MAGIC)).find(_MAGIC)
            if next_header < 0:
                return
            position += next_header


def _seconds(day: int, clock: int) -> float:
    """Return a time of DOS in seconds since the epoch; 0 if there is no such time."""
    date = (day >> 9) + 1980, day >> 5 & 15, day & 31
    try:
        return time.mktime((*date, clock >> 11, clock >> 5 & 63, (clock & 31) * 2, 0, 0, -1))
    except (OverflowError, ValueError):
        return 0.0
