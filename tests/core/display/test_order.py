"""The natural order of names."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from kraftops.display.order import in_natural_order


def test_numbers_count_by_value() -> None:
    ordered = ["1", "2", "10", "a", "a-2", "a-10", "a-10-b2", "a-10-b10", "b1", "b01"]
    mixed = Random(1).sample(ordered, len(ordered))

    assert [name for name in in_natural_order(mixed) if name != "b01"] == ordered[:-1]


def test_number_of_thousands_of_digits_is_one() -> None:
    long = "9" * 9000

    assert in_natural_order([f"{long}0", long, "t1"]) == [long, f"{long}0", "t1"]


@given(st.lists(st.integers(0), unique=True))
def test_numbers_are_in_order(numbers: list[int]) -> None:
    assert in_natural_order(map(str, numbers)) == list(map(str, sorted(numbers)))


@given(st.lists(st.text(alphabet="ab-019٣", max_size=6), unique=True))
def test_order_does_not_depend_on_the_order_before(names: list[str]) -> None:
    assert in_natural_order(names) == in_natural_order(names[::-1])
