"""Batches made by hand, valid or not, and the segments of the corpus."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from google_crc32c import value as crc32c

from kraftops.log.batch import Batch
from kraftops.log.log_file import LogFile
from kraftops.log.reader import LogReader
from kraftops.varint import varint_bytes
from tests.helpers.tools.corpus import DUMPS

IN = DUMPS / "in"
ATTRIBUTES_AT, LAST_DELTA_AT, COUNT_AT = 21, 23, 57


def segments(pattern: str = "*/*.log") -> list[Path]:
    """Return the undamaged files that match a pattern; files in `dmg` and `idx` are damaged."""
    found = sorted(p for p in IN.rglob(pattern) if p.is_file() and "dmg" not in p.parts)
    assert found, pattern
    return found


def batches_of(data: bytes) -> list[Batch]:
    """Return the batches of a segment in memory."""
    return list(reader_of(data))


def reader_of(data: bytes, block: int = 1 << 30) -> LogReader:
    """Return a reader of a segment in memory that reads at most *block* bytes at a time."""
    return LogReader(source_of(data, block), 0, len(data))


def source_of(data: bytes, block: int = 1 << 30) -> Callable[[int], bytes]:
    """Return a function that reads *data*, at most *block* bytes at a time."""
    position = 0

    def read(size: int) -> bytes:
        nonlocal position
        assert size > 0, "nothing is asked of the source where nothing is wanted"
        part = data[position : position + min(size, block)]
        position += len(part)
        return part

    return read


def walk(path: Path) -> Iterator[Batch]:
    """Yield the batches of a file."""
    with LogFile(str(path)) as log:
        yield from log.batches()


def patched(data: bytes, at: int, replacement: bytes) -> bytes:
    """Return *data* with some bytes replaced."""
    return data[:at] + replacement + data[at + len(replacement) :]


def resealed(batch: bytes) -> bytes:
    """Return a batch of magic 2 with a correct checksum."""
    return patched(batch, 17, crc32c(batch[21:]).to_bytes(4))


def batch_around(
    body: bytes,
    count: int,
    *,
    base_offset: int = 0,
    attributes: int = 0,
    timestamp: int = 1_000,
    max_timestamp: int | None = None,
    base_sequence: int = -1,
) -> bytes:
    """Return a batch of magic 2 with any *body* and a record count of *count*."""
    tail = struct.pack(
        ">hiqqqhii",
        attributes,
        max(count - 1, 0),
        timestamp,
        timestamp if max_timestamp is None else max_timestamp,
        -1,
        -1,
        base_sequence,
        count,
    )
    tail += body
    head = struct.pack(">qiibI", base_offset, len(tail) + 9, 0, 2, crc32c(tail))
    return head + tail


def record_around(fields: bytes) -> bytes:
    """Return a record: the length of *fields*, then *fields*."""
    return varint_bytes(len(fields)) + fields


def plain_record(delta: int, value: bytes | None, key: bytes | None = None) -> bytes:
    """Return a record without headers at an offset delta, at the base timestamp."""
    parts = [b"\0", b"\0", varint_bytes(delta)]
    for part in (key, value):
        parts += [b"\1"] if part is None else [varint_bytes(len(part)), part]
    return record_around(b"".join([*parts, b"\0"]))
