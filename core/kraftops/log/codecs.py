"""Codecs of record batches: none, gzip, snappy, lz4, zstd.

Every decompression is bounded: output beyond the limit is refused before it is made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from io import BytesIO
from struct import Struct, iter_unpack
from typing import Any

from kraftops.errors import BatchLimitError, DecodeError
from kraftops.memory import LEAST, MOST_RATIO, Meter

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
"""Names by the codec's number in a batch's attributes (Kafka's `CompressionType`)."""

_FED, _PIECE = 1 << 16, 1 << 20  # bytes that go in and come out at a time
_LARGE, _MAPPED = 2 << 20, 33 << 20
"""Output beyond the first moves to room of the second.

glibc maps blocks beyond 32 MiB (`DEFAULT_MMAP_THRESHOLD_MAX`): what is not written takes no memory,
and they grow without a copy. Smaller ones leave as much on the heap again while they grow.
"""

_XERIAL_MAGIC = b"\x82SNAPPY\0"
_XERIAL_HEADER = 16  # the magic, a version and the oldest compatible version (int32 each)
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LZ4_BLOCK_CHECKSUM, _LZ4_CONTENT_SIZE, _LZ4_CONTENT_CHECKSUM = 0x10, 0x08, 0x04
_LZ4_WORD = Struct("<I").unpack_from
_ZSTD_SKIPPED = b"\x2a\x4d\x18"  # ends the magic of a skippable frame, after 0x50 to 0x5f
_LZ4_BLOCK_SIZES = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}


def decompress(
    codec: int,
    data: bytes,
    meter: Meter,
    magic: int = 2,
    *,
    is_first_try: bool = False,
) -> bytes:
    """Return the inflated bytes of a batch with this *magic*, of the source that *meter* counts.

    *is_first_try* says that another call may follow for the same batch.

    Raises:
        DecodeError: the data is not of this codec, or damaged.
        BatchLimitError: there is more of it than a batch may have, or than its source has left.
    """
    if not is_first_try:
        meter.refund(data)
    out = _Inflated(meter, meter.limit(len(data)))
    try:
        return _decompressed(codec, data, out, magic)
    except BatchLimitError:
        out.left = 0
        if out.limit == meter.budget.batch:
            raise
        meter.is_spent = True
        raise BatchLimitError(
            f"the batches up to here inflate to more than {MOST_RATIO} times their size and"
            f" {meter.budget.memory} bytes: no more are read; --max-memory allows more"
        ) from None
    finally:
        meter.charge(data, out.limit - out.left, is_first_try=is_first_try)


def _decompressed(codec: int, data: bytes, out: _Inflated, magic: int) -> bytes:
    if codec == 3:
        return _lz4(data, out, check_header=magic > 0)
    return {1: _gzip, 2: _snappy, 4: _zstd}[codec](data, out)


class _Inflated:
    """Output so far, up to a limit; output beyond it is never held."""

    def __init__(self, meter: Meter, limit: int) -> None:
        self.limit = limit
        self._out, self._is_mapped = BytesIO(), False
        self.left = limit
        self._least = limit - meter.free  # what is left when this thread needs its turn
        self._await_turn = meter.await_turn
        self._is_least = meter.budget is LEAST  # whatever the run may take

    @property
    def room(self) -> int:
        """The most bytes of the next piece; one more than allowed, to notice too many."""
        return min(self.left + 1, _PIECE)

    def check(self, size: int) -> None:
        """Refuse *size* bytes more.

        Raises:
            BatchLimitError: they are too many.
        """
        if size > self.left:
            remedy = "" if self._is_least else ", a quarter of --max-memory"
            raise BatchLimitError(f"the batch inflates beyond {self.limit} bytes{remedy}")
        if self.left - size < self._least:
            self._await_turn()

    def add(self, piece: bytes | memoryview) -> None:
        """Add a piece of output.

        Raises:
            BatchLimitError: it is too much.
        """
        self.check(len(piece))
        self.left -= self._out.write(piece)
        if not self._is_mapped and self._out.tell() > _LARGE:
            self._is_mapped, small = True, self._out
            self._out = BytesIO(bytes(_MAPPED))
            self._out.write(small.getbuffer())

    def whole(self) -> bytes:
        self._out.truncate()
        return self._out.getvalue()


def _gzip(data: bytes, out: _Inflated) -> bytes:
    import zlib

    pos = 0
    while True:
        member = zlib.decompressobj(31)
        fed = data[pos : pos + _FED]
        pos += len(fed)
        if len(fed) > 3 and fed[3] > 0x1F:  # reserved flags, which Java ignores
            fed = fed[:3] + bytes([fed[3] & 0x1F]) + fed[4:]
        while True:
            try:
                piece = member.decompress(fed, out.room)
            except zlib.error as error:
                raise DecodeError(f"gzip: {error}") from None
            out.add(piece)
            if member.eof:
                break
            fed = member.unconsumed_tail
            if not fed:
                fed = data[pos : pos + _FED]
                pos += len(fed)
                if not fed and not piece:
                    raise DecodeError("gzip: the stream is cut short")
        pos -= len(member.unused_data)
        # Java too ignores bytes after it that are too short for a member or have no header.
        if len(data) - pos <= 18 or not data.startswith(b"\x1f\x8b\x08", pos):
            return out.whole()


def _snappy(data: bytes, out: _Inflated) -> bytes:
    from cramjam import DecompressionError, snappy

    try:
        blocks: Sequence[bytes | memoryview] = [data]
        if data.startswith(_XERIAL_MAGIC) and len(data) >= _XERIAL_HEADER:
            blocks = _xerial_blocks(data)
        sizes = [snappy.decompress_raw_len(block) for block in blocks]
        out.check(sum(sizes))
        out.left -= sum(sizes)
        whole = BytesIO(bytes(sum(sizes)))
        with whole.getbuffer() as room:
            start = 0
            for block, size in zip(blocks, sizes, strict=True):
                snappy.decompress_raw_into(block, room[start:])
                start += size
    except DecompressionError as error:
        raise DecodeError(f"snappy: {error}") from None
    return whole.getvalue()


def _xerial_blocks(data: bytes) -> list[memoryview]:
    """Return the length-prefixed blocks of snappy-java's stream format, which Kafka writes."""
    view, blocks, pos = memoryview(data), [], _XERIAL_HEADER
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
        blocks.append(view[pos : pos + size])
        pos += size
    return blocks


def _lz4(data: bytes, out: _Inflated, *, check_header: bool) -> bytes:
    if not data.startswith(_LZ4_MAGIC) or len(data) < 7:
        raise DecodeError("lz4: no frame")
    flags, descriptor = data[4], data[5]
    block_size = _LZ4_BLOCK_SIZES.get(descriptor >> 4 & 7)
    if flags >> 6 != 1 or not flags & 0x20 or flags & 3 or block_size is None or descriptor & 0x8F:
        raise DecodeError("lz4: a frame of a kind that Kafka does not read")
    pos = 14 if flags & _LZ4_CONTENT_SIZE else 6
    # Producers of magic 0 hashed the wrong bytes, so Kafka does not check theirs.
    if check_header and data[pos : pos + 1] != _lz4_header_checksum(data[4:pos]):
        raise DecodeError("lz4: the checksum of the frame header is wrong")
    return _lz4_blocks(data, pos + 1, flags, block_size, out)


@lru_cache(maxsize=64)
def _lz4_header_checksum(header: bytes) -> bytes:
    return bytes([xxhash32(header) >> 8 & 0xFF])


class _Room(threading.local):
    """Where a thread inflates blocks: to make room for each takes as long as a small block."""

    bytes = memoryview(bytearray())

    def of(self, size: int) -> memoryview:
        if len(self.bytes) != size:
            self.bytes = memoryview(bytearray(size))
        return self.bytes


_ROOM = _Room()


def _lz4_blocks(data: bytes, pos: int, flags: int, block_size: int, out: _Inflated) -> bytes:
    room = _ROOM.of(block_size)
    inflate, failure = _lz4_functions()
    while True:
        word, pos = _lz4_word(data, pos)
        is_stored, size = word >> 31, word & 0x7FFFFFFF
        if not size:
            if flags & _LZ4_CONTENT_CHECKSUM:
                _lz4_word(data, pos)
            return out.whole()
        if size > block_size or size > len(data) - pos:
            raise DecodeError(f"lz4: a block of {size} bytes where {len(data) - pos} are left")
        block = data[pos : pos + size]
        pos += size
        if flags & _LZ4_BLOCK_CHECKSUM:
            checksum, pos = _lz4_word(data, pos)
            if checksum != xxhash32(block):
                raise DecodeError("lz4: the checksum of a block is wrong")
        if is_stored:
            out.add(block)
            continue
        try:
            filled = inflate(block, room, output_len=block_size)
        except failure as error:
            raise DecodeError(f"lz4: {error}") from None
        out.add(room[:filled])


@cache  # an import takes as long as a small block
def _lz4_functions() -> tuple[Callable[..., int], type[Exception]]:
    from cramjam import DecompressionError, lz4

    return lz4.decompress_block_into, DecompressionError


def _lz4_word(data: bytes, pos: int) -> tuple[int, int]:
    if len(data) - pos < 4:
        raise DecodeError("lz4: the stream is cut short")
    (word,) = _LZ4_WORD(data, pos)
    return word, pos + 4


@cache
def zstd_module() -> Any:
    """Return the module of Zstandard, of the standard library where it has one."""
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        from backports import zstd
    return zstd


def _zstd(data: bytes, out: _Inflated) -> bytes:
    zstd = zstd_module()
    # The window is held beside the output: all must read 8 MiB (RFC 8878), Kafka reads up to
    # 128 MiB.
    window_log = min(max((out.limit // 2).bit_length() - 1, 23), 27)
    options = {zstd.DecompressionParameter.window_log_max: window_log}
    stored, start, empty_frame = memoryview(data), 0, b""
    while not start or start < len(data):
        # A decompressor copies all input after its frame: it is given no more than the frame.
        try:
            end = start + zstd.get_frame_size(stored[start:])
        except zstd.ZstdError:  # cut short or damaged: the last frame
            end = max(len(data), 1)
        # A decompressor takes 12 µs or more: not for a frame that is to be skipped (RFC 8878,
        # 3.1.2), nor for the same empty frame again.
        is_skippable = data.startswith(_ZSTD_SKIPPED, start + 1) and data[start] >> 4 == 5
        is_known = end - start == len(empty_frame) and data.startswith(empty_frame, start)
        if not start or not (is_skippable or is_known):
            frame, before = zstd.ZstdDecompressor(options=options), out.left
            _add_zstd_frame(out, frame, stored[start:end], is_first=not start)
            if out.left == before:
                empty_frame = data[start:end]
        start = end
    return out.whole()


def _add_zstd_frame(out: _Inflated, frame: Any, stored: memoryview, *, is_first: bool) -> None:
    before = out.left
    while not frame.eof:
        fed = _FED if frame.needs_input else 0  # it copies what it cannot use yet
        try:
            out.add(frame.decompress(stored[:fed], out.room))
        except zstd_module().ZstdError as error:
            if "too much memory" in str(error):  # of a window, by the text of libzstd
                raise BatchLimitError("zstd: a window too large for --max-memory") from None
            raise DecodeError(f"zstd: {error}") from None
        stored = stored[fed:]
        if frame.needs_input and not (frame.eof or stored):
            if out.left == before and not is_first:
                return  # zstd-jni too ignores a frame that is cut so early
            raise DecodeError("zstd: the stream is cut short")


_PRIME1, _PRIME2, _PRIME3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_PRIME4, _PRIME5 = 0x27D4EB2F, 0x165667B1
_MASK = 0xFFFFFFFF


def xxhash32(data: bytes) -> int:
    """Return the xxHash32 of *data*, with seed 0."""
    stripes = len(data) // 16 * 16
    acc = _stripes(data[:stripes]) if stripes else _PRIME5
    acc = acc + len(data) & _MASK
    words = len(data) // 4 * 4
    for (word,) in iter_unpack("<I", data[stripes:words]):
        acc = _rotate(acc + word * _PRIME3 & _MASK, 17) * _PRIME4 & _MASK
    for byte in data[words:]:
        acc = _rotate(acc + byte * _PRIME5 & _MASK, 11) * _PRIME1 & _MASK
    acc = (acc ^ acc >> 15) * _PRIME2 & _MASK
    acc = (acc ^ acc >> 13) * _PRIME3 & _MASK
    return acc ^ acc >> 16


def _stripes(data: bytes) -> int:
    lanes = [_PRIME1 + _PRIME2 & _MASK, _PRIME2, 0, -_PRIME1 & _MASK]
    for words in iter_unpack("<4I", data):
        lanes = [
            _rotate(lane + word * _PRIME2 & _MASK, 13) * _PRIME1 & _MASK
            for lane, word in zip(lanes, words, strict=True)
        ]
    return sum(map(_rotate, lanes, (1, 7, 12, 18))) & _MASK


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _MASK
