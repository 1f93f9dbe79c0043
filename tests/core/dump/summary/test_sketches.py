"""Counting in bounded memory."""

import pickle
import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.dump.summary import sketches
from kraftops.dump.summary.sketches import (
    MOST_BUCKETS,
    Distribution,
    OffsetSpan,
    SampledDict,
    TimeHistogram,
)
from tests.helpers.logs.summaries import as_json

VALUES = st.lists(st.integers(0, 20) | st.integers(0, 1 << 62), max_size=60)
TIMES = st.lists(
    st.tuples(st.integers(0, 200) | st.integers(-(1 << 62), 1 << 62), st.integers(1, 9)),
    max_size=40,
)
Batches = list[tuple[int, int, int]]
BATCHES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 4), st.integers(0, 5)).map(
        lambda one: (one[0], one[0] + one[1], min(one[2], one[1] + 1))
    ),
    max_size=30,
)


def parts(draw: st.DrawFn, items: list[Any]) -> list[list[Any]]:
    """Return *items* cut anywhere."""
    cuts = sorted(draw(st.lists(st.integers(0, len(items)), max_size=4)))
    return [items[a:b] for a, b in zip([0, *cuts], [*cuts, len(items)], strict=True)]


def distribution(values: Sequence[int]) -> Distribution:
    found = Distribution()
    for value in values:
        found.add(value)
    return found


def exact_quantile(values: Sequence[int], part: float) -> int:
    return next(
        value
        for value in sorted(values)
        if sum(other <= value for other in values) >= part * len(values)
    )


@given(data=st.data(), values=VALUES, most=st.sampled_from([1, 5, 4096]))
def test_merged_distributions_equal_one_of_all_values(
    data: st.DataObject, values: list[int], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketches, "MOST_VALUES", most)
        whole, together = distribution(values), Distribution()
        for part in data.draw(st.composite(parts)(values)):
            together.merge(pickle.loads(pickle.dumps(distribution(part))))

    assert as_json(together) == as_json(whole)
    assert together.counts == whole.counts
    assert whole.is_exact == (len(set(values)) <= most)


@given(values=VALUES.filter(bool), part=st.sampled_from([0.01, 0.5, 0.99, 1.0]))
def test_quantiles_are_exact_for_few_values(values: list[int], part: float) -> None:
    found = distribution(values)

    assert found.quantile(part) == exact_quantile(values, part)
    assert (found.min, found.max) == (min(values), max(values))


@given(values=VALUES.filter(bool), part=st.sampled_from([0.01, 0.5, 0.99]))
def test_quantiles_of_many_values_are_nearly_right(values: list[int], part: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketches, "MOST_VALUES", 0)
        found = distribution(values)

    exact, rounded = exact_quantile(values, part), found.quantile(part)
    assert rounded is not None
    assert exact - exact / 128 <= rounded <= exact
    assert (found.min, found.max) == (min(values), max(values))


def test_distribution_takes_little_memory() -> None:
    numbers = random.Random(1)

    found = distribution([numbers.randrange(1 << 40) for _ in range(20_000)])

    assert not found.is_exact
    assert len(found.counts) < 128 * 42


def test_empty_distribution_has_no_quantiles() -> None:
    assert as_json(Distribution()) == {
        "min": None,
        "p50": None,
        "p99": None,
        "max": None,
        "exact": True,
    }


def histogram(entries: Sequence[tuple[int, int]]) -> TimeHistogram:
    found = TimeHistogram()
    for time, count in entries:
        found.add(time, count)
    return found


@given(data=st.data(), entries=TIMES)
def test_merged_histograms_equal_one_of_all_times(
    data: st.DataObject, entries: list[tuple[int, int]]
) -> None:
    whole, together = histogram(entries), TimeHistogram()
    for part in data.draw(st.composite(parts)(entries)):
        together.merge(pickle.loads(pickle.dumps(histogram(part))))

    assert as_json(together) == as_json(whole)


@given(entries=TIMES.filter(bool))
def test_histogram_counts_what_is_in_each_bucket(entries: list[tuple[int, int]]) -> None:
    found = as_json(histogram(entries))

    width, start, counts = found["widthMs"], found["startMs"], found["counts"]
    expected = [
        sum(count for time, count in entries if begin <= time < begin + width)
        for begin in range(start, start + width * len(counts), width)
    ]
    assert counts == expected
    assert sum(counts) == sum(count for _, count in entries)
    assert len(counts) <= MOST_BUCKETS
    first, last = min(entries)[0], max(entries)[0]
    half = width // 2
    assert width == 1 or last // half - first // half >= MOST_BUCKETS
    assert width & (width - 1) == 0


def test_empty_histogram_has_no_buckets() -> None:
    assert as_json(TimeHistogram()) == {"widthMs": 1, "startMs": None, "counts": []}


def add_list(ours: list[int], later: list[int]) -> None:
    ours += later


def kept(
    entries: Sequence[tuple[int | bytes, int]], limit: int, *, by_size: bool
) -> SampledDict[Any, Any]:
    found: SampledDict[Any, Any] = SampledDict(limit, len) if by_size else SampledDict(limit)
    for key, value in entries:
        if key in found:
            found[key].append(value)
            if by_size:
                found.grow(1)
        else:
            found.put(key, [value])
    return found


@pytest.mark.parametrize("by_size", [False, True], ids=["keys", "values"])
@given(
    data=st.data(),
    entries=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=120)
    | st.lists(st.tuples(st.binary(max_size=1), st.integers(0, 9)), max_size=60),
    limit=st.sampled_from([1, 7, 20, 1000]),
)
def test_sample_of_keys_is_complete_and_does_not_depend_on_the_parts(
    by_size: bool, data: st.DataObject, entries: list[Any], limit: int
) -> None:
    whole = kept(entries, limit, by_size=by_size)
    together: SampledDict[Any, Any] = SampledDict(limit, len) if by_size else SampledDict(limit)
    for part in data.draw(st.composite(parts)(entries)):
        together.merge(pickle.loads(pickle.dumps(kept(part, limit, by_size=by_size))), add_list)
    whole.trim()
    together.trim()

    assert dict(together) == dict(whole)
    assert together.is_whole == whole.is_whole
    for key, values in whole.items():
        assert values == [value for other, value in entries if other == key]
    everything: dict[Any, int] = {}
    for key, _ in entries:
        everything[key] = everything.get(key, 0) + 1 if by_size else 1
    assert whole.is_whole == (sum(everything.values()) <= limit)
    assert sum(everything[key] for key in whole) <= limit
    if not by_size:
        assert len(whole) == min(limit, len(everything))


def test_number_of_keys_is_estimated() -> None:
    found = kept([(key, 0) for key in range(50_000)], 2_000, by_size=False)
    few = kept([(key, 0) for key in range(7)], 2_000, by_size=False)
    found.trim()

    assert len(found) == 2_000
    assert 45_000 < found.estimate() < 55_000
    assert few.estimate() == 7


def test_memory_of_a_sample_is_bounded() -> None:
    found: SampledDict[int, list[int]] = SampledDict(100)

    sizes = []
    for key in range(10_000):
        found.put(key, [key])
        sizes.append(len(found))

    assert max(sizes) <= 151


def span(batches: Batches) -> OffsetSpan:
    found = OffsetSpan()
    for first, last, count in batches:
        found.add(first, last, count)
    return found


def span_json(offsets: OffsetSpan) -> dict[str, Any]:
    return as_json(SimpleNamespace(offsets=offsets, end_offset=5), "offsets")


def test_gaps_are_reported() -> None:
    found = span_json(span([(5, 9, 5), (10, 12, 3), (20, 20, 1), (22, 25, 2), (3, 4, 2)]))

    assert found == {
        "first": 5,
        "last": 4,
        "gaps": {
            "count": 2,
            "missing": 8,
            "first": [{"after": 12, "next": 20}, {"after": 20, "next": 22}],
        },
        "backward": 1,
        "removed": 2,
        "end": 5,
    }


def test_span_without_batches_has_no_offsets() -> None:
    found = span_json(span([]))

    assert (found["first"], found["last"], found["gaps"]["count"]) == (None, None, 0)


def test_few_gaps_are_reported_one_by_one() -> None:
    gaps = span_json(span([(number * 3, number * 3, 1) for number in range(100)]))["gaps"]

    assert (gaps["count"], gaps["missing"], len(gaps["first"])) == (99, 198, 10)


@given(batches=BATCHES, cut=st.integers(0, 30), second=st.integers(0, 30))
def test_merged_spans_equal_one_of_all_batches(batches: Batches, cut: int, second: int) -> None:
    first, second = sorted((cut, second))
    together = span(batches[:first])
    together.merge(span(batches[first:second]))
    together.merge(span(batches[second:]))

    assert span_json(together) == span_json(span(batches))


@pytest.mark.parametrize("empty_first", [False, True])
def test_part_without_batches_changes_nothing(*, empty_first: bool) -> None:
    full = [(5, 9, 5), (12, 12, 1)]
    together = span([] if empty_first else full)

    together.merge(span(full if empty_first else []))

    assert span_json(together) == span_json(span(full))
