"""The text of a condition stands for the same condition."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.query.conditions.parser import parse_condition
from kraftops.query.conditions.syntax import all_of, conjuncts, path_text, text_of
from tests.helpers.engine.random_conditions import condition_of

ROW = {
    "offset": 7,
    "kind": "metadata",
    "control": False,
    "key": None,
    "value": {"name": 'it\'s "a" 日', "isr": [1, 2], "x y": {"é": 1.5, "": True}},
    "headers": [{"key": "a.b", "value": "eA=="}],
}


@given(st.integers(0, 1 << 40))
def test_text_of_a_condition_is_parsed_to_the_same(seed: int) -> None:
    condition = condition_of(Random(seed), ROW)

    assert parse_condition(text_of(condition)) == condition


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("control", 1),
        ("control and offset = 1", 2),
        ("control and (offset = 1 and key is null)", 3),
        ("control or offset = 1", 1),
    ],
)
def test_conditions_that_must_all_hold(text: str, parts: int) -> None:
    condition = parse_condition(text)
    found = conjuncts(condition)

    assert len(found) == parts
    joined = all_of(found)
    assert joined is not None
    assert parse_condition(text_of(joined)) == joined


def test_no_conditions() -> None:
    assert conjuncts(None) == []
    assert all_of([]) is None


def test_names_in_a_path_are_quoted_where_needed() -> None:
    assert path_text(("headers", "trace-id", "a b", "")) == "headers.trace-id.'a b'.''"
