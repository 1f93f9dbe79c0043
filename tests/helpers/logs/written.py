"""Bytes as Kafka and its clients write them, of what kraftops only reads.

Compressed batches, messages of magic 0 and 1, indexes and producer snapshots.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from struct import Struct
from typing import Any

from google_crc32c import value as crc32c

from kraftops.log import batch as uncompressed
from kraftops.log.batch import CODEC_MASK, CRC_START, HEADER_SIZE, LOG_OVERHEAD, Record
from kraftops.log.codecs import xxhash32, zstd_module
from kraftops.log.indexes import AbortedTxn, OffsetEntry, TimeEntry
from kraftops.log.producers import ProducerState

_XERIAL_MAGIC = b"\x82SNAPPY\0"
_XERIAL_BLOCK = 32 * 1024  # the default of `SnappyOutputStream`
_LZ4_MAGIC = b"\x04\x22\x4d\x18"


def batch_bytes(records: Iterable[Record], *, attributes: int = 0, **fields: int) -> bytes:
    """Return `kraftops.log.batch.batch_bytes`, compressed by the codec of *attributes*."""
    plain = uncompressed.batch_bytes(records, attributes=attributes, **fields)
    if not attributes & CODEC_MASK:
        return plain
    packed = compress(attributes & CODEC_MASK, plain[HEADER_SIZE:])
    checked = plain[CRC_START:HEADER_SIZE] + packed
    length = HEADER_SIZE - LOG_OVERHEAD + len(packed)
    crc: int = crc32c(checked)
    return plain[:8] + length.to_bytes(4) + plain[12:17] + crc.to_bytes(4) + checked


def compress(codec: int, data: bytes, magic: int = 2) -> bytes:
    """Return *data* as Kafka's producers frame it."""
    if codec == 3:
        return _to_lz4(data, magic)
    return {1: _to_gzip, 2: _to_snappy, 4: _to_zstd}[codec](data)


def _to_gzip(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=31)
    return stream.compress(data) + stream.flush()


def _to_snappy(data: bytes) -> bytes:
    from cramjam import snappy

    out = [_XERIAL_MAGIC, (1).to_bytes(4), (1).to_bytes(4)]
    for start in range(0, len(data), _XERIAL_BLOCK):
        block = bytes(snappy.compress_raw(data[start : start + _XERIAL_BLOCK]))
        out += [len(block).to_bytes(4), block]
    return b"".join(out)


def _to_lz4(data: bytes, magic: int) -> bytes:
    from cramjam import lz4

    header = b"\x60\x40"  # version 1, independent blocks of up to 64 KiB, no checksums
    hashed = header if magic > 0 else _LZ4_MAGIC + header
    out = [_LZ4_MAGIC, header, bytes([xxhash32(hashed) >> 8 & 0xFF])]
    for start in range(0, len(data), 1 << 16):
        block = data[start : start + (1 << 16)]
        packed = bytes(lz4.compress_block(block, store_size=False))
        stored = len(packed) >= len(block)
        out.append((len(block) | 1 << 31 if stored else len(packed)).to_bytes(4, "little"))
        out.append(block if stored else packed)
    return b"".join([*out, bytes(4)])


def _to_zstd(data: bytes) -> bytes:
    compressed: Any = zstd_module().compress(data)
    return bytes(compressed)


def message_bytes(record: Record, magic: int, attributes: int = 0) -> bytes:
    """Return a message of magic 0 or 1 with its offset and size before it."""
    body = Struct(">bb").pack(magic, attributes)
    if magic:
        body += record.timestamp.to_bytes(8, signed=True)
    for part in (record.key, record.value):
        body += (-1 if part is None else len(part)).to_bytes(4, signed=True) + (part or b"")
    message = zlib.crc32(body).to_bytes(4) + body
    return record.offset.to_bytes(8, signed=True) + len(message).to_bytes(4) + message


def wrapper_bytes(records: Sequence[Record], magic: int, codec: int) -> bytes:
    """Return a compressed set of messages, at least one, as a producer of this *magic* wrote it."""
    first = records[0].offset if magic else 0
    inner = b"".join(
        message_bytes(record._replace(offset=record.offset - first), magic) for record in records
    )
    wrapper = Record(
        records[-1].offset,
        max(record.timestamp for record in records),
        None,
        compress(codec, inner, magic),
    )
    return message_bytes(wrapper, magic, codec)


def offset_index_bytes(entries: Iterable[OffsetEntry], base_offset: int) -> bytes:
    """Return the content of an `.index` file."""
    pack = Struct(">ii").pack
    return b"".join(pack(entry.offset - base_offset, entry.position) for entry in entries)


def time_index_bytes(entries: Iterable[TimeEntry], base_offset: int) -> bytes:
    """Return the content of a `.timeindex` file."""
    pack = Struct(">qi").pack
    return b"".join(pack(entry.timestamp, entry.offset - base_offset) for entry in entries)


def txn_index_bytes(entries: Sequence[AbortedTxn]) -> bytes:
    """Return the content of a `.txnindex` file."""
    return b"".join(Struct(">hqqqq").pack(*entry) for entry in entries)


def producers_bytes(producers: Sequence[ProducerState]) -> bytes:
    """Return the content of a producer snapshot, version 1."""
    entries = b"".join(Struct(">qhiqiqiq").pack(*producer) for producer in producers)
    checked = len(producers).to_bytes(4) + entries
    crc: int = crc32c(checked)
    return (1).to_bytes(2) + crc.to_bytes(4) + checked
