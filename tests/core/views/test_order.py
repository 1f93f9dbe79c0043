"""Tests of the order of rows."""

from hypothesis import given
from hypothesis import strategies as st

from kraftops.views.order import sorted_by


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
