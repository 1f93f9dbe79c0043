"""The command grep."""

import pytest

from kraftops.query.conditions.regex import Searcher, program
from tests.helpers.tools.shell_session import LOG, Shell

ORDERS = "/image/topics/byName/orders"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def test_grep_prints_matching_leaves(shell: Shell) -> None:
    found = shell("grep", '"ord.rs"', "/image/topics/byName", "/image/features")

    assert found.lines == [f'{ORDERS}/name: "orders"']
    assert found.code == 0
    assert shell("grep", "-l", '"ORDERS"', "-i", "/image/topics/byName").lines == [f"{ORDERS}/name"]


def test_grep_searches_the_working_directory(shell: Shell) -> None:
    shell("cd", "/image/features")

    assert shell("grep", "4.3-IV0").lines == ['/image/features/metadataVersion: "4.3-IV0"']

    shell("cd", "/")


@pytest.mark.parametrize(
    ("words", "err"),
    [
        (["nothing of the kind", "/image"], []),
        (["x", "/nope"], ["grep: /nope: no such file or directory. [not-found]"]),
        (["(", "/image"], ["grep: PATTERN: (: `(` without `)`, at character 2 of it [usage]"]),
    ],
)
def test_grep_without_match_fails(shell: Shell, words: list[str], err: list[str]) -> None:
    found = shell("grep", *words)

    assert (found.out, found.err, found.code) == ("", err, 1)


@pytest.mark.parametrize(
    ("pattern", "refusal"),
    [
        (r"(a)\1", r"\1 is not known, at character 5 of it"),
        ("(?=a)", "the only groups are (…) and (?:…), and (?i) at the beginning, at"),
        (r"\ba", r"\b is not known, at character 2 of it"),
    ],
)
def test_what_cannot_be_searched_in_linear_time_is_refused_by_name(
    shell: Shell, pattern: str, refusal: str
) -> None:
    found = shell("grep", pattern, "/image")

    assert found.err[0].startswith(f"grep: PATTERN: {pattern}: {refusal}")
    assert (found.out, found.code) == ("", 1)


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)+$", "(a*)*b", "(.*a){12}$", "^(a?){30}a{30}$"]
)
def test_bombs_take_a_step_for_each_letter(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backtracking search would take more than 2**400 steps: steps are counted."""
    steps = 0
    reached = Searcher.reached

    def counting(self: Searcher, *args: object, **changes: object) -> frozenset[int]:
        nonlocal steps
        steps += 1
        return reached(self, *args, **changes)  # type: ignore[arg-type]

    monkeypatch.setattr(Searcher, "reached", counting)
    text = "a" * 400 + "!"

    assert not Searcher(program(pattern)).finds(text)
    assert 0 < steps <= len(text) + 4
