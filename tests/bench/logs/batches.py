"""Batches for the logs of the benchmarks, and the segments that they fill."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from google_crc32c import value as crc32c

from kraftops.log.batch import CODEC_MASK, HEADER_SIZE, Record, record_bytes
from tests.helpers.logs.written import compress

SEGMENT = "00000000000000000000.log"
START = 1_760_000_000_000  # ms; any time that prints with as many digits as today's
LEADER_EPOCH = 3
STRETCH = 48 << 20  # bytes; a longer log has the same batches again, at other offsets

_HEAD, _CHECKED = Struct(">qiibI"), Struct(">hiqqqhii")


class Made(NamedTuple):
    """A batch, its uncompressed size, and the next offset."""

    data: bytes
    size: int
    next_offset: int


class Producer(NamedTuple):
    """The producer in the header of a batch."""

    id: int = -1
    epoch: int = -1
    sequence: int = -1


NOBODY = Producer()


def batch(
    records: Sequence[Record],
    offsets: range,
    *,
    attributes: int = 0,
    producer: Producer = NOBODY,
    base_timestamp: int | None = None,
    max_timestamp: int | None = None,
) -> Made:
    """Return a compacted batch: it held all of *offsets*, and *records* are left.

    The times are those of the first and the last record, unless given.
    """
    first = records[0].timestamp if base_timestamp is None else base_timestamp
    last = records[-1].timestamp if max_timestamp is None else max_timestamp
    body = b"".join(record_bytes(record, offsets.start, first) for record in records)
    size = HEADER_SIZE + len(body)
    if codec := attributes & CODEC_MASK:
        body = compress(codec, body)
    fields = _CHECKED.pack(attributes, len(offsets) - 1, first, last, *producer, len(records))
    checked = fields + body
    head = _HEAD.pack(offsets.start, len(checked) + 9, LEADER_EPOCH, 2, crc32c(checked))
    return Made(head + checked, size, offsets.stop)


def write_segment(directory: Path, batches: Iterator[Made], size: int) -> Path:
    """Write whole batches until there are *size* bytes of them, inflated; return the segment."""
    directory.mkdir(parents=True, exist_ok=True)
    path, part = directory / SEGMENT, directory / f"{SEGMENT}.{os.getpid()}.part"
    with part.open("wb") as out:
        stretch, made = [], 0
        while made < min(size, STRETCH):
            stretch.append(next(batches))
            made += stretch[-1].size
            out.write(stretch[-1].data)
        shift = 0
        while made < size:
            shift += stretch[-1].next_offset
            for data, inflated, _ in stretch:
                # The checksum does not cover the base offset.
                out.write((int.from_bytes(data[:8]) + shift).to_bytes(8) + data[8:])
                made += inflated
                if made >= size:
                    break
    part.rename(path)  # so that an interrupted run leaves no segment that looks whole
    return path
