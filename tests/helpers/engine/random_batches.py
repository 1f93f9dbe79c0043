"""Random batches of all decoders, from a seed, correct and wrong."""

import struct
from random import Random
from typing import NamedTuple

from google_crc32c import value as crc32c

from kraftops.varint import varint_bytes
from tests.helpers.engine.random_messages import Kind, control_payload, payload, text_bytes
from tests.helpers.kafka.cases.mutations import INTS, LONGS, mutated
from tests.helpers.logs.written import compress


class Raw(NamedTuple):
    """A record without its frame, with deltas as they are written."""

    offset_delta: int
    time_delta: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[bytes, bytes | None], ...] = ()
    attributes: int = 0


def raw_bytes(record: Raw) -> bytes:
    """Return the bytes of a record."""
    parts = [
        bytes([record.attributes]),
        varint_bytes(record.time_delta),
        varint_bytes(record.offset_delta),
    ]
    for part in (record.key, record.value):
        parts += [b"\1"] if part is None else [varint_bytes(len(part)), part]
    parts.append(varint_bytes(len(record.headers)))
    for key, value in record.headers:
        parts += [varint_bytes(len(key)), key]
        parts += [b"\1"] if value is None else [varint_bytes(len(value)), value]
    body = b"".join(parts)
    return varint_bytes(len(body)) + body


def sealed(
    body: bytes,
    count: int,
    *,
    base_offset: int = 0,
    attributes: int = 0,
    last_delta: int | None = None,
    base_time: int = 0,
    max_time: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    sequence: int = -1,
    epoch: int = 0,
    magic: int = 2,
) -> bytes:
    """Return a batch around the bytes of its records, which are compressed as its attributes say."""
    codec = attributes & 7
    if 0 < codec < 5:
        body = compress(codec, body)
    checked = struct.pack(
        ">hiqqqhii",
        attributes,
        max(count - 1, 0) if last_delta is None else last_delta,
        base_time,
        base_time if max_time is None else max_time,
        producer_id,
        producer_epoch,
        sequence,
        count,
    )
    checked += body
    head = struct.pack(">qiibI", base_offset, len(checked) + 9, epoch, magic, crc32c(checked))
    return head + checked


_CONTROL, _APPEND, _TRANSACTIONAL, _HORIZON = 0x20, 0x08, 0x10, 0x40


def log_bytes(rng: Random, kind: Kind, odd: float = 0.0) -> bytes:
    """Return a log for a decoder; its offsets and times mostly go up, with gaps."""
    offset = rng.choice((0, 0, 0, 5, 1 << 40))
    time = rng.choice((0, 1_700_000_000_000))
    out = []
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        batch, offset = batch_of(rng, kind, offset, time, odd)
        out.append(batch)
        time += rng.randrange(3)
        offset += rng.choice((0, 0, 0, 1, 7))
    return b"".join(out)


def batch_of(rng: Random, kind: Kind, offset: int, time: int, odd: float) -> tuple[bytes, int]:
    """Return a batch, and the offset that follows."""
    attributes = _attributes(rng, kind, odd)
    records, delta = _records(rng, kind, odd, is_control=attributes[1])
    sequence = rng.choice((-1, -1, 0, 7, 0x7FFFFFFF, 0x7FFFFFFE))
    if rng.random() < odd / 4:
        sequence = rng.choice(INTS)
    count = len(records)
    if rng.random() < odd / 8:
        count = rng.choice((0, count - 1, count + 1, -1, 1 << 20, 0x7FFFFFFF))
    body = b"".join(map(raw_bytes, records))
    if rng.random() < odd / 4:
        body = mutated(rng, body)
    base_offset = rng.choice(LONGS) if rng.random() < odd / 6 else offset
    max_time = rng.choice(LONGS) if rng.random() < odd / 6 else time + 3
    base_time = rng.choice(LONGS) if rng.random() < odd / 6 else time
    batch = sealed(
        body,
        count,
        base_offset=base_offset,
        attributes=attributes[0],
        last_delta=max(delta - 1, 0) if rng.random() >= odd / 4 else rng.choice(INTS),
        base_time=base_time,
        max_time=max_time,
        producer_id=rng.choice((-1, 0, 7, 1 << 40, -2)),
        producer_epoch=rng.choice((-1, 0, 0x7FFF)),
        sequence=sequence,
        epoch=rng.choice((0, 3, -1)),
        magic=2 if rng.random() >= odd / 10 else rng.choice((0, 1, 3, 127, -1)),
    )
    if rng.random() < odd / 6:
        batch = batch[:17] + rng.randbytes(4) + batch[21:]
    return batch, offset + delta


def _attributes(rng: Random, kind: Kind, odd: float) -> tuple[int, bool]:
    """Return the attributes of a batch, and whether its records are control records."""
    attributes = rng.choice((0, 0, 0, 1, 2, 3, 4))
    is_control = rng.random() < (0.1 if odd or kind.decoder else 0.05)
    for bit, chance in ((_APPEND, 0.15), (_TRANSACTIONAL, 0.15), (_HORIZON, 0.1)):
        attributes |= bit if rng.random() < chance else 0
    attributes |= _CONTROL if is_control else 0
    if rng.random() < odd / 8:
        attributes = rng.choice((5, 6, 7, 0x80, -1, -0x8000, attributes | 0x100))
    return attributes, is_control


def _records(rng: Random, kind: Kind, odd: float, *, is_control: bool) -> tuple[list[Raw], int]:
    """Return the records of a batch, and the offset delta that follows them."""
    total = rng.choices((0, 1, 2, 5, 20), (1, 8, 8, 8, 2))[0]
    delta, records = 0, []
    for _ in range(total):
        key, value = control_payload(rng, odd) if is_control else payload(rng, kind, odd)
        offset_delta, time_delta = delta, rng.randrange(3)
        if rng.random() < odd / 4:
            offset_delta = rng.choice((-1, delta - 2, *INTS))
        if rng.random() < odd / 4:
            time_delta = rng.choice(LONGS)
        headers, attributes = _headers(rng, odd), rng.choice((0, 0, 0, 255))
        records.append(Raw(offset_delta, time_delta, key, value, headers, attributes))
        delta += rng.choice((1, 1, 1, 1, 3))
    return records, delta


def _headers(rng: Random, odd: float) -> tuple[tuple[bytes, bytes | None], ...]:
    if rng.random() < 0.75:
        return ()
    total = rng.choice((1, 1, 2, 3, 130)) if rng.random() < 0.95 or not odd else 300
    return tuple(
        (text_bytes(rng), None if rng.random() < 0.2 else text_bytes(rng)) for _ in range(total)
    )
