"""Bytes without which no record can be what topics or keys ask for."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress

from kraftops.dump.query import Query
from kraftops.errors import DecodeError
from kraftops.records.user import DEFAULT_DECODER
from kraftops.uuids import from_text
from kraftops.varint import read_varint

_REPLACED = "\ufffd"  # stands for bytes that are no UTF-8, whatever they are


def needles(query: Query) -> tuple[bytes, ...]:
    """Return bytes of which a record that is asked for holds some; none where that is not known."""
    asked = query.filter
    if asked.topics:
        return _bytes_of(asked.topics | asked.topic_ids)
    if asked.keys and query.key_decoder == DEFAULT_DECODER:
        return _bytes_of(asked.keys)
    return ()


def holders(
    buffer: bytes, pos: int, count: int, needles: tuple[bytes, ...]
) -> Iterator[tuple[int, int]]:
    """Yield number and position of the records that hold some of *needles*.

    *count* records begin at *pos*. One whose length cannot be is the last, for the caller to see.
    """
    hit, size = -1, len(buffer)
    for done in range(count):
        if hit < pos:
            found = [at for needle in needles if (at := buffer.find(needle, pos)) >= 0]
            if not found:
                return
            hit = min(found)
        try:
            length, start = read_varint(buffer, pos)
        except DecodeError:
            yield done, pos
            return
        end = start + length
        if length < 0 or end > size:
            yield done, pos
            return
        if hit < end:
            yield done, pos
        pos = end


def _bytes_of(texts: frozenset[str]) -> tuple[bytes, ...]:
    """Return what stands for each of *texts* in a record: UTF-8, or the bytes that are shown so."""
    found: set[bytes] = set()
    for text in texts:
        if _REPLACED in text or text.startswith(("{", '"')) or not text:
            return ()
        found.add(text.encode("utf-8", "surrogateescape"))
        with suppress(binascii.Error, ValueError):
            found.add(b64decode(text, validate=True))
        with suppress(DecodeError):
            found.add(from_text(text))
    return tuple(found)
