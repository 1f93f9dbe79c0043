"""The codecs of record batches."""

import gzip
import random
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import BatchLimitError, DecodeError
from kraftops.log import codecs
from kraftops.log.codecs import CODECS, xxhash32, zstd_module
from kraftops.memory import DEFAULT, Budget
from tests.helpers.logs.written import compress

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
each_codec = pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD], ids=CODECS[1:])
TEXT = b"the quick brown fox jumps over the lazy dog. " * 5_000  # more than a block of any codec
NOISE = random.Random(1).randbytes(150_000)  # which no codec makes smaller


def decompress(codec: int, packed: bytes, limit: int = DEFAULT // 4, magic: int = 2) -> bytes:
    """Return what a batch inflates to, the only one of its source."""
    return codecs.decompress(codec, packed, Budget(4 * limit).meter(), magic)


@each_codec
@given(data=st.binary(max_size=300))
def test_bytes_come_back(codec: int, data: bytes) -> None:
    assert decompress(codec, compress(codec, data)) == data


@each_codec
@pytest.mark.parametrize("data", [b"", TEXT, NOISE], ids=["empty", "text", "noise"])
def test_bytes_of_many_blocks_come_back(codec: int, data: bytes) -> None:
    packed = compress(codec, data)

    assert decompress(codec, packed) == data
    assert data != TEXT or len(packed) < len(TEXT) / 10


@each_codec
def test_output_may_be_as_large_as_the_limit(codec: int) -> None:
    packed = compress(codec, TEXT)

    assert decompress(codec, packed, limit=len(TEXT)) == TEXT
    with pytest.raises(BatchLimitError, match=f"beyond {len(TEXT) - 1} bytes"):
        decompress(codec, packed, limit=len(TEXT) - 1)
    with pytest.raises(BatchLimitError):
        decompress(codec, packed, limit=0)


@each_codec
def test_output_beyond_the_limit_is_refused_before_it_is_made(codec: int) -> None:
    """64 MiB of zeros, of which no more than the limit and a bit is ever held."""
    packed = compress(codec, bytes(64 << 20))
    limit = 1 << 20

    tracemalloc.start()
    try:
        with pytest.raises(BatchLimitError):
            decompress(codec, packed, limit)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 8 * limit + len(packed)


@each_codec
def test_output_is_in_memory_once(codec: int) -> None:
    data = bytes(32 << 20)
    packed = compress(codec, data)

    tracemalloc.start()
    try:
        assert len(decompress(codec, packed)) == len(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 1.5 * len(data)


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, ZSTD], ids=["gzip", "snappy", "zstd"])
@pytest.mark.parametrize(
    "parts", [(b"one, ", b"", b"two"), (NOISE, TEXT, NOISE[:70_000], b"")], ids=["short", "long"]
)
def test_streams_behind_each_other_are_one(codec: int, parts: tuple[bytes, ...]) -> None:
    packed = b"".join(compress(codec, part) for part in parts)
    whole = b"".join(parts)

    assert decompress(codec, packed) == whole
    assert decompress(codec, packed, limit=len(whole)) == whole
    with pytest.raises(BatchLimitError):
        decompress(codec, packed, limit=len(whole) - 1)


def test_limit_holds_for_all_gzip_members_together() -> None:
    members = compress(GZIP, bytes(1000)) * 50

    assert len(decompress(GZIP, members, limit=50_000)) == 50_000
    with pytest.raises(BatchLimitError):
        decompress(GZIP, members, limit=49_999)


def test_bytes_behind_a_gzip_member_are_ignored() -> None:
    """Java ignores them too."""
    assert decompress(GZIP, gzip.compress(b"data") + b"garbage") == b"data"


@each_codec
@pytest.mark.parametrize("data", [b"0123456789" * 3, TEXT], ids=["short", "long"])
def test_stream_cut_short_is_noticed(codec: int, data: bytes) -> None:
    """Except, with snappy, before a block or in its length, where Java too takes it for the end."""
    packed = compress(codec, data)
    ends = set(range(8, 16))  # see below
    pos = 16
    while codec == SNAPPY and pos < len(packed):
        ends |= {pos, pos + 1, pos + 2, pos + 3}
        pos += 4 + int.from_bytes(packed[pos : pos + 4])
    step = max(1, len(packed) // 500)
    cuts = {*range(0, len(packed), step), *range(min(30, len(packed)))}
    for cut in sorted(cuts - ends if codec == SNAPPY else cuts):
        with pytest.raises(DecodeError):
            decompress(codec, packed[:cut])


@each_codec
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\0", id="a zero"),
        pytest.param(b"\xff" * 100, id="ones"),
        pytest.param(NOISE[:100], id="noise"),
        pytest.param(b"plain text, not compressed at all", id="text"),
    ],
)
def test_garbage_is_noticed(codec: int, data: bytes) -> None:
    if codec == SNAPPY and data == b"\0":
        assert decompress(codec, data) == b""  # a whole block of nothing
        return
    with pytest.raises(DecodeError):
        decompress(codec, data)


@each_codec
@given(data=st.binary(max_size=60), flips=st.lists(st.integers(0, 1 << 16), min_size=1, max_size=4))
def test_damage_raises_no_other_error(codec: int, data: bytes, flips: list[int]) -> None:
    packed = bytearray(compress(codec, data * 3))
    for flip in flips:
        packed[flip // 8 % len(packed)] ^= 1 << flip % 8
    try:
        decompress(codec, bytes(packed), limit=100_000)
    except DecodeError:
        return


# zstd


SMALL = Budget(4 << 20)


def test_batches_of_a_source_inflate_to_the_budget_beyond_their_ratio() -> None:
    zeros, meter = compress(ZSTD, bytes(1 << 20)), SMALL.meter()

    for _ in range(4):
        codecs.decompress(ZSTD, zeros, meter)
    assert not meter.is_spent
    with pytest.raises(BatchLimitError, match="1100 times their size and 4194304 bytes"):
        codecs.decompress(ZSTD, zeros, meter)

    assert meter.is_spent
    assert codecs.decompress(ZSTD, zeros, SMALL.meter()) == bytes(1 << 20)


def test_batch_that_is_left_to_the_reference_counts_once() -> None:
    """Its first inflation, by the compiled engine, is taken back; that of an equal batch is not."""
    zeros, meter = compress(ZSTD, bytes(1 << 20)), SMALL.meter()

    for _ in range(4):
        codecs.decompress(ZSTD, zeros, meter, is_first_try=True)
        codecs.decompress(ZSTD, zeros, meter)
    for is_first_try in (True, False):
        with pytest.raises(BatchLimitError, match="up to here"):
            codecs.decompress(ZSTD, zeros, meter, is_first_try=is_first_try)


def test_damaged_batch_counts_with_what_it_inflated_to() -> None:
    """Else a file of such batches would keep a command busy for hours."""
    damaged = compress(ZSTD, bytes(900_000)) + compress(ZSTD, TEXT)[:-9]
    meter = SMALL.meter()

    for _ in range(4):
        with pytest.raises(DecodeError, match="cut short"):
            codecs.decompress(ZSTD, damaged, meter)
    with pytest.raises(BatchLimitError, match="up to here"):
        codecs.decompress(ZSTD, damaged, meter)


@pytest.mark.parametrize("codec", [1, 2, 3])
def test_codecs_that_cannot_inflate_further_are_not_refused(codec: int) -> None:
    zeros, meter = compress(codec, bytes(1 << 20)), SMALL.meter()

    for _ in range(9):
        codecs.decompress(codec, zeros, meter)


def windowed(data: bytes, window_log: int) -> bytes:
    """Return a frame that does not tell its size, and asks for a window of 2***window_log* bytes."""
    zstd = zstd_module()
    frame = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: window_log})
    packed: bytes = frame.compress(data) + frame.flush()
    return packed


def test_zstd_window_is_at_most_half_of_the_limit() -> None:
    """The window is held beside the output. A limit of less than 16 MiB does not apply to it."""
    for window_log, limit in ((27, 256 << 20), (25, 64 << 20), (23, 16 << 20), (23, 1000)):
        assert decompress(ZSTD, windowed(b"data", window_log), limit) == b"data"
        with pytest.raises(BatchLimitError, match="window too large"):
            decompress(ZSTD, windowed(b"data", window_log + 1), limit)


class CountedZstd:
    """The module of Zstandard; counts decompressors, and the bytes that they are given."""

    def __init__(self) -> None:
        self.decompressors = self.stored = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(zstd_module(), name)

    def ZstdDecompressor(self, **options: Any) -> Any:  # noqa: N802 - its name in Zstandard
        counted, inner = self, zstd_module().ZstdDecompressor(**options)
        self.decompressors += 1

        class Frame:
            def __getattr__(self, name: str) -> Any:
                return getattr(inner, name)

            def decompress(self, stored: bytes, most: int) -> bytes:
                counted.stored += len(stored)
                inflated: bytes = inner.decompress(stored, most)
                return inflated

        return Frame()


SKIPPABLE_FRAME = b"\x50\x2a\x4d\x18" + bytes(4)


@pytest.mark.parametrize(
    ("frame", "decompressors"),
    [(SKIPPABLE_FRAME, 2), (compress(ZSTD, b""), 2), (compress(ZSTD, b"x"), 3_001)],
    ids=["skippable", "empty", "short"],
)
def test_many_zstd_frames_are_given_once_each(
    frame: bytes, decompressors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decompressor copies what follows its frame: quadratic, if it is given the whole batch."""
    counted = CountedZstd()
    monkeypatch.setattr(codecs, "zstd_module", lambda: counted)
    packed = frame * 3_000 + compress(ZSTD, b"data")

    assert decompress(ZSTD, packed).strip(b"x") == b"data"
    assert counted.decompressors == decompressors
    assert counted.stored <= len(packed)


@pytest.mark.parametrize("cut", range(len(SKIPPABLE_FRAME)))
def test_skippable_zstd_frame_cut_short_is_noticed_only_as_the_first(cut: int) -> None:
    with pytest.raises(DecodeError, match="cut short"):
        decompress(ZSTD, SKIPPABLE_FRAME[:cut])

    assert decompress(ZSTD, compress(ZSTD, b"data") + SKIPPABLE_FRAME[:cut]) == b"data"


# Snappy


def raw_snappy(data: bytes) -> bytes:
    """Return one block without compression: its length, a literal of up to 60 bytes."""
    return bytes([len(data), (len(data) - 1) << 2]) + data


XERIAL = b"\x82SNAPPY\0" + b"\0\0\0\1" * 2


@pytest.mark.parametrize("cut", range(1, 16))
def test_snappy_frame_header_cut_short_is_noticed(cut: int) -> None:
    """To snappy-java it is no frame then, but a block, which it is not either."""
    with pytest.raises(DecodeError):
        decompress(SNAPPY, compress(SNAPPY, b"data")[:cut])


def test_snappy_without_a_frame_is_one_block() -> None:
    assert decompress(SNAPPY, raw_snappy(b"raw block")) == b"raw block"


def test_snappy_of_the_java_library_has_a_frame() -> None:
    """The frame that Kafka writes, with blocks of at most 32 KiB."""
    blocks = b"".join(
        len(raw_snappy(part)).to_bytes(4) + raw_snappy(part) for part in (b"one ", b"two")
    )

    packed = compress(SNAPPY, TEXT)

    assert decompress(SNAPPY, XERIAL + blocks) == b"one two"
    assert packed.startswith(XERIAL)
    pos = 16
    while pos < len(packed):
        size = int.from_bytes(packed[pos : pos + 4])
        assert len(decompress(SNAPPY, packed[pos + 4 : pos + 4 + size])) <= 32 * 1024
        pos += 4 + size


@pytest.mark.parametrize(
    ("size", "rest"),
    [
        pytest.param((1 << 31) - 1, raw_snappy(b"a"), id="beyond the end"),
        pytest.param(-1, raw_snappy(b"a"), id="negative"),
        pytest.param(-(1 << 31), b"", id="the smallest"),
    ],
)
def test_impossible_snappy_block_length_is_refused(size: int, rest: bytes) -> None:
    reason = f"snappy: a block of {size} bytes where {len(rest)} are left"

    with pytest.raises(DecodeError, match=reason):
        decompress(SNAPPY, XERIAL + size.to_bytes(4, signed=True) + rest)


@pytest.mark.parametrize("version", [0, -1])
def test_snappy_stream_of_another_version_is_refused_also_behind_another(version: int) -> None:
    stream = XERIAL[:8] + version.to_bytes(4, signed=True) + XERIAL[12:]

    with pytest.raises(DecodeError, match=f"snappy: a stream of version {version}"):
        decompress(SNAPPY, compress(SNAPPY, b"data") + stream)


def test_bytes_behind_snappy_blocks_that_are_no_length_are_ignored() -> None:
    """To snappy-java they are the end, too."""
    for rest in (b"", b"\1", b"\0\0\1", b"\0\0\0"):
        assert decompress(SNAPPY, compress(SNAPPY, b"data") + rest) == b"data"


def test_snappy_block_that_claims_too_much_is_refused_unread() -> None:
    claims_4_gib = b"\xff\xff\xff\xff\x0f" + b"\0a"

    with pytest.raises(DecodeError):
        decompress(SNAPPY, claims_4_gib)
    with pytest.raises(DecodeError):
        decompress(SNAPPY, XERIAL + len(claims_4_gib).to_bytes(4) + claims_4_gib)


# LZ4


def test_lz4_has_the_frame_of_kafkas_producers() -> None:
    packed = compress(LZ4, b"")

    assert packed == b"\x04\x22\x4d\x18\x60\x40\x82" + bytes(4)


def test_lz4_of_magic_0_has_the_wrong_checksum_of_its_producers() -> None:
    """They hashed the four bytes before the header too; only of magic 0 it is not checked."""
    packed = compress(LZ4, b"data", magic=0)

    assert packed[6] == 0x1A
    assert decompress(LZ4, packed, magic=0) == b"data"
    assert decompress(LZ4, compress(LZ4, b"data", magic=1), magic=1) == b"data"
    with pytest.raises(DecodeError, match="checksum of the frame header"):
        decompress(LZ4, packed, magic=1)
    with pytest.raises(DecodeError, match="checksum of the frame header"):
        decompress(LZ4, packed)


def lz4_frame(flags: int, descriptor: int, extra: bytes, blocks: bytes) -> bytes:
    header = bytes([flags, descriptor]) + extra
    return b"\x04\x22\x4d\x18" + header + bytes([xxhash32(header) >> 8 & 0xFF]) + blocks


STORED = (1 << 31 | 4).to_bytes(4, "little") + b"data"


def test_lz4_block_may_be_stored_as_it_is() -> None:
    assert decompress(LZ4, lz4_frame(0x60, 0x40, b"", STORED * 2 + bytes(4))) == b"datadata"


def test_lz4_content_size_is_skipped() -> None:
    size = (4).to_bytes(8, "little")

    assert decompress(LZ4, lz4_frame(0x68, 0x40, size, STORED + bytes(4))) == b"data"


def test_lz4_block_checksum_is_checked() -> None:
    right = xxhash32(b"data").to_bytes(4, "little")

    assert decompress(LZ4, lz4_frame(0x70, 0x40, b"", STORED + right + bytes(4))) == b"data"
    for wrong in (bytes(4), b"\xff" * 4):
        with pytest.raises(DecodeError, match="checksum of a block"):
            decompress(LZ4, lz4_frame(0x70, 0x40, b"", STORED + wrong + bytes(4)))


def test_lz4_checksum_of_the_header_is_checked() -> None:
    frame = lz4_frame(0x60, 0x40, b"", STORED + bytes(4))

    for wrong in {*range(256)} - {frame[6]}:
        with pytest.raises(DecodeError, match="checksum of the frame header"):
            decompress(LZ4, frame[:6] + bytes([wrong]) + frame[7:])


def test_lz4_content_checksum_must_be_there() -> None:
    frame = lz4_frame(0x64, 0x40, b"", STORED + bytes(4))

    assert decompress(LZ4, frame + b"????") == b"data"
    with pytest.raises(DecodeError, match="cut short"):
        decompress(LZ4, frame + b"???")


@pytest.mark.parametrize("size", [4, 5, 6, 7])
def test_lz4_blocks_may_be_larger_than_kafkas(size: int) -> None:
    assert decompress(LZ4, lz4_frame(0x60, size << 4, b"", STORED + bytes(4))) == b"data"


@pytest.mark.parametrize(
    ("flags", "descriptor"),
    [
        pytest.param(0x20, 0x40, id="version 0"),
        pytest.param(0x40, 0x40, id="blocks that depend on each other"),
        pytest.param(0x61, 0x40, id="dictionary"),
        pytest.param(0x62, 0x40, id="reserved flag"),
        pytest.param(0x60, 0x30, id="block size 3"),
        pytest.param(0x60, 0xC0, id="reserved bit of the descriptor"),
    ],
)
def test_lz4_frame_that_kafka_does_not_read_is_refused(flags: int, descriptor: int) -> None:
    with pytest.raises(DecodeError):
        decompress(LZ4, lz4_frame(flags, descriptor, b"", STORED + bytes(4)))


def test_lz4_block_beyond_the_end_says_what_is_left() -> None:
    blocks = (1 << 31 | 10).to_bytes(4, "little") + b"data" + bytes(4)

    with pytest.raises(DecodeError, match="lz4: a block of 10 bytes where 8 are left"):
        decompress(LZ4, lz4_frame(0x60, 0x40, b"", blocks))


@pytest.mark.parametrize(
    "blocks",
    [
        pytest.param((1 << 31 | 0x20000).to_bytes(4, "little") + bytes(0x20000), id="too large"),
        pytest.param((100).to_bytes(4, "little") + b"short", id="beyond the end"),
        pytest.param((4).to_bytes(4, "little") + b"\xff\xff\xff\xff", id="not lz4"),
    ],
)
def test_impossible_lz4_block_is_refused(blocks: bytes) -> None:
    with pytest.raises(DecodeError):
        decompress(LZ4, lz4_frame(0x60, 0x40, b"", blocks + bytes(4)))
