"""JSON for a terminal."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops_terminal.json_text import leaf_text
from tests.helpers.tree.small_trees import leaf

LONG = {
    "name": "orders",
    "replicas": [1, 2, 3],
    "directories": ["A" * 22, "B" * 22, "C" * 22, "D" * 22],
    "nested": [{"host": "localhost", "port": 9092}, {}],
    "none": None,
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=30,
)


def test_short_values_stay_on_one_line() -> None:
    show = leaf_text(is_pretty=True, has_color=False)

    assert show(leaf({"a": 1, "b": [True, None, "x"]})) == '{"a": 1, "b": [true, null, "x"]}'
    assert show(leaf("text")) == '"text"'


def test_numbers_that_json_does_not_have_are_texts() -> None:
    show = leaf_text(is_pretty=True, has_color=False)

    assert show(leaf({"a": float("inf"), "b": 0.5})) == '{"a": "Infinity", "b": 0.5}'


def test_long_values_are_indented() -> None:
    show = leaf_text(is_pretty=True, has_color=False)

    assert show(leaf(LONG)).splitlines() == [
        "{",
        '  "name": "orders",',
        '  "replicas": [1, 2, 3],',
        '  "directories": [',
        *[f'    "{letter * 22}"{"," if letter != "D" else ""}' for letter in "ABCD"],
        "  ],",
        '  "nested": [{"host": "localhost", "port": 9092}, {}],',
        '  "none": null',
        "}",
    ]


def test_json_for_programs_has_no_blanks() -> None:
    show = leaf_text(is_pretty=False, has_color=False)

    assert show(leaf({"a": [1, 2]})) == '{"a":[1,2]}'


def test_keys_and_kinds_of_values_have_colours() -> None:
    show = leaf_text(is_pretty=False, has_color=True)

    assert show(leaf({"a": ["x", 1, None]})) == (
        '{\x1b[1;34m"a"\x1b[0m:[\x1b[32m"x"\x1b[0m,\x1b[36m1\x1b[0m,\x1b[33mnull\x1b[0m]}'
    )


@pytest.mark.parametrize("is_pretty", [False, True])
@pytest.mark.parametrize("has_color", [False, True])
@given(VALUES)
def test_every_form_is_json_of_the_value(is_pretty: bool, has_color: bool, value: object) -> None:
    text = leaf_text(is_pretty=is_pretty, has_color=has_color)(leaf(value))

    assert json.loads(re.sub(r"\x1b\[[0-9;]*m", "", text)) == value
