"""Text as Java makes it: decoded UTF-8, JSON strings (Jackson), doubles, paths, hashes."""

from __future__ import annotations

import codecs
import math
import re

from kraftops.uris import is_remote

_ESCAPES = {number: f"\\u{number:04X}" for number in range(0x20)} | {
    ord(char): escape
    for char, escape in {
        '"': '\\"',
        "\\": "\\\\",
        "\b": "\\b",
        "\t": "\\t",
        "\n": "\\n",
        "\f": "\\f",
        "\r": "\\r",
    }.items()
}


def _replace_malformed(error: UnicodeError) -> tuple[str, int]:
    """Replace malformed input as Java does: an encoded surrogate by one U+FFFD, not by more."""
    assert isinstance(error, UnicodeDecodeError)
    data, start = error.object, error.start
    if data[start] == 0xED and data[start + 1 : start + 2] >= b"\xa0" and data[start + 1] < 0xC0:
        third = data[start + 2 : start + 3]
        return "�", start + (3 if b"\x80" <= third < b"\xc0" else 2)
    return "�", error.end


codecs.register_error("kraftops-java", _replace_malformed)


def decode_utf8(raw: bytes) -> str:
    """Return the text of *raw* as Java's `new String(raw, UTF_8)`, with U+FFFD for bad input."""
    return raw.decode("utf-8", "kraftops-java")


def json_string(raw: bytes) -> str:
    """Return UTF-8 bytes as a JSON string in quotes; nothing but what JSON demands is escaped."""
    text = raw.decode("utf-8", "kraftops-java")
    # Printable text without these two needs no escape; most of what is seen here is such.
    if not text.isprintable() or '"' in text or "\\" in text:
        text = text.translate(_ESCAPES)
    return f'"{text}"'


def double_text(number: float) -> str:
    """Return a double as Java's `Double.toString` does, quoted as in JSON where it is no number.

    Plain from 1e-3 to 1e7, else `d.dddEn`; shortest digits, as Java 19 and later find them.
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


def path_text(path: str) -> str:
    """Return a path as `java.io.File` and `Path` keep it: no double slashes, none at the end.

    URIs, which Kafka's tools do not read, stay as they are.
    """
    if is_remote(path):
        return path
    path = re.sub("/+", "/", path)
    return path.rstrip("/") or path[:1]


def string_hash(text: str) -> int:
    """Return Java's `String.hashCode` of the UTF-16 units, as an unsigned int32."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for at in range(0, len(units), 2):
        value = value * 31 + (units[at] << 8 | units[at + 1]) & 0xFFFFFFFF
    return value
