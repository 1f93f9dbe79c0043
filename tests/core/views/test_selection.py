"""Selection of rows: the same outcomes as those of rows of a dump, and their order."""

from collections.abc import Mapping
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.answers.fields import boolean, number, numbers, text
from kraftops.errors import UsageError
from kraftops.query.conditions.parser import parse_condition
from kraftops.query.conditions.syntax import And, Condition, Not, Or, Path
from kraftops.query.conditions.types import checked
from kraftops.views.selection import check_sort, in_order, parsed_where, selected, sorted_by
from kraftops.views.view import Frame, View, frame_of_rows
from tests.helpers.engine.random_conditions import one_test, truth

COLUMNS = (number("n", "a number"), text("t", "a text"), boolean("b", "a flag"), numbers("l", "s"))
ROWS = [
    (1, "t10", True, [1, 2]),
    (None, "t9", False, []),
    (10, None, None, [3]),
    (2, "t1", True, None),
    (2, "x", False, [2, 2, 1]),
]
FRAME = frame_of_rows(COLUMNS, ROWS)
VIEW = View("v", COLUMNS, lambda _image, _secrets: FRAME)


def where(text: str) -> list[int]:
    """Return the indexes of the rows that a condition selects."""
    return list(selected(FRAME, parsed_where(VIEW, [text], 0)))


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("n = 2", [3, 4]),
        ("not n = 2", [0, 2]),
        ("n is null or b is null", [1, 2]),
        ("n is not null and not b", [4]),
        ("len(l) < n", [2]),
        ("2 in l", [0, 4]),
        ("not 2 in l", [1, 2]),
        ("n in (1, 10)", [0, 2]),
        ("n in l", [0, 4]),
        ("t ~ '^t1'", [0, 3]),
        ("t !~ '^t1'", [1, 4]),
        ("l.0 = 1", [0]),
        ("b", [0, 3]),
        ("3 > n", [0, 3, 4]),
    ],
)
def test_condition_selects_rows(condition: str, found: list[int]) -> None:
    assert where(condition) == found


def random_condition(rng: Random, row: Mapping[str, Any], depth: int = 2) -> Condition:
    """Return a condition on the columns that passes the check of names and kinds."""
    if depth and rng.random() < 0.5:
        parts = tuple(random_condition(rng, row, depth - 1) for _ in range(2))
        return rng.choice((And(parts), Or(parts), Not(parts[0])))
    while True:
        name = rng.choice([*row])
        condition = one_test(rng, Path((name,)), row[name])
        with suppress(UsageError):
            return checked(condition, "", VIEW.types, 0)


@pytest.mark.parametrize("seed", range(10))
def test_random_conditions_have_the_outcome_of_an_independent_reading(seed: int) -> None:
    rng = Random(seed)
    names = [column.name for column in COLUMNS]
    records: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in ROWS]
    for _ in range(200):
        condition = random_condition(rng, rng.choice(records))

        found = list(selected(FRAME, condition))

        expected = [at for at, row in enumerate(records) if truth(condition, row) is True]
        assert found == expected, condition


def test_sizes_of_lists_are_used() -> None:
    sized = Frame(2, {"l": lambda _: 1 / 0}, {"l": [4, 5].__getitem__})

    assert list(selected(sized, parse_condition("len(l) > 4"))) == [1]


def test_rows_are_sorted_with_numbers_by_value_and_nulls_last() -> None:
    def order(sort: str) -> list[int]:
        return list(in_order(VIEW, FRAME, range(5), sort))

    assert order("t") == [3, 1, 0, 4, 2]
    assert order("n,-t") == [0, 4, 3, 2, 1]
    assert order("-n") == [2, 3, 4, 0, 1]
    assert order("l") == [1, 0, 4, 2, 3]
    assert order("") == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("sort", ["u", "-u", "n,u", "n,", "-"])
def test_unknown_columns_are_refused(sort: str) -> None:
    with pytest.raises(UsageError):
        check_sort(VIEW, sort)


def test_wrong_names_and_kinds_are_refused() -> None:
    with pytest.raises(UsageError, match="no column 'm'"):
        where("m = 1")
    with pytest.raises(UsageError, match="character 3"):
        where("n = 'x'")


@pytest.mark.parametrize("condition", ["len(l)", "n = ", "n # 3", "l = 1"])
def test_hints_do_not_name_columns_of_dumps(condition: str) -> None:
    with pytest.raises(UsageError) as caught:
        where(condition)

    assert caught.value.hint
    assert "value." not in caught.value.hint


def test_superscripts_and_long_numbers_do_not_end_a_sort() -> None:
    long = "9" * 5000  # int() takes no more than 4300 digits
    texts = [f"x{long}0", "²", None, "x²", "٣", "x10", f"x{long}", "x9"]

    ordered = [texts[at] for at in sorted_by(range(8), texts.__getitem__, is_descending=False)]

    assert ordered == ["x9", "x10", f"x{long}", f"x{long}0", "x²", "²", "٣", None]


@given(st.lists(st.integers(min_value=0)))
def test_lists_and_texts_of_numbers_have_one_order(numbers: list[int]) -> None:
    values = [str(number) for number in numbers]
    lists = [[number] for number in numbers]

    ordered = [
        sorted_by(range(len(numbers)), one.__getitem__, is_descending=False)
        for one in (values, lists)
    ]

    assert ordered[0] == ordered[1]
