"""The escaper: strings from data, as they may reach a person."""

import re

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_INVISIBLE = (
    r"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
"""Letters for which nothing is drawn (Default_Ignorable of Unicode), and marks of direction."""
_CONTROLS = r"\x7f-\x9f\ud800-\udfff"
# Patterns are compiled when they are used first: most runs have nothing to escape.
_HIDDEN = _CONTROLS + _INVISIBLE
_ON_ONE_LINE = rf"[\x00-\x1f{_HIDDEN}]"
_BESIDE_LINE_ENDS = rf"[\x00-\x09\x0b-\x1f{_HIDDEN}]"
_BESIDE_COLORS = rf"\x1b(?!\[[\d;]*m)|[\x00-\x09\x0b-\x1a\x1c-\x1f{_HIDDEN}]"


def escaped(text: str) -> str:
    r"""Return text on one line, without characters that act on a terminal or hide in it.

    Control characters (C0, DEL, C1), marks of direction, letters without width and lone surrogates
    are shown as escapes: `\n`, `\x1b`, `\u202e`. Bytes of file names that are not UTF-8, which
    Python holds as surrogates, are shown as bytes: `\xff`. Backslashes stay as they are.
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_ON_ONE_LINE, _escape, _joined(text))


def escaped_lines(text: str, *, keeps_colors: bool = False) -> str:
    """Return text as `escaped`, with its ends of lines, and with colours if *keeps_colors*."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    beside = _BESIDE_COLORS if keeps_colors else _BESIDE_LINE_ENDS
    return re.sub(beside, _escape, _joined(text))


def escaped_json(text: str) -> str:
    r"""Return JSON with the characters that `escaped` escapes as `\uXXXX`: it is JSON still."""
    import json

    return re.sub(_ON_ONE_LINE, lambda match: json.dumps(match[0])[1:-1], text)


def _joined(text: str) -> str:
    """Return text with the letters that bytes of file names make together."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that no file name has
        return text


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a file name
        return f"\\x{number - 0xDC00:02x}"
    if named := _NAMED.get(character):
        return named
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
