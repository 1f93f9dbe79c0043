"""The offsets of a log."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.dump.summary.offset_span import OffsetSpan
from tests.helpers.logs.summaries import as_json

Batches = list[tuple[int, int, int]]
BATCHES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 4), st.integers(0, 5)).map(
        lambda one: (one[0], one[0] + one[1], min(one[2], one[1] + 1))
    ),
    max_size=30,
)


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
