"""Keys: names for the bytes that a terminal sends (ECMA-48, and xterm's sequences of keys)."""

from __future__ import annotations

import re

_SEQUENCES = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "1;2C": "shift-right",
    "1;2D": "shift-left",
    "1;3C": "shift-right",
    "1;3D": "shift-left",
    "H": "home",
    "F": "end",
    "1~": "home",
    "4~": "end",
    "5~": "page-up",
    "6~": "page-down",
    "7~": "home",
    "8~": "end",
}
_SINGLE = {
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x04": "end-of-input",
}
_SEQUENCE = re.compile(r"\x1b(?:\[|O)([0-?]*)[ -/]*([@-~])")
_BEGUN = re.compile(r"\x1b(?:(?:\[|O)[0-?]*[ -/]*)?\Z")


def keys_of(data: bytes, *, is_all: bool) -> tuple[list[str], bytes]:
    """Return the keys in bytes, and the bytes at the end that may be the beginning of a key.

    A key is a letter, or a name as `page-up`; keys without a name are left out.

    Args:
        data: The bytes.
        is_all: Whether no more bytes have come for a while: then an escape is a key of its own.
    """
    text = data.decode("utf-8", "surrogateescape")
    keys: list[str] = []
    index = 0
    while index < len(text):
        if text[index] != "\x1b":
            rest = text[index:].encode("utf-8", "surrogateescape")
            if not is_all and len(rest) < 4 and _is_part_of_letter(rest):
                return keys, rest
            if named := _named(text[index]):
                keys.append(named)
            index += 1
        elif sequence := _SEQUENCE.match(text, index):
            index = sequence.end()
            whole = sequence[1] + sequence[2]
            if named := _SEQUENCES.get(whole) or _SEQUENCES.get(sequence[2]):
                keys.append(named)
        elif not is_all and _BEGUN.match(text, index):
            return keys, text[index:].encode("utf-8", "surrogateescape")
        else:
            keys.append("escape")
            index += 1
    return keys, b""


def _named(letter: str) -> str | None:
    if letter in _SINGLE:
        return _SINGLE[letter]
    return letter if letter.isprintable() else None


def _is_part_of_letter(data: bytes) -> bool:
    """Tell whether these bytes begin a letter in UTF-8 that has more of them."""
    first = data[0]
    size = 2 if 0xC2 <= first < 0xE0 else 3 if first < 0xF0 else 4
    is_sound = 0xC2 <= first < 0xF5 and all(0x80 <= byte < 0xC0 for byte in data[1:])
    return is_sound and len(data) < size
