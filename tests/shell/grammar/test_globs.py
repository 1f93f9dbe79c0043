"""Patterns for a component of a path, as in Kafka's shell."""

from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kraftops.query.conditions.regex import Searcher
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
        ("a.c*", ["a.c"], ["abc"]),
        ("a,b*", ["a,b"], ["a"]),
        ("a}*", ["a}"], ["a"]),
        ("a\n*", ["a\nb"], ["a"]),
    ],
)
def test_pattern_matches_whole_names(
    component: str, matching: list[str], others: list[str]
) -> None:
    for kafka in (False, True):
        pattern = component_pattern(component, kafka=kafka)

        assert pattern
        assert [name for name in matching if not pattern(name)] == []
        assert [name for name in others if pattern(name)] == []


@pytest.mark.parametrize(
    ("component", "matching", "others"),
    [
        ("[a-c]", ["a", "b", "c"], ["", "d", "-", "ab"]),
        ("t[0-9]*", ["t0", "t12"], ["t", "tx"]),
        ("[!a]", ["b", "!", "é"], ["a", ""]),
        ("[^a-c]x", ["dx", "^x"], ["ax", "cx"]),
        ("[]a]", ["]", "a"], ["b", "[]a]"]),
        ("[!]a]", ["b"], ["]", "a"]),
        (r"[a\-c]", ["a", "-", "c"], ["b", "\\"]),
        (r"[\]\[]", ["]", "["], ["\\"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[-a]", ["a", "-"], ["b"]),
        ("[*?{]", ["*", "?", "{"], ["a", ""]),
        ("{[ab],x}y", ["ay", "by", "xy"], ["cy", "[ab]y"]),
        ("[a[b]", ["a", "[", "b"], ["]"]),
        ("[a,b]", ["a", ",", "b"], ["c"]),
        (r"\[a]*", ["[a]", "[a]x"], ["a"]),
    ],
)
def test_classes_match_a_letter_in_our_form(
    component: str, matching: list[str], others: list[str]
) -> None:
    """These are the classes of Kafka's trunk (`GlobComponent.handleBracket`)."""
    pattern = component_pattern(component)

    assert pattern
    assert [name for name in matching if not pattern(name)] == []
    assert [name for name in others if pattern(name)] == []


def test_brackets_are_letters_in_kafkas_form() -> None:
    assert component_pattern("[ab]", kafka=True) is None
    pattern = component_pattern("[ab]*", kafka=True)

    assert pattern
    assert pattern("[ab]x")
    assert not pattern("a")


@pytest.mark.parametrize("end", ["\n", "\r", "\x85", "\u2028", "\u2029"])
def test_wildcards_match_ends_of_lines_in_our_form_only(end: str) -> None:
    for component in ("a*", "a?"):
        ours, kafkas = (component_pattern(component, kafka=kafka) for kafka in (False, True))

        assert ours
        assert kafkas
        assert ours(f"a{end}")
        assert not kafkas(f"a{end}")


@pytest.mark.parametrize(
    "component",
    [
        *("", "abc", r"user(a\\b)", r"a\*b", r"\?", "a,b", "a}", "{a", "{a,{b}}", "a{*", "a\\"),
        *("[", "[ab", "*[", "[]", "[!]", "[z-a]", "[a-", "[a\\", "a]", r"\[a]", "[a]*" * 5_000),
    ],
)
def test_names_are_no_patterns(component: str) -> None:
    """Nor is what has an open or a nested brace, a malformed class, or thousands of wildcards."""
    assert component_pattern(component) is None


Token = str | list["Token"] | list[list["Token"]] | tuple[bool, str]


def ends(tokens: list[object], text: str, starts: set[int]) -> set[int]:
    """Return where a match may end, by where it may start: the plain reference."""
    for token in tokens:
        match token:
            case "*":
                starts = {end for start in starts for end in range(start, len(text) + 1)}
            case "?":
                starts = {start + 1 for start in starts if start < len(text)}
            case (bool(is_negated), str(letters)):
                starts = {
                    start + 1
                    for start in starts
                    if start < len(text) and (text[start] in letters) != is_negated
                }
            case list():
                starts = {end for one in token for end in ends(one, text, starts)}
            case str():
                starts = {start + 1 for start in starts if text[start : start + 1] == token}
    return starts


def written(tokens: list[object]) -> Iterator[str]:
    for token in tokens:
        match token:
            case (bool(is_negated), str(letters)):
                yield f"[{'!' * is_negated}{letters}]"
            case list():
                yield "{" + ",".join("".join(written(one)) for one in token) + "}"
            case _:
                yield str(token)


FLAT = st.lists(
    st.sampled_from([*"abab***?", (False, "ab"), (True, "b"), (True, "ac")]), max_size=8
)
TOKENS = st.lists(
    st.one_of(
        st.sampled_from([*"abc****??", (False, "bc"), (True, "a")]),
        st.lists(FLAT, min_size=1, max_size=3),
    ),
    max_size=9,
)


@given(TOKENS, st.lists(st.text(alphabet="abc\n", max_size=9), min_size=1, max_size=6))
@example([*"a***b***"], ["ab", "aab", "a", "ba"])
def test_patterns_match_as_the_plain_reference(tokens: list[object], texts: list[str]) -> None:
    pattern = component_pattern("".join(written(tokens)))

    for text in texts:
        matches = len(text) in ends(tokens, text, {0})
        if pattern:
            assert pattern(text) == matches, ("".join(written(tokens)), text)
        else:
            assert matches == (text == "".join(written(tokens)))


@pytest.mark.parametrize(
    ("component", "name"),
    [
        ("*a" * 60 + "*b", "a" * 400),
        ("{a,a}" * 60 + "b", "a" * 400),
        ("{a*,*a,aa}" * 40 + "b", "a" * 400),
        ("*" * 4000 + "b", "a" * 400),
        ("*?" * 200, "a" * 199),
        ("{" + ",".join(f"*{number}" for number in range(500)) + "}x", "1" * 400),
    ],
)
@pytest.mark.parametrize("kafka", [False, True])
def test_bombs_take_a_step_for_each_letter(
    component: str, name: str, *, kafka: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Backtracking would take more steps than there are atoms: the steps are counted."""
    steps = 0
    reached = Searcher.reached

    def counting(self: Searcher, *args: object, **changes: object) -> frozenset[int]:
        nonlocal steps
        steps += 1
        return reached(self, *args, **changes)  # type: ignore[arg-type]

    monkeypatch.setattr(Searcher, "reached", counting)

    pattern = component_pattern(component, kafka=kafka)

    assert pattern
    assert not pattern(name)
    assert 0 < steps <= len(name) + 3
