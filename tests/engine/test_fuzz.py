"""Both engines agree about mutated real segments and random logs, with random queries.

It runs for KRAFTOPS_FUZZ_SECONDS (12) from the seed KRAFTOPS_FUZZ_SEED on;
`tests.helpers.engine.fuzzing` runs it by hand, for any time, and makes findings smaller. Earlier
findings, kept in tests/data/engine, are tried first.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops.engine.choice import why_not_native
from tests.helpers.engine.cases import case, outcome
from tests.helpers.engine.comparison import has_native
from tests.helpers.engine.findings import KEPT, from_bytes, to_bytes

pytestmark = pytest.mark.skipif(not has_native(), reason=f"no native engine: {why_not_native()}")

SECONDS = float(os.environ.get("KRAFTOPS_FUZZ_SECONDS", "12"))
SEED = int(os.environ.get("KRAFTOPS_FUZZ_SEED", "20260101"))


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.bin")), ids=lambda path: path.stem)
def test_earlier_finding_stays_fixed(path: Path) -> None:
    assert not outcome(from_bytes(path.read_bytes()))


@pytest.mark.fuzz
def test_engines_agree(record_testsuite_property: Callable[[str, object], None]) -> None:
    end = time.monotonic() + SECONDS
    number = 0
    while number == 0 or time.monotonic() < end:
        one = case(SEED + number)
        text = outcome(one)
        assert not text, f"{one.note}: {text}\nKRAFTOPS_FUZZ_SEED={SEED + number} shows it first"
        number += 1
    record_testsuite_property("cases", number)


def test_cases_are_kept_whole() -> None:
    for seed in range(40):
        one = case(seed)
        other = from_bytes(to_bytes(one))
        assert (other.trial, other.block, other.note) == (one.trial, one.block, one.note)
        assert case(seed).trial == one.trial


def test_coverage_guided_target_takes_its_seeds(tmp_path: Path) -> None:
    from tests.helpers.engine import libfuzzer  # it needs the native engine

    libfuzzer.write_seeds(tmp_path)
    seeds = sorted(tmp_path.iterdir())

    assert len(seeds) > 1_000
    for seed in seeds[::20]:
        libfuzzer.one(seed.read_bytes())
