"""Small logs that inflate to much, by the place in a record that does, and one that does not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from kraftops.log.batch import Record
from kraftops.log.codecs import CODECS
from kraftops.varint import varint_bytes
from tests.helpers.logs.costly_files import MIB, inflating_to, packed
from tests.helpers.logs.segments import plain_record, record_around
from tests.helpers.logs.written import compress, message_bytes

WITHIN = 62 * MIB
"""The most that a batch may inflate to, about."""
_BARE = b"\0\0\0\1\1"  # attributes, deltas, no key, no value
_SMALLEST = b"\x0c\0\0\0\x01\x01\0"
_HEADERS = 300, 65_000
_LEGACY_CODECS = CODECS[1:4]


def _of_headers(size: int, count: int) -> bytes:
    """Return a batch with a record of *count* headers, all as large in key and value."""
    part = varint_bytes(size // count // 2) + bytes(size // count // 2)
    return record_around(_BARE + varint_bytes(count) + 2 * count * part)


def _wrapper(messages: bytes, codec: str) -> bytes:
    number = CODECS.index(codec)
    return message_bytes(Record(0, 0, None, compress(number, messages, 1)), 1, number)


PLACES: dict[str, Callable[[int, str], bytes]] = {
    "value": inflating_to,
    "key": lambda size, codec: packed(plain_record(0, b"v", bytes(size)), codec),
    "headers": lambda size, codec: packed(_of_headers(size, _HEADERS[0]), codec),
    "many headers": lambda size, codec: packed(_of_headers(size, _HEADERS[1]), codec),
    "values": lambda size, codec: packed(
        plain_record(0, bytes(200_000)) * (size // 200_000), codec, count=size // 200_000
    ),
    "records": lambda size, codec: packed(_SMALLEST * (size // 7), codec, count=size // 7),
    "batches": lambda size, codec: b"".join(
        packed(plain_record(0, bytes(size)), codec, first=number) for number in range(4)
    ),
    "noise": lambda size, codec: packed(plain_record(0, Random(1).randbytes(size)), codec),
    "old value": lambda size, codec: _wrapper(
        message_bytes(Record(0, 0, None, bytes(size)), 1), codec
    ),
    "old wrapper in a wrapper": lambda size, codec: _wrapper(
        _wrapper(message_bytes(Record(0, 0, None, bytes(size)), 1), codec), codec
    ),
}
"""Makes a log of a batch, or some, that inflates to about so many bytes."""
_ALL_ROWS = ("--max-output", "1t")
FORMS: dict[str, tuple[str, ...]] = {
    "text": ("--print-data-log",),
    "json": ("--format", "json", *_ALL_ROWS),
    "csv": ("--format", "csv", *_ALL_ROWS),
    "limit": ("--format", "json", "--limit", "9"),
    "where": ("--format", "json", "--where", "value ~ 'b+c'"),
    "where it is so": ("--format", "csv", "--where", "value ~ '.'", *_ALL_ROWS),
    "check": ("--print-data-log", "--check"),
    "summary": ("--summary",),
    "parquet": ("--format", "parquet", "--output", "out.parquet", "--overwrite"),
}
"""Arguments of a dump by name; a log is behind them."""


def is_possible(place: str, codec: str) -> bool:
    """Tell whether batches of this age know the codec."""
    return not place.startswith("old") or codec in _LEGACY_CODECS


@cache
def bomb(place: str, size: int, codec: str) -> bytes:
    """Return the log of a place."""
    return PLACES[place](size, codec)
