"""Regular expressions: what they find, as Python's do, in linear time."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kraftops.query.conditions.regex import PatternError, found_in, program

EVIL = (
    "(a+)+$",
    "(a*)*b",
    "(a|a)*b",
    "(a|aa)+$",
    "(.*)*x",
    "a?" * 30 + "a" * 30 + "b",
    "(a+){20}b",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(x+x+)+y",
    "((a?){30}){10}b",
)
"""Patterns that take exponential time where a search goes back."""


@pytest.mark.parametrize("pattern", EVIL)
def test_evil_patterns_take_time_that_grows_as_the_text(pattern: str) -> None:
    times = []
    for size in (20_000, 200_000):
        start = time.process_time()
        assert not found_in(pattern, "a" * size + "!")
        times.append(time.process_time() - start)

    assert times[1] < 40 * max(times[0], 0.005)


_LETTERS = st.sampled_from("ab0_ \n.-é日")
_ATOMS = st.one_of(
    _LETTERS.map(re.escape),
    st.sampled_from(
        [r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", ".", "[ab]", "[^a]", "[a-c0]", r"[\d_]"]
    ),
    st.sampled_from(["[^\\n]", "^", "$", r"\n", r"\x61", r"[]a]", "[a-]", r"[^\w]"]),
)
_REPEATS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "{0}"])


def _joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeated = st.tuples(parts, _REPEATS).map(
        lambda pair: pair[0] + ("" if pair[0] in ("^", "$") else pair[1])
    )
    sequence = st.lists(repeated, max_size=4).map("".join)
    return st.lists(sequence, min_size=1, max_size=3).map("|".join).map("({})".format)


_PATTERNS = st.recursive(_ATOMS, _joined, max_leaves=8)


@settings(max_examples=300)
@given(_PATTERNS, st.text(_LETTERS, max_size=8))
def test_same_as_python_finds(pattern: str, text: str) -> None:
    expected = re.search(pattern.replace("$", r"\Z"), text, re.ASCII) is not None

    assert found_in(pattern, text) is expected


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("", "", True),
        ("^$", "", True),
        ("$^", "", True),
        ("^$", "a", False),
        ("a$", "a\n", False),
        ("(?i)ÀB[c-d]", "xàbD", True),
        ("(?i)[^A]", "a", False),
        ("^(?:a|b)+$", "abba", True),
        (r"\u65e5\U0001f600\x41", "日😀A", True),
        (r"\.\[\{\/\-", ".[{/-", True),
        ("]}", "]}", True),
        ("a||b", "", True),
        ("[日-本]", "月", True),
    ],
)
def test_details(pattern: str, text: str, expected: bool) -> None:
    assert found_in(pattern, text) is expected


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "`(` without `)`, at character 2"),
        (")", "`)` without `(`, at character 1"),
        ("[a", "`[` without `]`, at character 3"),
        ("[b-a]", "the range of characters is empty"),
        ("[[:alpha:]]", "`[` in a class"),
        ("*a", "nothing is before '*', at character 1"),
        ("a**", "a repetition of a repetition"),
        ("a{2", "is followed by a count"),
        ("a{3,2}", "the count {3,2} is empty"),
        ("a{2000}", "more than 1000 steps"),
        ("((a{50}){50}){50}", "more than 1000 steps"),
        ("a" * 2000, "more than 1000 steps"),
        ("(" * 5000, "nested too deep"),
        (r"(a)\1", "\\1 is not known, at character 5"),
        (r"\bword", "\\b is not known"),
        ("(?=a)", "the only groups are"),
        ("(?P<n>a)", "the only groups are"),
        ("a(?i)", "the only groups are"),
        ("\\", "\\ is not known"),
    ],
)
def test_other_patterns_are_refused(pattern: str, reason: str) -> None:
    with pytest.raises(PatternError) as caught:
        program(pattern)

    assert reason in str(caught.value)
