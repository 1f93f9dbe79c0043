"""Tables and charts in plain text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.display.text_table import MOST_ROWS, Page, cell_text, chart, merged, size_text, table


def test_columns_are_aligned() -> None:
    rows = [["orders", 1_234_567, None, "x"], ["a", 5, 3, "longer"]]

    assert table(["TOPIC", "COUNT", "N", "NOTE"], rows, 80, unicode=True) == [
        "TOPIC       COUNT  N  NOTE",
        "orders  1,234,567  -  x",
        "a               5  3  longer",
    ]


def test_first_column_gives_way_to_what_does_not_fit() -> None:
    rows = [["a-very-long-name-of-a-topic", 5], ["short", 1]]

    assert table(["TOPIC", "COUNT"], rows, 20, unicode=True) == [
        "TOPIC          COUNT",
        "a-very-long-…      5",
        "short              1",
    ]
    assert table(["TOPIC", "COUNT"], rows, 20, unicode=False)[1] == "a-very-long..      5"
    assert table(["TOPIC", "COUNT"], rows, 1, unicode=True)[1] == "a-ve…      5"


def test_text_of_others_does_no_harm_to_the_terminal() -> None:
    assert cell_text("a\x1b[31m\nb") == "a?[31m?b"


def test_only_so_many_rows_are_shown() -> None:
    page = Page(80, True)

    lines = list(page.table(["N"], [[n] for n in range(1_000 + MOST_ROWS)]))

    assert len(lines) == MOST_ROWS + 2
    assert lines[-1] == "and 1,000 more"
    assert list(page.table(["N"], [[n] for n in range(MOST_ROWS)]))[-1] == "19"
    assert list(page.table(["N"], [])) == []


def test_table_says_where_it_is_a_sample() -> None:
    assert "a sample" in list(Page(80, True).table(["N"], [[1]], is_whole=False))[-1]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1024 * 1024 - 1, "1.0 MiB"),
        (200 << 20, "200.0 MiB"),
        (5 << 30, "5.0 GiB"),
        (1 << 70, "1048576.0 PiB"),
    ],
)
def test_size_has_a_unit(size: int, text: str) -> None:
    assert size_text(size) == text


def test_chart_is_as_high_as_its_counts() -> None:
    assert chart([0, 1, 4, 8, 16], 2, unicode=True) == [
        "    █",
        " ▁▄██",
    ]
    assert chart([0, 1, 4, 8, 16], 2, unicode=False) == ["    #", " ####"]


@given(
    counts=st.lists(st.integers(0, 1 << 60), min_size=1, max_size=70).filter(any),
    height=st.integers(1, 9),
    unicode=st.booleans(),
)
def test_every_count_is_seen_and_none_is_too_high(
    counts: list[int], height: int, unicode: bool
) -> None:
    lines = [line.ljust(len(counts)) for line in chart(counts, height, unicode=unicode)]

    assert len(lines) == height
    full = "█" if unicode else "#"
    for number, count in enumerate(counts):
        column = "".join(line[number] for line in lines)
        assert (not column.strip()) == (not count)
        assert column == column.lstrip().rjust(height)
    assert lines[0][counts.index(max(counts))] == full


@pytest.mark.parametrize(
    ("most", "expected"),
    [(5, ([1, 2, 3, 4, 5], 1)), (4, ([3, 7, 5], 2)), (1, ([15], 5)), (0, ([15], 5))],
)
def test_neighbours_are_put_together_where_there_is_no_room(
    most: int, expected: tuple[list[int], int]
) -> None:
    assert merged([1, 2, 3, 4, 5], most) == expected
