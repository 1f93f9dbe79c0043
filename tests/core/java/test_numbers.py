"""Numbers by Java's rules."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.java.numbers import double_text, parse_double, parse_integer, to_int32


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("+1", 1),
        ("-1", -1),
        ("007", 7),
        ("32767", 32767),
        ("-32768", -32768),
        ("32768", None),
        ("-32769", None),
        ("", None),
        ("-", None),
        (" 1", None),
        ("1_0", None),
        ("0x1", None),
        ("1.0", None),
        ("9" * 5000, None),
        ("0" * 5000 + "7", 7),
        ("\u0661\uff12", 12),
        ("\U0001d7ce", None),
    ],
)
def test_integer_is_parsed_as_by_java(text: str, number: int | None) -> None:
    assert parse_integer(text, 16) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1.0),
        ("-1.5e3f", -1500.0),
        (".5", 0.5),
        ("5.D", 5.0),
        ("0x1.8p1", 3.0),
        ("-0x1p99999", -math.inf),
        ("Infinity", math.inf),
        ("infinity", None),
        ("0x1", None),
        ("1_0", None),
        ("\u0661", None),
        ("", None),
    ],
)
def test_double_is_parsed_as_by_java(text: str, number: float | None) -> None:
    assert parse_double(text) == number


@given(st.integers(-(1 << 70), 1 << 70))
def test_int_keeps_32_bits(value: int) -> None:
    assert to_int32(value) == struct.unpack(">i", (value % (1 << 32)).to_bytes(4))[0]


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
def test_double_is_shown_as_by_java(number: float, text: str) -> None:
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
