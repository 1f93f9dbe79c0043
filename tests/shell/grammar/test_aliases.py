"""Aliases at the beginning of commands."""

import pytest

from kraftops_shell.grammar.aliases import with_alias, with_aliases

ALIASES = {"l": "ls -l", "ls": "ls /image", "first": "l | head", "twice": "l; l x"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", ""),
        ("pwd", "pwd"),
        ("l x", "ls /image -l x"),
        ("  ls", "  ls /image"),
        ("'l' x", "'l' x"),
        ("cat l", "cat l"),
        ("first -3", "ls /image -l | head -3"),
        ("pwd; l;pwd", "pwd; ls /image -l;pwd"),
        ("pwd > l ; l", "pwd > l ; ls /image -l"),
        ("l | l; l", "ls /image -l | l; l"),
        ("twice > y", "ls /image -l; ls /image -l x > y"),
        (";;l", ";;ls /image -l"),
    ],
)
def test_first_words_are_replaced(line: str, expected: str) -> None:
    assert with_aliases(line, ALIASES) == expected


@pytest.mark.parametrize(
    ("line", "expected"), [("", ""), ("l a|l", "ls -l a|l"), ("pwd l", "pwd l"), (" l", " ls -l")]
)
def test_kafkas_form_has_one_command_a_line(line: str, expected: str) -> None:
    assert with_alias(line, ALIASES) == expected
