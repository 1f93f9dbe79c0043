"""Patterns for a component of a path, as in Kafka's shell."""

import pytest

from kraftops_shell.grammar.globs import component_pattern


@pytest.mark.parametrize(
    ("component", "matching", "others"),
    [
        ("*", ["", "a", ".x", "a b"], []),
        ("a*", ["a", "ab"], ["b", "ba"]),
        ("*a*", ["a", "bab"], ["b"]),
        ("?", ["a", "*"], ["", "ab"]),
        ("a?c", ["abc", "a?c"], ["ac"]),
        ("{a,b}", ["a", "b"], ["", "a,b", "c"]),
        ("x{a,}y", ["xay", "xy"], ["xby"]),
        ("{a*,?b}", ["a", "abc", "xb"], ["b"]),
        ("{a}", ["a"], ["{a}"]),
        (r"\**", ["*", "*x"], ["x"]),
        (r"a\?*", ["a?", "a?b"], ["ab"]),
        (r"\\*", ["\\", "\\a"], ["a"]),
        ("[ab]*", ["[ab]", "[ab]x"], ["a"]),
        ("a.c*", ["a.c"], ["abc"]),
        ("a,b*", ["a,b"], ["a"]),
        ("a}*", ["a}"], ["a"]),
        ("a\n*", ["a\n"], ["a"]),
    ],
)
def test_pattern_matches_whole_names(
    component: str, matching: list[str], others: list[str]
) -> None:
    pattern = component_pattern(component)

    assert pattern
    assert [name for name in matching if not pattern.fullmatch(name)] == []
    assert [name for name in others if pattern.fullmatch(name)] == []


@pytest.mark.parametrize(
    "component",
    ["", "abc", r"user(a\\b)", r"a\*b", r"\?", "[ab]", "a,b", "a}", "{a", "{a,{b}}", "a{*", "a\\"],
)
def test_names_are_no_patterns(component: str) -> None:
    """Nor is what has an open or a nested brace."""
    assert component_pattern(component) is None
