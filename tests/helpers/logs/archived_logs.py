"""Logs to be put into archives, and the ways to pack them."""

import gzip
import lzma
import random
from collections.abc import Callable

import pytest

from kraftops.log.batch import Record
from tests.helpers.logs.segments import IN
from tests.helpers.logs.written import batch_bytes, compress

ZSTD = 4
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": lambda data: compress(ZSTD, data),
    ".xz": lzma.compress,
}
each_archive = pytest.mark.parametrize("ending", PACKERS)
BATCHES = [batch_bytes([Record(n, n * 10, b"key", bytes(range(n, n + 40)))]) for n in range(200)]
LOG = b"".join(BATCHES)
NOISE = random.Random(1).randbytes(2_000)
FILES = {
    "/".join(path.parts[-2:]): path.read_bytes()
    for pattern in ("craft/m*/*.log", "dmg/*/*.log", "user/lz4/*.log", "snap/*.log")
    for path in sorted(IN.glob(pattern))
}
"""Real logs, sound and damaged."""
