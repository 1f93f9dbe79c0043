"""Both engines fold any log to the same state, also where its bytes are spoilt."""

import os
from random import Random

import pytest

from tests.replays import RandomLog
from tests.segments import batches_of

pytest.importorskip("kraftops.engine._native", reason="there is no compiled engine")

from tests.engine.folds import TABLES, Both, inside

SEED = int(os.environ.get("KRAFTOPS_FUZZ_SEED", "23"))
LOGS = int(os.environ.get("KRAFTOPS_FUZZ_FOLDS", "400"))


@pytest.mark.parametrize("part", range(8))
def test_folds_agree(part: int) -> None:
    for at in range(part, LOGS, 8):
        random = Random(SEED * 1_000_003 + at)
        log = RandomLog(random).log(most_batches=12, most_records=12)
        both = Both()
        if at % 3 == 0:
            both.watch(random.sample(TABLES, 4))
        if at % 5 == 0:
            for fold in both.folds:
                fold.seed(is_seeded=True)
        for batch in batches_of(b"".join(map(bytes, log))):
            records, count = inside(batch)
            both.add(records, count, random)
        both.compare()


@pytest.mark.parametrize("part", range(8))
def test_folds_of_spoilt_records_agree(part: int) -> None:
    for at in range(part, LOGS, 8):
        random = Random(SEED * 2_000_003 + at)
        log = RandomLog(random).log(most_batches=8, most_records=8)
        both = Both()
        for batch in batches_of(b"".join(map(bytes, log))):
            records, count = inside(batch)
            spoilt = bytearray(records)
            for _ in range(random.choice((0, 1, 2))):
                if spoilt:
                    spoilt[random.randrange(len(spoilt))] = random.choice((0, 1, 2, 127, 255))
            both.add(bytes(spoilt), count, random)
        both.compare()
