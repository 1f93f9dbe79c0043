"""Text by Java's rules: decoded UTF-8, JSON strings (Jackson), paths, order, and hashes."""

import codecs
import re
from collections.abc import Iterable

from kraftops.uris import is_remote

_TRIMMED = "".join(map(chr, range(0x21)))
_NO_WHITE_SPACE = "\x85\u00a0\u2007\u202f"  # in Java; in Python it is
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
    # Most text is printable without these two characters, and needs no escape.
    if not text.isprintable() or '"' in text or "\\" in text:
        text = text.translate(_ESCAPES)
    return f'"{text}"'


def path_text(path: str) -> str:
    """Return a path as `java.io.File` and `Path` keep it: no double slashes, none at the end.

    URIs and names of logs that are not files, which Kafka's tools do not read, stay as they are.
    """
    if is_remote(path) or type(path) is not str:
        return path
    if "//" in path:
        path = re.sub("/+", "/", path)
    return path.rstrip("/") or path[:1]


def trim(text: str) -> str:
    """Return *text* as `String.trim` does: without controls and spaces at its ends."""
    return text.strip(_TRIMMED)


def is_white_space(letter: str) -> bool:
    """Tell whether a character is white space by `Character.isWhitespace`."""
    return letter.isspace() and letter not in _NO_WHITE_SPACE


def split(text: str, separator: str) -> list[str]:
    """Return parts as `String.split` does, without empty parts at the end."""
    parts = text.split(separator)
    while parts and not parts[-1]:
        parts.pop()
    return parts


def utf16_length(text: str) -> int:
    """Return the length of *text* as `String.length` does, in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def sorted_strings(texts: Iterable[str]) -> list[str]:
    """Return strings in the order of `String.compareTo`, by UTF-16 units."""
    strings = list(texts)
    if all(map(str.isascii, strings)):
        return sorted(strings)
    return sorted(strings, key=lambda text: text.encode("utf-16-be", "surrogatepass"))


def string_hash(text: str) -> int:
    """Return `String.hashCode` of the UTF-16 units, as an unsigned int32."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = value * 31 + (high << 8 | low) & 0xFFFFFFFF
    return value
