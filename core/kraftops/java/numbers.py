"""Numbers by Java's rules: parsed from text, shown as text, and cut to their bits."""

import math
import re

_INTEGER = re.compile(r"[+-]?\d+").fullmatch
_DECIMAL = r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)"
_HEXADECIMAL = r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+)[fFdD]?"
_MOST_DIGITS = 20  # of an int64, and fewer than Python refuses to read


def parse_integer(text: str, bits: int) -> int | None:
    """Parse *text* as `Short.parseShort`, `Integer.parseInt` or `Long.parseLong` does.

    Digits are of any script. None if it is not a number, or one of more than *bits*.
    """
    if len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit():  # as most are
        number = int(text)
    else:
        if not _INTEGER(text) or not (text.isascii() or max(text) <= "\uffff"):
            return None
        digits = text.lstrip("+-").lstrip("0")
        if len(digits) > _MOST_DIGITS:
            return None
        number = int(digits or 0)
        if text[0] == "-":
            number = -number
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def parse_double(text: str) -> float | None:
    """Parse *text* as `Double.parseDouble` does; None if it is not a number."""
    if re.fullmatch(_DECIMAL, text, re.ASCII):
        return float(text.rstrip("fFdD"))
    if not (match := re.fullmatch(_HEXADECIMAL, text, re.ASCII)):
        return None
    try:
        return float.fromhex(match[1])
    except OverflowError:
        return float(f"{text[0]}inf" if text[0] in "+-" else "inf")


def to_int32(value: int) -> int:
    """Return *value* as an int keeps it: the low 32 bits, with their sign."""
    return (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


def double_text(number: float) -> str:
    """Return a double as `Double.toString` does, quoted as in JSON where it is not finite.

    Plain from 1e-3 to 1e7, else `d.dddEn`; shortest digits, as of Java 19 and later.
    """
    if not math.isfinite(number):
        return '"NaN"' if math.isnan(number) else '"Infinity"' if number > 0 else '"-Infinity"'
    sign = "-" if math.copysign(1, number) < 0 else ""
    shortest = repr(abs(number))
    if shortest[1:2] == "e":
        # Java wants two digits, and of those that name this double the nearest: 4.9E-324.
        shortest = f"{abs(number):.1e}"
    mantissa, _, exponent = shortest.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return f"{sign}0.0"
    # The number is 0.DIGITS times ten to the power of *point*.
    point = len(digits) - len(fraction) + int(exponent or 0)
    digits = digits.rstrip("0")
    if not -3 < point <= 7:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
