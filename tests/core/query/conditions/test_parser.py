"""The language of conditions: what its texts stand for, and which are refused, with the place."""

import re

import pytest

from kraftops.errors import UsageError
from kraftops.query.conditions.parser import parse_condition
from kraftops.query.conditions.syntax import (
    And,
    Compare,
    Condition,
    Contains,
    IsNull,
    Length,
    Literal,
    Matches,
    Not,
    OneOf,
    Or,
    Path,
)

LEADER = Path(("value", "leader"))
IS_3 = Compare(LEADER, "=", Literal(3))
LENGTH, FIRST = Length(Path(("value", "isr"))), Path(("value", "isr", "0"))
CONTROL = Compare(Path(("control",)), "=", Literal(value=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("value.leader = 3", IS_3),
        ("value.leader=3", IS_3),
        (" ( value.leader\t=\n3 ) ", IS_3),
        ("value.leader = -1", Compare(LEADER, "=", Literal(-1))),
        ("value.leader >= 1.5e3", Compare(LEADER, ">=", Literal(1500.0))),
        ("3 != value.leader", Compare(Literal(3), "!=", LEADER)),
        ("key = 'it''s'", Compare(Path(("key",)), "=", Literal("it's"))),
        ('key = "a ""b"""', Compare(Path(("key",)), "=", Literal('a "b"'))),
        ("key = ''", Compare(Path(("key",)), "=", Literal(""))),
        ("control", CONTROL),
        ("not control", Not(CONTROL)),
        ("NOT control AND control", And((Not(CONTROL), CONTROL))),
        ("control or control and control", Or((CONTROL, And((CONTROL, CONTROL))))),
        ("(control or control) and control", And((Or((CONTROL, CONTROL)), CONTROL))),
        ("value.leader is null", IsNull(LEADER)),
        ("value.leader is not null", Not(IsNull(LEADER))),
        ("value.leader in (3)", OneOf(LEADER, (Literal(3),))),
        ("value.leader not in (3, 'a')", Not(OneOf(LEADER, (Literal(3), Literal("a"))))),
        ("3 in value.isr", Contains(Literal(3), Path(("value", "isr")))),
        ("key ~ '^a'", Matches(Path(("key",)), "^a")),
        ("key !~ '^a'", Not(Matches(Path(("key",)), "^a"))),
        (
            "len(value.isr) < len(value.replicas)",
            Compare(Length(Path(("value", "isr"))), "<", Length(Path(("value", "replicas")))),
        ),
        (
            "value.isr = [3]",
            And((Compare(LENGTH, "=", Literal(1)), Compare(FIRST, "=", Literal(3)))),
        ),
        ("value.isr != []", Not(And((Compare(LENGTH, "=", Literal(0)),)))),
        (
            "only(value.isr, 3)",
            And((Compare(LENGTH, "<=", Literal(1)), OneOf(FIRST, (Literal(3),)))),
        ),
        ("headers.trace-id is null", IsNull(Path(("headers", "trace-id")))),
        ("headers.'a.b ''c'''.0 is null", IsNull(Path(("headers", "a.b 'c'", "0")))),
    ],
)
def test_texts_stand_for_conditions(text: str, expected: Condition) -> None:
    assert parse_condition(text) == expected


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("", 1, "a value is expected, not the end"),
        ("value.leader", 1, None),
        ("value.leader = ", 16, "a value is expected, not the end"),
        ("value.leader == 3", 15, "a value is expected, not ="),
        ("value.leader = 3 4", 18, "the end, `and` or `or` is expected, not 4"),
        ("value.leader = 3)", 17, "the end, `and` or `or` is expected, not )"),
        ("(value.leader = 3", 18, "`)` is expected, not the end"),
        ("key = 'a", 7, "the quote is not closed"),
        ("key = a b", 9, "the end"),
        ("key ; 3", 5, "';' is not expected"),
        ("key ~ 3", 7, "a pattern is expected"),
        ("key ~ '('", 7, "the pattern '(': `(` without `)`, at character 2 of it"),
        ("key is 3", 8, "`null` is expected, not 3"),
        ("key = null", 7, "a value is expected, not null"),
        ("key in (key)", 9, "a value is expected, not key"),
        ("key in 3", 8, "a list is expected"),
        ("key not = 3", 9, "`in` is expected"),
        ("3", 2, "a comparison is expected, not the end"),
        ("len(3) = 1", 5, "len() takes a list"),
        ("value.isr < [3]", 11, "a list can only be compared with = and !="),
        ("value.isr = [3", 15, "`]` is expected"),
        ("only(3, 3)", 6, "only() begins with a list"),
        ("only(value.isr)", 15, "`,` is expected"),
        ("offset = 1e999", 10, "1e999 is too large"),
        ("and", 1, "a value is expected, not and"),
    ],
)
def test_other_texts_are_refused_with_the_place(text: str, place: int, reason: str | None) -> None:
    if reason is None:
        assert parse_condition(text)
        return
    with pytest.raises(UsageError) as caught:
        parse_condition(text)

    assert caught.value.message.startswith(f"in the condition {text!r}, at character {place}: ")
    assert reason in caught.value.message


@pytest.mark.parametrize("lead", ["(", "not "])
def test_deep_nesting_is_refused(lead: str) -> None:
    with pytest.raises(UsageError, match="nested more than 64 times"):
        parse_condition(lead * 5000 + "control")


def test_long_conditions_are_not_nested() -> None:
    text = " or ".join(f"offset = {number}" for number in range(5000))

    assert len(getattr(parse_condition(text), "parts", ())) == 5000


def test_integers_beyond_64_bits_are_doubles() -> None:
    assert parse_condition(f"offset < {1 << 63}") == Compare(
        Path(("offset",)), "<", Literal(float(1 << 63))
    )


def test_hint_quotes_the_text_that_looks_like_a_column() -> None:
    with pytest.raises(UsageError) as caught:
        parse_condition("key in (abc)")

    assert caught.value.hint == "text is quoted: 'abc'"
    assert re.search("character 9", caught.value.message)
