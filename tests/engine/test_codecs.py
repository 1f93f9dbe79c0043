"""Both engines inflate the same: ordinary frames of every producer, and damaged ones."""

from __future__ import annotations

import random
from functools import partial

import pytest

from kraftops.engine.native import NativeScan
from kraftops.engine.scan_contract import Request
from kraftops.log.codecs import CODECS, xxhash32, zstd_module
from kraftops.memory import USUAL
from kraftops.query.query import Query
from tests.helpers.engine.agreement import agree, needs_both
from tests.helpers.logs.segments import batch_around, plain_record
from tests.helpers.logs.written import compress

pytestmark = needs_both

_RECORDS = b"".join(
    plain_record(number, b"value %d " % (number % 7) * number, b"key") for number in range(40)
)
_QUERIES = (Query(deep_iteration=True), Query(form="json", check=True))
_LZ4_MAGIC = b"\x04\x22\x4d\x18"


def _lz4_with_size(records: bytes) -> bytes:
    """A frame with the size and a checksum of its content, and blocks of 4 MiB."""
    described = b"\x6c\x70" + len(records).to_bytes(8, "little")
    checksum = bytes([xxhash32(described) >> 8 & 0xFF])
    return _LZ4_MAGIC + described + checksum + compress(3, records)[7:] + bytes(4)


def _bare_snappy(records: bytes) -> bytes:
    return compress(2, records)[20:]


def _zstd_without_size(records: bytes) -> bytes:
    """A frame as a stream writes it, with a checksum; Kafka's producers do not tell the size."""
    zstd = zstd_module()
    stream = zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: 1})
    stored: bytes = stream.compress(records) + stream.flush()
    return stored


def _halves(codec: int, records: bytes) -> bytes:
    """Two frames, or in snappy's case streams, one after the other."""
    half = len(records) // 2
    return compress(codec, records[:half]) + compress(codec, records[half:])


_FRAMES = {
    "gzip": (1, partial(compress, 1)),
    "snappy": (2, partial(compress, 2)),
    "snappy, bare": (2, _bare_snappy),
    "snappy, two streams": (2, partial(_halves, 2)),
    "lz4": (3, partial(compress, 3)),
    "lz4, with its size": (3, _lz4_with_size),
    "zstd": (4, partial(compress, 4)),
    "zstd, without its size": (4, _zstd_without_size),
    "zstd, two frames": (4, partial(_halves, 4)),
}


def _batch(codec: int, stored: bytes, number: int = 0) -> bytes:
    return batch_around(stored, 40, base_offset=40 * number, attributes=codec)


@pytest.mark.parametrize("name", _FRAMES)
@pytest.mark.parametrize("size", [len(_RECORDS), 20])
def test_engines_agree_about_damaged_frames(name: str, size: int) -> None:
    codec, frame = _FRAMES[name]
    sound = frame(_RECORDS[:size])
    rng = random.Random(f"{name} {size}")
    frames = [sound, b"", *(sound[:cut] for cut in range(0, len(sound), 5)), sound + b"more"]
    for _ in range(250):
        damaged = bytearray(sound)
        for _ in range(rng.randint(1, 3)):
            # Lengths and flags are at the beginning and the end.
            near = rng.choice((16, len(damaged)))
            damaged[rng.randrange(-near, near) % len(damaged)] = rng.randrange(256)
        frames.append(bytes(damaged))

    log = b"".join(_batch(codec, stored, number) for number, stored in enumerate(frames))
    agree(log, *_QUERIES)


@pytest.mark.parametrize(
    "name", [name for name in _FRAMES if "gzip" not in name and "two" not in name]
)
def test_small_batches_are_inflated_without_python(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    codec, frame = _FRAMES[name]
    asked: list[str] = []
    monkeypatch.setattr(
        "kraftops.engine.native.decompress", lambda codec, *_, **__: asked.append(CODECS[codec])
    )

    scan = NativeScan(Request("x.log", Query(deep_iteration=True)), USUAL.meter())
    outcome = scan.feed(_batch(codec, frame(_RECORDS)), 0, 0)

    assert outcome.out.count(b"offset: ") == 40
    assert asked == ([] if codec != 4 or _has_libzstd() else ["zstd"])


def _has_libzstd() -> bool:
    import ctypes

    try:
        ctypes.CDLL("libzstd.so.1")
    except OSError:
        return False
    return True
