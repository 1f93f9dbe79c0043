"""Columns of names, as in Kafka's `ls`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops_shell.commands.ls import in_columns


def test_no_names_print_nothing() -> None:
    assert in_columns([], 80) == ""
    assert in_columns([], 0) == ""


@pytest.mark.parametrize("width", [0, 1, 4, 7])
def test_narrow_terminal_has_one_column(width: int) -> None:
    assert in_columns(["a", "b"], width) == "a\nb\n"


def test_names_go_down_first() -> None:
    assert in_columns(["0", "1", "10", "2", "3"], 9) == "0   2\n1   3\n10  \n"


def test_width_includes_the_last_gap() -> None:
    assert in_columns(["aaa", "bbb"], 10) == "aaa  bbb\n"
    assert in_columns(["aaa", "bbb"], 9) == "aaa\nbbb\n"


def test_no_column_is_empty() -> None:
    """Five names fill three columns of two, not four."""
    assert in_columns(list("abcde"), 12) == "a  c  e\nb  d  \n"


@given(st.lists(st.text("ab", max_size=9), max_size=30), st.integers(0, 100))
def test_all_names_are_there_and_fit(names: list[str], width: int) -> None:
    lines = in_columns(names, width).splitlines()

    assert sorted(" ".join(lines).split()) == sorted(filter(None, names))
    assert len(lines) <= len(names)
    if lines and len(lines) < len(names):
        assert max(map(len, lines)) <= width


def test_many_names_are_fast() -> None:
    names = [f"topic-{number}" for number in range(50_000)]

    lines = in_columns(names, 200).splitlines()

    assert len(lines) == 50_000 // 15 + 1
