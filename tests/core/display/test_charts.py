"""Column charts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.display.charts import bar, chart, merged, sparkline


def test_chart_is_as_high_as_its_counts() -> None:
    assert chart([0, 1, 4, 8, 16], 2) == [
        "    █",
        " ▁▄██",
    ]


@given(
    counts=st.lists(st.integers(0, 1 << 60), min_size=1, max_size=70).filter(any),
    height=st.integers(1, 9),
)
def test_every_count_is_seen_and_none_is_too_high(counts: list[int], height: int) -> None:
    lines = [line.ljust(len(counts)) for line in chart(counts, height)]

    assert len(lines) == height
    for number, count in enumerate(counts):
        column = "".join(line[number] for line in lines)
        assert (not column.strip()) == (not count)
        assert column == column.lstrip().rjust(height)
    assert lines[0][counts.index(max(counts))] == "█"


@pytest.mark.parametrize(
    ("most", "expected"),
    [(5, ([1, 2, 3, 4, 5], 1)), (4, ([3, 7, 5], 2)), (1, ([15], 5)), (0, ([15], 5))],
)
def test_neighbours_are_put_together_where_there_is_no_room(
    most: int, expected: tuple[list[int], int]
) -> None:
    assert merged([1, 2, 3, 4, 5], most) == expected


def test_sparkline_shows_the_last_counts_and_what_is_not_known() -> None:
    assert sparkline([9, 0, 1, None, 50, 100], 5) == "▁▂ ▅█"
    assert sparkline([0, 0, None], 9) == "▁▁ "
    assert sparkline([1, 1000], 9) == "▂█"
    assert sparkline([1], 0) == sparkline([], 5) == ""


def test_bar_is_relative_to_the_highest() -> None:
    assert [bar(count, 40, 20) for count in (0, 1, 20, 39, 40)] == [
        *("", "█", "█" * 10, "█" * 20, "█" * 20)
    ]
    assert bar(0, 0, 20) == ""
