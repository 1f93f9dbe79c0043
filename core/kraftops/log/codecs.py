"""The codecs of record batches: none, gzip, snappy, lz4, zstd.

Every decompression is bounded: output beyond the limit is refused before it is made.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from kraftops.errors import DecodeError, InflationError
from kraftops.log.xxhash import xxhash32

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
"""Names by the codec's number in a batch's attributes (Kafka's `CompressionType`)."""

MAX_INFLATED_BYTES = 256 * 1024 * 1024

_XERIAL_MAGIC = b"\x82SNAPPY\0"
_XERIAL_HEADER = 16  # the magic, a version and the oldest compatible version (int32 each)
_XERIAL_BLOCK = 32 * 1024
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LZ4_BLOCK_CHECKSUM, _LZ4_CONTENT_SIZE, _LZ4_CONTENT_CHECKSUM = 0x10, 0x08, 0x04
_LZ4_BLOCK_SIZES = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}


def decompress(codec: int, data: bytes, limit: int = MAX_INFLATED_BYTES, magic: int = 2) -> bytes:
    """Return the inflated bytes of a batch with this *magic*.

    Raises:
        DecodeError: the data is not of this codec, or damaged.
        InflationError: there is more than *limit* bytes of it.
    """
    if codec == 3:
        return _lz4(data, limit, check_header=magic > 0)
    return {1: _gzip, 2: _snappy, 4: _zstd}[codec](data, limit)


def compress(codec: int, data: bytes, magic: int = 2) -> bytes:
    """Return *data* as Kafka's producers frame it."""
    if codec == 3:
        return _to_lz4(data, magic)
    return {1: _to_gzip, 2: _to_snappy, 4: _to_zstd}[codec](data)


def _too_large(limit: int) -> InflationError:
    return InflationError(f"the batch inflates beyond {limit} bytes")


def _gzip(data: bytes, limit: int) -> bytes:
    import zlib

    out: list[bytes] = []
    left = limit
    while True:
        if len(data) > 3 and data[3] > 0x1F:  # reserved flags, which Java does not look at
            data = data[:3] + bytes([data[3] & 0x1F]) + data[4:]
        member = zlib.decompressobj(31)
        try:
            out.append(member.decompress(data, min(left + 1, sys.maxsize)))
        except zlib.error as error:
            raise DecodeError(f"gzip: {error}") from None
        left -= len(out[-1])
        if left < 0:
            raise _too_large(limit)
        if not member.eof:
            raise DecodeError("gzip: the stream is cut short")
        data = member.unused_data
        # Java too ignores what follows and is too short for a member or has no header of one.
        if len(data) <= 18 or not data.startswith(b"\x1f\x8b\x08"):
            return b"".join(out)


def _snappy(data: bytes, limit: int) -> bytes:
    from cramjam import DecompressionError, snappy

    def block(raw: bytes, left: int) -> bytes:
        try:
            if snappy.decompress_raw_len(raw) > left:
                raise _too_large(limit)
            return bytes(snappy.decompress_raw(raw))
        except DecompressionError as error:
            raise DecodeError(f"snappy: {error}") from None

    if not data.startswith(_XERIAL_MAGIC) or len(data) < _XERIAL_HEADER:
        return block(data, limit)
    out: list[bytes] = []
    pos, left = _XERIAL_HEADER, limit
    while pos + 4 <= len(data):  # snappy-java too ignores fewer bytes than a length has
        if data.startswith(_XERIAL_MAGIC, pos):  # a stream appended to another
            version = int.from_bytes(data[pos + 8 : pos + 12], signed=True)
            if version < 1:
                raise DecodeError(f"snappy: a stream of version {version}")
            pos += _XERIAL_HEADER
            continue
        size = int.from_bytes(data[pos : pos + 4], signed=True)
        pos += 4
        if size < 0 or size > len(data) - pos:
            raise DecodeError(f"snappy: a block of {size} bytes where {len(data) - pos} are left")
        out.append(block(data[pos : pos + size], left))
        left -= len(out[-1])
        pos += size
    return b"".join(out)


def _lz4(data: bytes, limit: int, *, check_header: bool) -> bytes:
    if not data.startswith(_LZ4_MAGIC) or len(data) < 7:
        raise DecodeError("lz4: no frame")
    flags, descriptor = data[4], data[5]
    block_size = _LZ4_BLOCK_SIZES.get(descriptor >> 4 & 7)
    if flags >> 6 != 1 or not flags & 0x20 or flags & 3 or block_size is None or descriptor & 0x8F:
        raise DecodeError("lz4: a frame of a kind that Kafka does not read")
    pos = 14 if flags & _LZ4_CONTENT_SIZE else 6
    # Producers of magic 0 hashed the wrong bytes, so Kafka does not check theirs.
    if check_header and data[pos : pos + 1] != bytes([xxhash32(data[4:pos]) >> 8 & 0xFF]):
        raise DecodeError("lz4: the checksum of the frame header is wrong")
    return _lz4_blocks(data, pos + 1, flags, block_size, limit)


def _lz4_blocks(data: bytes, pos: int, flags: int, block_size: int, limit: int) -> bytes:
    from cramjam import DecompressionError, lz4

    out: list[bytes] = []
    room = memoryview(bytearray(block_size))
    left = limit
    while True:
        word, pos = _lz4_word(data, pos)
        is_stored, size = word >> 31, word & 0x7FFFFFFF
        if not size:
            if flags & _LZ4_CONTENT_CHECKSUM:
                _lz4_word(data, pos)
            return b"".join(out)
        if size > block_size or size > len(data) - pos:
            raise DecodeError(f"lz4: a block of {size} bytes where {len(data) - pos} are left")
        block = data[pos : pos + size]
        pos += size
        if flags & _LZ4_BLOCK_CHECKSUM:
            checksum, pos = _lz4_word(data, pos)
            if checksum != xxhash32(block):
                raise DecodeError("lz4: the checksum of a block is wrong")
        if not is_stored:
            try:
                block = bytes(room[: lz4.decompress_block_into(block, room, output_len=block_size)])
            except DecompressionError as error:
                raise DecodeError(f"lz4: {error}") from None
        out.append(block)
        left -= len(block)
        if left < 0:
            raise _too_large(limit)


def _lz4_word(data: bytes, pos: int) -> tuple[int, int]:
    if len(data) - pos < 4:
        raise DecodeError("lz4: the stream is cut short")
    return int.from_bytes(data[pos : pos + 4], "little"), pos + 4


@cache
def _zstd_module() -> Any:
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        from backports import zstd
    return zstd


def _zstd(data: bytes, limit: int) -> bytes:
    zstd = _zstd_module()
    out: list[bytes] = []
    left = limit
    while True:
        frame = zstd.ZstdDecompressor()
        try:
            out.append(frame.decompress(data, min(left + 1, sys.maxsize)))
        except zstd.ZstdError as error:
            raise DecodeError(f"zstd: {error}") from None
        left -= len(out[-1])
        if left < 0:
            raise _too_large(limit)
        if not frame.eof:
            if len(out) > 1 and not out[-1]:  # zstd-jni too ignores a frame that is cut so early
                return b"".join(out)
            raise DecodeError("zstd: the stream is cut short")
        data = frame.unused_data
        if not data:
            return b"".join(out)


def _to_gzip(data: bytes) -> bytes:
    import zlib

    stream = zlib.compressobj(wbits=31)
    return stream.compress(data) + stream.flush()


def _to_snappy(data: bytes) -> bytes:
    from cramjam import snappy

    out = [_XERIAL_MAGIC, (1).to_bytes(4), (1).to_bytes(4)]
    for at in range(0, len(data), _XERIAL_BLOCK):
        block = bytes(snappy.compress_raw(data[at : at + _XERIAL_BLOCK]))
        out += [len(block).to_bytes(4), block]
    return b"".join(out)


def _to_lz4(data: bytes, magic: int) -> bytes:
    from cramjam import lz4

    header = b"\x60\x40"  # version 1, independent blocks of up to 64 KiB, no checksums
    hashed = header if magic > 0 else _LZ4_MAGIC + header
    out = [_LZ4_MAGIC, header, bytes([xxhash32(hashed) >> 8 & 0xFF])]
    for at in range(0, len(data), 1 << 16):
        block = data[at : at + (1 << 16)]
        packed = bytes(lz4.compress_block(block, store_size=False))
        stored = len(packed) >= len(block)
        out.append((len(block) | 1 << 31 if stored else len(packed)).to_bytes(4, "little"))
        out.append(block if stored else packed)
    return b"".join([*out, bytes(4)])


def _to_zstd(data: bytes) -> bytes:
    compressed: bytes = _zstd_module().compress(data)
    return compressed
