"""Expansion of earlier lines; JLine 3.30.4 printed the expected lines."""

import pytest

from kraftops_shell.session.expansion import expanded
from kraftops_shell.session.history import History

LINES = ("pwd", "ls /image", "cat /local/version")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("!!", "cat /local/version"),
        ("!! x", "cat /local/version x"),
        ("!1", "pwd"),
        ("!2", "ls /image"),
        ("!-1", "cat /local/version"),
        ("!-3", "pwd"),
        ("ls !1", "ls pwd"),
        ("ls !1x y", "ls pwd y"),
        ("!p", "pwd"),
        ("!ls", "ls /image"),
        ("!?imag?", "ls /image"),
        ("!?imag? x", "ls /image x"),
        ("!$", "/local/version"),
        ("ls !$ x", "ls /local/version x"),
        ("ls !#", "ls ls "),
        ("^cat^ls", "ls /local/version"),
        ("^cat^ls^", "ls /local/version"),
        ("^nope^ls", "cat /local/version"),
        ("ls \\!1", "ls \\!1"),
        ("ls '!1'", "ls '!1'"),
        ('ls "!1"', 'ls "pwd'),
        ("ls ! x", "ls ! x"),
        ("ls !", "ls !"),
        ("!99", "!99"),
        ("!0", "!0"),
        ("!-", "!-"),
        ("!12345678901", "!12345678901"),
        ("!nope", "!nope"),
        ("!?nope", "!?nope"),
        ("ls ^a^b", "ls ^a^b"),
        ("^a", "^a"),
        ("\\u0041!1", "\\u0041!1"),
        ("\\u0041x!1", "\\u0041xpwd"),
        ("", ""),
    ],
)
def test_line_stands_for_others(line: str, meant: str) -> None:
    assert expanded(line, History(lines=LINES)) == meant


@pytest.mark.parametrize("line", ["!!", "!$", "!1", "!-1", "!p", "^a^b"])
def test_nothing_is_put_in_before_the_first_line(line: str) -> None:
    assert expanded(line, History()) == line
