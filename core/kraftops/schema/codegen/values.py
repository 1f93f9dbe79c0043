"""Render values of variable width as JSON: strings, bytes, arrays of numbers and of UUIDs.

The code that `kraftops.schema.codegen.text` generates calls these functions.
"""

import struct
from binascii import b2a_base64
from collections.abc import Callable
from functools import cache

from kraftops.errors import DecodeError
from kraftops.java.numbers import double_text
from kraftops.java.text import json_string
from kraftops.memo import Memo
from kraftops.uuids import to_text
from kraftops.varint import read_uvarint

UUID_TEXTS: Memo[str] = Memo(to_text)
STRING_TEXTS: Memo[str] = Memo(json_string)
DOUBLE_TEXTS: Memo[str] = Memo(lambda raw: double_text(struct.unpack(">d", raw)[0]))

CODES = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    # The raw bytes: as a key of a memo, the doubles 0.0 and -0.0 are one.
    "float64": "8s",
    "uuid": "16s",
}
"""The `struct` codes that renderers use for types of fixed width."""

INTS = ("int8", "int16", "uint16", "int32", "uint32", "int64")
WIDTHS = {name: struct.calcsize(">" + code) for name, code in CODES.items()}


def base64_text(raw: bytes) -> str:
    """Return bytes as JSON: standard base64, padded, in quotes."""
    return f'"{b2a_base64(raw, newline=False).decode()}"'


def _compact(buffer: bytes, pos: int, nullable: bool) -> tuple[int, int]:
    length, pos = read_uvarint(buffer, pos)
    if length == -0x80000000:
        raise DecodeError("length")
    return _checked(length - 1, nullable, buffer, pos), pos


def _int32(buffer: bytes, pos: int, nullable: bool) -> tuple[int, int]:
    length, pos = struct.unpack_from(">i", buffer, pos)[0], pos + 4
    return _checked(length, nullable, buffer, pos), pos


def _int16(buffer: bytes, pos: int, nullable: bool) -> tuple[int, int]:
    length, pos = struct.unpack_from(">h", buffer, pos)[0], pos + 2
    return _checked(length, nullable, buffer, pos), pos


def _checked(length: int, nullable: bool, buffer: bytes, pos: int) -> int:
    if length > len(buffer) - pos or (length < 0 and not nullable):
        raise DecodeError("length")
    return length


_ReadLength = Callable[[bytes, int, bool], tuple[int, int]]
_Show = Callable[[bytes], str]


def _string_renderer(
    read_length: _ReadLength,
) -> Callable[[bytes, int, bool, _Show], tuple[str, int]]:
    def string(
        buffer: bytes, pos: int, nullable: bool, show: _Show = STRING_TEXTS.__getitem__
    ) -> tuple[str, int]:
        length, pos = read_length(buffer, pos, nullable)
        if length < 0:
            return "null", pos
        if length > 0x7FFF:
            raise DecodeError("string")
        end = pos + length
        return show(buffer[pos:end]), end

    return string


def _bytes_renderer(
    read_length: _ReadLength,
) -> Callable[[bytes, int, bool, _Show], tuple[str, int]]:
    def bytes_(buffer: bytes, pos: int, nullable: bool, show: _Show) -> tuple[str, int]:
        length, pos = read_length(buffer, pos, nullable)
        if length < 0:
            return "null", pos
        end = pos + length
        return show(buffer[pos:end]), end

    return bytes_


@cache
def array_texts(kind: str) -> Memo[str]:
    """Return the texts of arrays of fixed-width elements, by the bytes of the elements."""

    def uuids(raw: bytes) -> str:
        texts = [f'"{UUID_TEXTS[raw[index : index + 16]]}"' for index in range(0, len(raw), 16)]
        return f"[{','.join(texts)}]"

    def numbers(raw: bytes) -> str:
        values = struct.unpack(f">{len(raw) // width}{CODES[kind]}", raw)
        return f"[{','.join(map(str, values))}]"

    width = WIDTHS[kind]
    return Memo(uuids if kind == "uuid" else numbers)


def _fixed_array_renderer(
    read_length: _ReadLength,
) -> Callable[[bytes, int, bool, str], tuple[str, int]]:
    def fixed_array(buffer: bytes, pos: int, nullable: bool, kind: str) -> tuple[str, int]:
        length, pos = read_length(buffer, pos, nullable)
        if length < 0:
            return "null", pos
        end = pos + length * WIDTHS[kind]
        if end > len(buffer):
            raise DecodeError("array")
        return array_texts(kind)[buffer[pos:end]], end

    return fixed_array


_FLEXIBLE: dict[str, object] = {
    "bytes_text": _bytes_renderer(_compact),
    "fixed_array": _fixed_array_renderer(_compact),
    "read_length": _compact,
    "string_text": _string_renderer(_compact),
}
_OLD: dict[str, object] = {
    "bytes_text": _bytes_renderer(_int32),
    "fixed_array": _fixed_array_renderer(_int32),
    "read_length": _int32,
    "string_text": _string_renderer(_int16),
}


def value_renderers(*, is_flexible: bool) -> dict[str, object]:
    """Return the functions of one encoding (KIP-482) under the names that generated code uses.

    All take (buffer, position, whether null is allowed) and return a text, or a length that is
    negative for null, and the position after it.
    """
    return _FLEXIBLE if is_flexible else _OLD
