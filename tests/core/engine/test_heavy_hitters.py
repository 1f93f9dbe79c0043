"""Counts of frequent keys in bounded memory."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.engine import heavy_hitters
from kraftops.engine.heavy_hitters import HeavyHitters

KEYS = st.lists(st.tuples(st.integers(0, 25), st.integers(1, 9)), max_size=150)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """Keep so few keys that the counts have errors."""
    monkeypatch.setattr(heavy_hitters, "MOST_KEYS", 4)
    return 4


def counted(keys: list[tuple[int, int]]) -> HeavyHitters[int]:
    found: HeavyHitters[int] = HeavyHitters()
    for key, weight in keys:
        found.add(key, weight)
    return found


def assert_bounds(found: HeavyHitters[int], keys: list[tuple[int, int]], most: int) -> None:
    """Assert what the counts promise."""
    exact: Counter[int] = Counter()
    for key, weight in keys:
        exact[key] += weight
    assert found.total == exact.total()
    assert found.error * (most + 1) <= exact.total()
    assert len(found.counts) <= 2 * most
    for key, count in exact.items():
        assert count - found.error <= found.counts.get(key, 0) <= count
    assert set(found.counts) <= set(exact)


@given(keys=KEYS, data=st.data())
@pytest.mark.usefixtures("few")
def test_bounds_hold_for_every_cut_and_order_of_merges(
    keys: list[tuple[int, int]], data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(keys)), max_size=6)))
    parts = [
        counted(keys[start:stop]) for start, stop in zip([0, *cuts], [*cuts, None], strict=True)
    ]
    rng = data.draw(st.randoms(use_true_random=False))
    while len(parts) > 1:  # a random tree of merges
        rng.shuffle(parts)
        other = parts.pop()
        parts[0].merge(other)

    assert_bounds(parts[0], keys, 4)
    assert_bounds(counted(keys), keys, 4)


def test_few_keys_are_exact_however_they_are_cut() -> None:
    keys = [(key % 20, 1) for key in range(1_000)]
    whole = counted(keys)
    parts = counted(keys[:300])
    parts.merge(counted(keys[300:]))

    assert (whole.counts, whole.error) == (parts.counts, 0) == (dict.fromkeys(range(20), 50), 0)


def test_hot_key_is_found_among_many() -> None:
    rng = Random(1)
    keys = [(rng.randrange(1 << 40), 1) for _ in range(50_000)] + [(-7, 1)] * 2_000
    rng.shuffle(keys)

    found = counted(keys)

    (first, count), *_ = found.largest(3)
    assert first == -7
    assert 2_000 - found.error <= count <= 2_000
    assert found.error < 52_000 / heavy_hitters.MOST_KEYS


def test_largest_are_in_order() -> None:
    assert counted([(1, 5), (2, 9), (3, 5)]).largest(2) == [(2, 9), (1, 5)]
