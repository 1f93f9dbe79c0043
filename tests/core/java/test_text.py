"""Text as Java makes it."""

import json
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.java.text import decode_utf8, double_text, json_string, path_text

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
def test_malformed_bytes_become_as_many_marks_as_in_java(raw: bytes, text: str) -> None:
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
def test_json_string_escapes_what_jackson_does(raw: bytes, shown: str) -> None:
    assert json_string(raw) == shown


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (100.0, "100.0"),
        (1024.0, "1024.0"),
        (9999999.0, "9999999.0"),
        (1.0e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (0.001, "0.001"),
        (9.99e-4, "9.99E-4"),
        (1.0e-5, "1.0E-5"),
        (1.0e21, "1.0E21"),
        (1.0e23, "1.0E23"),
        (2.0**63, "9.223372036854776E18"),
        (4.9e-324, "4.9E-324"),
        (-1.7976931348623157e308, "-1.7976931348623157E308"),
        (math.pi, "3.141592653589793"),
        (math.inf, '"Infinity"'),
        (-math.inf, '"-Infinity"'),
        (math.nan, '"NaN"'),
        (struct.unpack(">d", b"\xff\xf8\0\0\0\0\0\1")[0], '"NaN"'),
    ],
)
def test_doubles_are_javas(number: float, text: str) -> None:
    assert double_text(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_name_their_number_and_no_other(number: float) -> None:
    """Digits on both sides of the point; an exponent only outside of 1e-3 to 1e7."""
    text = double_text(number)

    mantissa, _, exponent = text.partition("E")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    assert float(text) == number
    assert text.startswith("-") == (math.copysign(1, number) < 0)
    assert whole.isdigit()
    assert fraction.isdigit()
    assert bool(exponent) == (number != 0 and not 1e-3 <= abs(number) < 1e7)
    assert not exponent or len(whole) == 1


@pytest.mark.parametrize(
    ("path", "shown"),
    [("a//b", "a/b"), ("a/b/", "a/b"), ("/", "/"), ("//", "/"), ("a/../b", "a/../b"), ("", "")],
)
def test_paths_are_shown_as_java_keeps_them(path: str, shown: str) -> None:
    assert path_text(path) == shown
