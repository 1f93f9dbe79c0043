"""Text by Java's rules."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.java.text import (
    decode_utf8,
    is_white_space,
    json_string,
    path_text,
    sorted_strings,
    split,
    string_hash,
    trim,
    utf16_length,
)

LETTERS = st.text(st.characters(exclude_categories=["Cs"]))


@given(LETTERS)
def test_whole_text_is_kept(text: str) -> None:
    assert decode_utf8(text.encode()) == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param(b"a\xffb", "a�b", id="no lead byte"),
        pytest.param(b"\x80\x80", "��", id="continuations alone"),
        pytest.param(b"\xc0\x80", "��", id="overlong zero"),
        pytest.param(b"\xe2\x82", "�", id="three bytes cut short"),
        pytest.param(b"\xe2\x82A", "�A", id="three bytes broken off"),
        pytest.param(b"\xe0\x80\x80", "���", id="overlong in three"),
        pytest.param(b"\xf0\x9f\x98", "�", id="four bytes cut short"),
        pytest.param(b"\xf0\x9fA", "�A", id="four bytes broken off"),
        pytest.param(b"\xf0\x80\x80\x80", "����", id="overlong in four"),
        pytest.param(b"\xf4\x90\x80\x80", "����", id="beyond the last letter"),
        pytest.param(b"\xf5\x80", "��", id="no such lead byte"),
        pytest.param(b"\xed\xa0\x80", "�", id="high surrogate"),
        pytest.param(b"\xed\xbf\xbf", "�", id="low surrogate"),
        pytest.param(b"\xed\xa0\x80\xed\xb0\x80", "��", id="pair of surrogates"),
        pytest.param(b"\xed\xa0", "�", id="surrogate cut short"),
        pytest.param(b"\xed\xa0A", "�A", id="surrogate broken off"),
        pytest.param(b"\xed", "�", id="surrogate's first byte"),
        pytest.param(b"\xedA", "�A", id="surrogate's first byte and a letter"),
        pytest.param(b"\xed\x9f\xbf", "\ud7ff", id="last before the surrogates"),
        pytest.param(b"\xed\xc0\x80", "���", id="no continuation"),
        pytest.param("😀é".encode(), "😀é", id="not malformed"),
    ],
)
def test_malformed_bytes_become_as_many_replacement_characters_as_in_java(
    raw: bytes, text: str
) -> None:
    assert decode_utf8(raw) == text


@given(st.binary())
def test_any_bytes_have_a_text_without_surrogates(raw: bytes) -> None:
    decode_utf8(raw).encode()


@given(LETTERS)
def test_json_string_is_json_for_the_text(text: str) -> None:
    assert json.loads(json_string(text.encode())) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        pytest.param(b"", '""', id="empty"),
        pytest.param(b'a "b"', r'"a \"b\""', id="quotes"),
        pytest.param(b"\\", r'"\\"', id="backslash"),
        pytest.param(rb"\u0041", r'"\\u0041"', id="what looks like an escape"),
        pytest.param(b"\b\t\n\f\r", r'"\b\t\n\f\r"', id="short escapes"),
        pytest.param(b"\x00\x0b\x1f", r'"\u0000\u000B\u001F"', id="upper-case hex"),
        pytest.param(b"/<>&'\x7f", '"/<>&\'\x7f"', id="nothing else in ascii"),
        pytest.param("é\u2028\u0085😀".encode(), '"é\u2028\u0085😀"', id="nor beyond"),
        pytest.param(b"\xff", '"�"', id="malformed"),
        pytest.param(b'\x1b\xff"', r'"\u001B�\""', id="all at once"),
    ],
)
def test_json_string_is_escaped_as_by_jackson(raw: bytes, shown: str) -> None:
    assert json_string(raw) == shown


@pytest.mark.parametrize(
    ("path", "shown"),
    [("a//b", "a/b"), ("a/b/", "a/b"), ("/", "/"), ("//", "/"), ("a/../b", "a/../b"), ("", "")],
)
def test_paths_are_shown_as_java_keeps_them(path: str, shown: str) -> None:
    assert path_text(path) == shown


def test_trim_removes_controls_and_spaces_but_no_other_white_space() -> None:
    assert trim("\x00\t \x1f a b\u00a0\n") == "a b\u00a0"


def test_no_break_spaces_and_next_line_are_no_white_space() -> None:
    letters = " \t\u2003\u3000\x85\u00a0\u2007\u202fx"

    assert [letter for letter in letters if is_white_space(letter)] == list(" \t\u2003\u3000")


@pytest.mark.parametrize(
    ("text", "parts"),
    [("a,b", ["a", "b"]), (",a,,b,,", ["", "a", "", "b"]), (",,", []), ("a", ["a"])],
)
def test_split_drops_empty_parts_at_the_end_only(text: str, parts: list[str]) -> None:
    assert split(text, ",") == parts


@pytest.mark.parametrize(("text", "length"), [("", 0), ("é", 1), ("a😀", 3), ("\ud800", 1)])
def test_length_counts_utf_16_units(text: str, length: int) -> None:
    assert utf16_length(text) == length


@pytest.mark.parametrize(
    ("text", "number"), [("", 0), ("a", 97), ("orders", 0xC3DF62E5), ("😀", 0x1B0D63)]
)
def test_hash_is_of_utf_16_units(text: str, number: int) -> None:
    assert string_hash(text) == number


def test_order_is_by_utf_16_units() -> None:
    """Letters beyond the basic plane come before the last letters of it."""
    assert sorted_strings(["\uff5e", "\U0001f600", "b", "B", "10", "2"]) == [
        *("10", "2", "B", "b", "\U0001f600", "\uff5e"),
    ]
