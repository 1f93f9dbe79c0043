"""Mutated real segments: no exception, no hang, and nothing lost before the first mutation.

KRAFTOPS_FUZZ_SECONDS says how long (12), KRAFTOPS_FUZZ_SEED where to begin; a failure names the
seed of its case, with which it comes first.
"""

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.engine.cases import at_most
from tests.helpers.logs.segments import batches_of, segments
from tests.helpers.tools.dump_file import QUERIES, dump_bytes

SECONDS = float(os.environ.get("KRAFTOPS_FUZZ_SECONDS", "12"))
SEED = int(os.environ.get("KRAFTOPS_FUZZ_SEED", "20260101"))
LONGEST = 5  # seconds a case may take
LARGEST = 20_000  # bytes of a segment; larger ones have nothing that these have not

SEEDS = [
    data
    for pattern in ("*.log", "*.checkpoint")
    for path in segments(pattern)
    if 0 < len(data := path.read_bytes()) <= LARGEST
]


def mutated(data: bytes, chance: random.Random) -> tuple[bytes, int]:
    """Return a damaged copy and where the damage begins."""
    out = bytearray(data)
    first = len(out)
    for _ in range(chance.choice((1, 1, 1, 2, 5, 30))):
        at = chance.randrange(len(out)) if out else 0
        # Half of the damage falls on what steers the reading: the heads of batches.
        batches = batches_of(data)
        if batches and chance.random() < 0.5:
            at = min(chance.choice(batches).position + chance.randrange(75), len(out) - 1)
        if not out:
            break
        at = max(at, 0)
        kind = chance.randrange(7)
        if kind < 2:
            out[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            out[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif kind == 3:
            size = chance.choice((1, 2, 4, 8))
            out[at : at + size] = chance.choice((b"\0", b"\xff", b"\x7f", b"\x80")) * size
        elif kind == 4:
            del out[at : at + chance.choice((1, 3, 12, 61, 500))]
        elif kind == 5:
            out[at:at] = chance.randbytes(chance.choice((1, 5, 61)))
        else:
            other = chance.randrange(len(out))
            out[at : at + 61] = out[other : other + 61]
        first = min(first, at)
    return bytes(out), first


@pytest.mark.fuzz
def test_damaged_segments_are_dumped(
    tmp_path: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    end = time.monotonic() + SECONDS
    number = 0
    while number == 0 or time.monotonic() < end:
        seed = SEED + number
        number += 1
        chance = random.Random(seed)
        data = chance.choice(SEEDS)
        name = chance.choice(list(QUERIES))
        damaged, first = mutated(data, chance)
        ends = [batch.position + batch.size for batch in batches_of(data)]
        whole = max((end for end in ends if end <= first), default=0)
        try:
            with at_most(LONGEST):
                before = dump_bytes(data[:whole], tmp_path, QUERIES[name])
                found = dump_bytes(damaged, tmp_path, QUERIES[name])
            assert found.text.startswith(before.text)
            assert found.notes or not found.has_failed
        except BaseException as error:
            error.add_note(f"KRAFTOPS_FUZZ_SEED={seed} shows it first; decoder: {name}")
            raise
    record_testsuite_property("cases", number)
