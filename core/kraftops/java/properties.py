"""Files of properties, read and written as by `java.util.Properties`."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kraftops.errors import DecodeError

_BLANK = " \t\f"
_LINE_END = re.compile(r"\r\n|\r|\n")
# A backslash at the end of a file, but not before "\r\n", is an empty key and value.
_LAST_BACKSLASH = r"(?:^|[\r\n])[ \t\f]*\\[\r\n]?\Z"
# A key ends at the first separator that no backslash protects.
_ENTRY = re.compile(r"((?:[^\\=: \t\f]|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = r"(?s)\\(u[0-9a-fA-F]{4}|.)"
_MEANING = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = {
    **{sign: f"\\{sign}" for sign in "\\=:#!"},
    **{meant: f"\\{letter}" for letter, meant in _MEANING.items()},
}
_TO_ESCAPE = r"[\\=:#!]|[^ -~]"


class Property(NamedTuple):
    """A key and its value; *line* is the number of its first line, from 1."""

    key: str
    value: str
    line: int


def properties(data: bytes | str) -> dict[str, Property]:
    r"""Parse the properties of a file, by key; the last of a key counts.

    Bytes are ISO-8859-1, as for `Properties.load` of a stream.

    Raises:
        DecodeError: a `\u` is not followed by four hexadecimal digits.
    """
    by_key = {}
    for line, text in _logical_lines(data if isinstance(data, str) else data.decode("iso-8859-1")):
        match = _ENTRY.fullmatch(text)
        assert match  # every text has a key, though it may be empty
        key, value = (_unescaped(part, line) for part in match.groups())
        by_key[key] = Property(key, value, line)
    return by_key


def properties_bytes(values: Iterable[tuple[str, str]], comments: Iterable[str] = ()) -> bytes:
    """Return a file of *values*, in which all but ASCII is escaped.

    Kafka's tool writes UTF-8, which Java then reads as ISO-8859-1.
    """
    lines = [f"#{comment}" for comment in comments]
    for key, value in values:
        leading = "\\" if value.startswith(" ") else ""
        lines.append(_escaped(key).replace(" ", "\\ ") + "=" + leading + _escaped(value))
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines other than comments, with their numbers, joined with their continuation lines."""
    joined, begun = "", 0
    for number, natural in enumerate(_LINE_END.split(text), 1):
        line = natural.lstrip(_BLANK)
        if not joined and (not line or line[0] in "#!"):
            continue
        if not joined:
            begun = number
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            joined += line[:-1]
        else:
            yield begun, joined + line
            joined, begun = "", 0
    if joined or (begun and re.search(_LAST_BACKSLASH, text)):
        yield begun, joined


def _unescaped(text: str, line: int) -> str:
    def meaning(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[0] != "u":
            return _MEANING.get(escape, escape)
        if len(escape) == 1:
            raise DecodeError(f"line {line}: Malformed \\uxxxx encoding.")
        return chr(int(escape[1:], 16))

    if "\\" not in text:
        return text
    # Java's strings are UTF-16: two escapes may make one character.
    units = re.sub(_ESCAPE, meaning, text).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "surrogatepass")


def _escaped(text: str) -> str:
    def escape(match: re.Match[str]) -> str:
        sign = match[0]
        if sign in _ESCAPED:
            return _ESCAPED[sign]
        units = sign.encode("utf-16-be", "surrogatepass")
        return "".join(
            f"\\u{int.from_bytes(units[pos : pos + 2]):04X}" for pos in range(0, len(units), 2)
        )

    return re.sub(_TO_ESCAPE, escape, text)
