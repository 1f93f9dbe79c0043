"""Both engines count the same work: they refuse the same batches of a bomb, with the same words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kraftops.log.codecs import CODECS
from kraftops.memory import DEFAULT, begin_source, set_max_memory
from kraftops.query.query import Query
from tests.helpers.costs.bombs import PLACES, bomb, is_possible
from tests.helpers.engine.agreement import agree, needs_both
from tests.helpers.engine.comparison import Trial, by_native, by_reference

_BUDGET = 1 << 19
_SIZE = 120_000  # less than a batch may inflate to, so that all of them together are refused
_BOMBS = 8
_OLD = [place for place in PLACES if place.startswith("old")]
_QUERIES = tuple(
    Query(deep_iteration=True, form=form, check=check)
    for form in ("text", "json", "csv", "parquet")
    for check in (False, True)
)

pytestmark = needs_both


@pytest.fixture(autouse=True)
def small_budget() -> Iterator[None]:
    set_max_memory(_BUDGET)
    yield
    set_max_memory(DEFAULT)
    begin_source()


def _repeated(log: bytes) -> bytes:
    return b"".join(number.to_bytes(8) + log[8:] for number in range(_BOMBS))


@pytest.mark.parametrize("codec", CODECS[1:])
@pytest.mark.parametrize("place", ["value", "key", "headers", "values", *_OLD])
def test_engines_refuse_the_same_bombs(place: str, codec: str) -> None:
    if not is_possible(place, codec):
        pytest.skip("messages of that age do not know the codec")

    agree(_repeated(bomb(place, _SIZE, codec)), *_QUERIES)


def test_bombs_are_read_as_far_as_the_budget_goes() -> None:
    trial = Trial(_repeated(bomb("value", _SIZE, "zstd")), Query(deep_iteration=True))

    for output in (by_native(trial), by_reference(trial)):
        reasons = [note[2] for note in output.notes]
        assert 0 < len(reasons) < _BOMBS
        assert all("1100 times their size and --max-memory of 524288" in why for why in reasons)
