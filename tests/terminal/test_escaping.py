"""The escaper of strings from data."""

import pytest

from kraftops_terminal.escaping import escaped, escaped_lines

HOSTILE = {
    "\x1b]0;title\x07": "\\x1b]0;title\\x07",
    "\x9b2J": "\\x9b2J",
    "\x7f": "\\x7f",
    "two\nlines\r\t": "two\\nlines\\r\\t",
    "\u202egnp.exe": "\\u202egnp.exe",
    "\u2066isolated\u2069": "\\u2066isolated\\u2069",
    "\ud800lone": "\\ud800lone",
    "zero\u200bwidth\ufeff": "zero\\u200bwidth\\ufeff",
    "\U000e0041tag": "\\U000e0041tag",
    "hidden\U000e0100 in\ufe00 letters\u180b": "hidden\\U000e0100 in\\ufe00 letters\\u180b",
    "name\udcff": "name\\xff",
}


@pytest.mark.parametrize(("text", "shown"), HOSTILE.items())
def test_what_acts_on_a_terminal_or_hides_is_shown(text: str, shown: str) -> None:
    assert escaped(text) == shown


@pytest.mark.parametrize("text", ["plain é", "日本語", "e\u0301", "C:\\path", "👍", "שלום", ""])
def test_other_letters_stay(text: str) -> None:
    assert escaped(text) == text
    assert escaped_lines(text) == text


def test_bytes_of_file_names_are_letters_where_they_can_be() -> None:
    assert escaped("é".encode().decode("ascii", "surrogateescape")) == "é"
    assert escaped("\udcc3\ud800") == "\\xc3\\ud800"


def test_lines_keep_their_ends() -> None:
    assert escaped_lines("one\n\ttwo\x1b[2J\n") == "one\n\\ttwo\\x1b[2J\n"
    assert escaped_lines("one\ntwo\n") == "one\ntwo\n"
