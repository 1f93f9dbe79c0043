"""Small changes of bytes and batches, with or without corrected checksums."""

import struct
import zlib
from functools import cache
from random import Random

from google_crc32c import value as crc32c

from kraftops.errors import DecodeError
from kraftops.log import batch as v2
from kraftops.log.batch import CODEC_MASK, CRC_START, HEADER_SIZE, LOG_OVERHEAD, Batch
from kraftops.log.log_file import LogFile
from kraftops.memory import USUAL
from tests.helpers.logs.written import batch_bytes, compress
from tests.helpers.tools.corpus import DUMPS

LONGS = (0, 1, -1, -2, 1 << 31, -(1 << 31), 1 << 62, -(1 << 62), (1 << 63) - 1, -(1 << 63))
INTS = (0, 1, 2, 3, 100, -1, -2, 2147483640, (1 << 31) - 1, -(1 << 31))
_LENGTHS = (-1, 0, 13, 14, 15, 16, 17, 21, 26, 30, 40, 47, 48, 49, 50, 60, 61, (1 << 31) - 1)
_COUNTS = (0, 1, 2, 3, 1000, -1)  # none that makes Kafka reserve memory for it
_VARINTS = (
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\x7f",
    b"\x80\x80\x80\x80\x08",
    b"\x80\x80\x80\x80\x00",
    b"\xfe\xff\xff\xff\x0f",
    b"\x80\x80\x02",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
)


def _bytes(rng: Random, batches: list[bytes]) -> None:
    at = rng.randrange(len(batches))
    batches[at] = mutated(rng, batches[at])


def _behind_crc(rng: Random, batches: list[bytes]) -> None:
    at = rng.randrange(len(batches))
    if len(batches[at]) > HEADER_SIZE:
        body = mutated(rng, batches[at][HEADER_SIZE:])
        batches[at] = with_crc(batches[at][:HEADER_SIZE] + body)


def _fields(rng: Random, batches: list[bytes]) -> None:
    at = rng.randrange(len(batches))
    raw = bytearray(batches[at])
    if len(raw) < HEADER_SIZE:
        return
    for _ in range(rng.randint(1, 2)):
        start, code, values = rng.choice(
            (
                (0, ">q", LONGS),
                (12, ">i", INTS),
                (16, ">b", (0, 1, 2, 3, 127, -128, -1)),
                (21, ">h", (*range(13), 16, 32, 48, 64, 80, 96, 128, -(1 << 15))),
                (23, ">i", INTS),
                (27, ">q", LONGS),
                (35, ">q", LONGS),
                (43, ">q", LONGS),
                (51, ">h", (0, 1, -1, 0x7FFF)),
                (53, ">i", INTS),
                (57, ">i", _COUNTS),
            )
        )
        struct.pack_into(code, raw, start, rng.choice(values))
    batches[at] = with_crc(bytes(raw)) if rng.random() < 0.7 else bytes(raw)
    if rng.random() < 0.2:
        size = rng.choice([*_LENGTHS, len(raw) - LOG_OVERHEAD - rng.choice([-1, 1, 9])])
        batches[at] = batches[at][:8] + struct.pack(">i", size) + batches[at][12:]


def _records(rng: Random, batches: list[bytes]) -> None:
    """Change what is compressed, and perhaps the codec."""
    at = rng.randrange(len(batches))
    raw = batches[at]
    batch = Batch(0, len(raw), raw)
    if len(raw) <= HEADER_SIZE or batch.is_legacy:
        return
    try:
        buffer, pos = v2.inflated(batch, batch.header, USUAL.meter())
    except DecodeError:
        return
    codec = rng.randrange(5)
    body = mutated(rng, buffer[pos:])
    if codec:
        body = compress(codec, body)
    attributes = raw[22] & ~CODEC_MASK | codec
    batches[at] = with_crc(raw[:22] + bytes([attributes]) + raw[23:HEADER_SIZE] + body)


def _values(rng: Random, batches: list[bytes]) -> None:
    """Change keys and values, within records that are whole."""
    at = rng.randrange(len(batches))
    raw = batches[at]
    batch = Batch(0, len(raw), raw)
    if len(raw) <= HEADER_SIZE or batch.is_legacy:
        return
    try:
        records = list(v2.records(batch))
    except DecodeError:
        return
    if not records:
        return
    for _ in range(rng.randint(1, 3)):
        number, is_key = rng.randrange(len(records)), rng.random() < 0.25
        record = records[number]
        was = record.key if is_key else record.value
        is_null = rng.random() < 0.05
        now = None if was is None or is_null else mutated(rng, was)
        records[number] = record._replace(key=now) if is_key else record._replace(value=now)
    head = batch.header
    batches[at] = batch_bytes(records, attributes=head.attributes, producer_id=head.producer_id)


def _splice(rng: Random, batches: list[bytes]) -> None:
    _, others = rng.choice(sources())
    batches.insert(rng.randint(0, len(batches)), rng.choice(others))
    if rng.random() < 0.3:
        batches.append(batches[0])


def _tail(rng: Random, batches: list[bytes]) -> None:
    size = rng.choice([1, 11, 12, 13, 14, 16, 17, 18, 19, 26, 30, 48, 60, 61, 62, 100, 4096])
    magic = bytes([rng.choice([0, 1, 2, 3, 255])])
    head = struct.pack(">qi", 5, size - LOG_OVERHEAD) + bytes(4) + magic
    tails = (bytes(size), rng.randbytes(size), (head + rng.randbytes(size))[:size])
    batches.append(rng.choice(tails))
    if rng.random() < 0.2:
        batches.append(batches[0])


def _cut(rng: Random, batches: list[bytes]) -> None:
    data = b"".join(batches)
    batches[:] = [data[: rng.randint(0, len(data))]]


def with_crc(raw: bytes) -> bytes:
    """Return a batch with a correct length and checksum."""
    if len(raw) <= CRC_START:
        return raw
    raw = raw[:8] + struct.pack(">i", len(raw) - LOG_OVERHEAD) + raw[12:]
    if raw[16] in (0, 1):
        return raw[:12] + struct.pack(">I", zlib.crc32(raw[16:])) + raw[16:]
    return raw[:17] + struct.pack(">I", crc32c(raw[CRC_START:])) + raw[CRC_START:]


def mutated(rng: Random, raw: bytes) -> bytes:
    """Return bytes with one to three small changes."""
    out = bytearray(raw)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randint(0, max(len(out) - 1, 0))
        width = rng.choice([2, 4, 8])
        odd = (b"\xff" * width, bytes(width), bytes(width - 1) + b"\1", *_VARINTS)
        start, end, new = rng.choice(
            (
                (at, at + 1, rng.randbytes(1)),
                (at, at + 1, bytes([out[at] ^ 1 << rng.randrange(8)]) if out else b""),
                (at, at + 1, rng.choice([b"\0", b"\1", b"\2", b"\x7f", b"\x80", b"\xff"])),
                (at, len(out), b""),
                (at, at + rng.randint(1, 8), b""),
                (at, at, rng.randbytes(rng.randint(1, 6))),
                (at, at, bytes(out[at : at + rng.randint(1, 16)])),
                (at, at + width, rng.choice(odd)),
                (len(out), len(out), rng.randbytes(rng.randint(1, 5))),
            )
        )
        out[start:end] = new
    return bytes(out)


CHANGES = (_bytes, _behind_crc, _fields, _records, _values, _splice, _tail, _cut)
"""Functions that change a list of batches in place."""


@cache
def sources() -> list[tuple[str, tuple[bytes, ...]]]:
    """Return the path of each segment and snapshot of the corpus, and its batches."""
    found = []
    root = DUMPS / "in"
    for path in sorted([*root.rglob("*.log"), *root.rglob("*.checkpoint")]):
        if not path.is_file() or path.parent.name == "names":
            continue
        with LogFile(str(path)) as log:
            walk = log.batches()
            batches = [batch.data for batch in walk]
        assert walk.end
        if walk.end.left:
            batches.append(path.read_bytes()[walk.end.position :])
        if batches:
            found.append((str(path.relative_to(root)), tuple(batches)))
    return found
