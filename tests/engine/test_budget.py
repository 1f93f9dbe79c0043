"""Both engines count the same work: they refuse the same batches of a bomb, with the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftops.dump.summary.summarise import summarise
from kraftops.log.codecs import CODECS
from kraftops.memory import Budget
from kraftops.query.query import Query
from tests.helpers.costs.bombs import PLACES, bomb, is_possible
from tests.helpers.engine.agreement import agree, needs_both
from tests.helpers.engine.choice import using
from tests.helpers.engine.comparison import Trial, by_native, by_reference

_BUDGET = 1 << 19
_SIZE = 120_000  # less than a batch may inflate to, so that all of them together are refused
_BOMBS = 8
_OLD = [place for place in PLACES if place.startswith("old")]
_QUERIES = tuple(
    Query(deep_iteration=True, form=form, check=check, budget=Budget(_BUDGET))
    for form in ("text", "json", "csv", "parquet")
    for check in (False, True)
)

pytestmark = needs_both


def _repeated(log: bytes) -> bytes:
    return b"".join(number.to_bytes(8) + log[8:] for number in range(_BOMBS))


@pytest.mark.parametrize("codec", CODECS[1:])
@pytest.mark.parametrize("place", ["value", "key", "headers", "values", *_OLD])
def test_engines_refuse_the_same_bombs(place: str, codec: str) -> None:
    if not is_possible(place, codec):
        pytest.skip("messages of that age do not know the codec")

    agree(_repeated(bomb(place, _SIZE, codec)), *_QUERIES)


def test_nothing_is_read_after_the_batch_that_spends_the_budget() -> None:
    log = _repeated(bomb("value", _SIZE, "zstd"))
    trial = Trial(log, Query(deep_iteration=True, budget=Budget(_BUDGET)))

    for output in (by_native(trial), by_reference(trial)):
        (note,) = output.notes
        assert "1100 times their size and 524288 bytes" in note[2]
        assert 1 < output.out.count(b"| offset:") < _BOMBS - 1


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_summaries_count_as_far_as_scans_read(engine: str, tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(_repeated(bomb("value", _SIZE, "zstd")))
    query = Query(deep_iteration=True, budget=Budget(_BUDGET))

    with using(engine):
        summary = summarise(str(path), query)
    printed = by_reference(Trial(path.read_bytes(), query)).out.count(b"| offset:")

    assert summary.records.count == printed
    assert summary.damage.count == 2  # the batch, and all that is not read
