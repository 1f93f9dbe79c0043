"""The outcomes of conditions: SQL's nulls, and sets of outcomes that leave out no possible one."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.query.conditions.outcomes import FALSE, NULL, TRUE, matches, outcomes_of, value_at
from kraftops.query.conditions.parser import parse_condition

RECORD: dict[str, Any] = {
    "name": "orders",
    "number": 3,
    "share": 2.5,
    "open": True,
    "none": None,
    "isr": [1, 2],
    "replicas": (1, 2, 3),
    "empty": [],
    "odd": [1, None],
    "inner": {"list": [{"id": 7}]},
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("number = 3", TRUE),
        ("number != 3", FALSE),
        ("number > 2.9 and number < 3.1", TRUE),
        ("share = 2.5", TRUE),
        ("name < 'p'", TRUE),
        ("name ~ '^ord'", TRUE),
        ("name !~ '^ord'", FALSE),
        ("open", TRUE),
        ("none = 3", NULL),
        ("not none = 3", NULL),
        ("none is null", TRUE),
        ("missing is null", TRUE),
        ("missing.x.y is null", TRUE),
        ("name = 3", NULL),
        ("open = 1", NULL),
        ("none ~ 'a'", NULL),
        ("isr = 1", NULL),
        ("number in (1, 3)", TRUE),
        ("number in (1, 2)", FALSE),
        ("number in (1, 'a')", NULL),
        ("none in (1, 3)", NULL),
        ("2 in isr", TRUE),
        ("3 in isr", FALSE),
        ("3 in empty", FALSE),
        ("1 in odd", TRUE),
        ("3 in odd", NULL),
        ("3 in none", NULL),
        ("len(isr) < len(replicas)", TRUE),
        ("len(empty) = 0", TRUE),
        ("len(name) = 6", NULL),
        ("isr.1 = 2", TRUE),
        ("isr.2 = 2", NULL),
        (f"isr.{'9' * 5000} = 2", NULL),
        ("inner.list.0.id = 7", TRUE),
        ("none = 3 and number = 3", NULL),
        ("none = 3 and number = 4", FALSE),
        ("number = 4 and none = 3", FALSE),
        ("none = 3 or number = 3", TRUE),
        ("none = 3 or number = 4", NULL),
        ("not (none = 3 or number = 4)", NULL),
    ],
)
def test_outcome_of_a_record(text: str, expected: int) -> None:
    condition = parse_condition(text)

    assert outcomes_of(condition)(lambda names: (value_at(RECORD, names),)) == expected
    assert matches(condition, RECORD) is (expected == TRUE)


_TESTS = [f"{name} = {value}" for name in "abc" for value in (1, 2)]
_TESTS += [f"{name} is null" for name in "abc"] + ["a < b", "b in (1, 3)"]
_CONDITIONS = st.recursive(
    st.sampled_from(_TESTS),
    lambda inner: st.one_of(
        inner.map("not ({})".format),
        st.tuples(inner, inner).map(" and ".join).map("({})".format),
        st.tuples(inner, inner).map(" or ".join).map("({})".format),
    ),
    max_leaves=6,
)
_CANDIDATES = st.one_of(
    st.none(), st.lists(st.sampled_from([1, 2, 3, None]), min_size=1, max_size=3).map(tuple)
)


@given(_CONDITIONS, st.fixed_dictionaries(dict.fromkeys("abc", _CANDIDATES)))
def test_sets_of_outcomes_have_each_possible_one(
    text: str, candidates: dict[str, tuple[Any, ...] | None]
) -> None:
    """So a row that cannot come out true is never lost."""
    outcomes = outcomes_of(parse_condition(text))
    found = outcomes(lambda names: candidates[names[0]])

    for values in product(
        *((1, 2, 3, None) if each is None else each for each in candidates.values())
    ):
        known = dict(zip(candidates, values, strict=True))
        assert outcomes(lambda names, known=known: (known[names[0]],)) & found  # type: ignore[misc]
