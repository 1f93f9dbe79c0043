"""Keys: names for the bytes that a terminal sends (ECMA-48, and xterm's sequences of keys)."""

import re
from codecs import getincrementaldecoder

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
    decoder = getincrementaldecoder("utf-8")("surrogateescape")
    text = decoder.decode(data, final=is_all)
    rest = decoder.getstate()[0]
    keys: list[str] = []
    index = 0
    while index < len(text):
        if text[index] != "\x1b":
            if named := _named(text[index]):
                keys.append(named)
            index += 1
        elif sequence := _SEQUENCE.match(text, index):
            index = sequence.end()
            whole = sequence[1] + sequence[2]
            if named := _SEQUENCES.get(whole) or _SEQUENCES.get(sequence[2]):
                keys.append(named)
        elif not is_all and _BEGUN.match(text, index):
            return keys, text[index:].encode("utf-8", "surrogateescape") + rest
        else:
            keys.append("escape")
            index += 1
    return keys, rest


def _named(letter: str) -> str | None:
    if letter in _SINGLE:
        return _SINGLE[letter]
    return letter if letter.isprintable() else None
