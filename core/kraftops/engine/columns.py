"""The conversion of rows to columns in Arrow's layout, and back, without Arrow."""

from __future__ import annotations

from array import array
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise, repeat
from operator import itemgetter
from typing import Any

from kraftops.engine.scan_contract import Column, Columns
from kraftops.query.row import COLUMNS, TYPES, Row
from kraftops.records.internal_topics import USER
from kraftops.records.long_text import LongText
from kraftops.records.meaning import BASE64, base64_of

_CODES = {"int64": "q", "int32": "i", "int16": "h", "bool_": "?"}
_KINDS = {name: _CODES[kind] for kind, names in TYPES.items() for name in names}
HEADERS = "headers"
HEADER_KEYS, HEADER_VALUES = "headers.key", "headers.value"
"""The columns that the offsets of `headers` lead into."""
_DEFAULTS = Row("", None)
_ENCODINGS = {"key": "keyEncoding", "value": "valueEncoding"}


def columns_of(rows: Sequence[Row], names: Iterable[str]) -> Columns:
    """Turn rows into columns, with bytes and offsets where Arrow has them."""
    columns: Columns = {}
    for name in names:
        values: Sequence[Any] = list(map(itemgetter(COLUMNS.index(name)), rows))
        if name == HEADERS:
            pairs = list(chain.from_iterable(values))
            columns[name] = Column(b"", _offsets(map(len, values)))
            columns[HEADER_KEYS] = _texts([key.encode() for key, _ in pairs])
            columns[HEADER_VALUES] = _texts([value for _, value in pairs])
        elif name in _KINDS:
            columns[name] = _numbers(values, _KINDS[name])
        elif name in _ENCODINGS:
            encodings = map(itemgetter(COLUMNS.index(_ENCODINGS[name])), rows)
            columns[name] = _texts(list(map(_bytes, rows, values, encodings)))
        elif name in _ENCODINGS.values():
            kept = [
                None if row.kind == USER else text for row, text in zip(rows, values, strict=True)
            ]
            columns[name] = _texts([None if text is None else text.encode() for text in kept])
        else:
            columns[name] = _texts([None if value is None else _utf8(value) for value in values])
    return columns


def rows_of(columns: Columns, count: int) -> Iterator[Row]:
    """Yield the *count* rows of columns; an absent column has its default in each row."""
    values = {
        name: _values(columns, name, count) if name in columns else repeat(default, count)
        for name, default in zip(COLUMNS, _DEFAULTS, strict=True)
    }
    for name, encoding in _ENCODINGS.items():
        if name in columns and encoding in columns:
            raw = _text_values(columns[name], bytes)
            values[encoding] = list(map(_encoding, raw, values[encoding]))
    return map(Row._make, zip(*values.values(), strict=True))


def _bytes(row: Row, text: str | None, encoding: str | None) -> bytes | None:
    """Return a key or value as bytes: of users the record's own, of others the text."""
    if text is None:
        return None
    raw = _utf8(text)
    return b64decode(raw) if row.kind == USER and encoding == BASE64 else raw


def _text(raw: bytes) -> str:
    """Return bytes as text if they are UTF-8, else as base64."""
    return raw.decode() if _is_text(raw) else base64_of(raw)


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _encoding(raw: bytes | None, encoding: str | None) -> str | None:
    return encoding if raw is None or _is_text(raw) else BASE64


def _utf8(text: str) -> bytes:
    if isinstance(text, LongText):
        return b"".join(piece.encode() for piece in text.pieces())
    return text.encode()


def _numbers(values: Sequence[Any], code: str) -> Column:
    if code == "?":
        return Column(_bits(map(bool, values)), None, _valid(values))
    numbers = array(code, [value or 0 for value in values])
    return Column(_little_endian(numbers), None, _valid(values))


def _texts(values: Sequence[bytes | None]) -> Column:
    texts = [value or b"" for value in values]
    return Column(b"".join(texts), _offsets(map(len, texts)), _valid(values))


def _offsets(sizes: Iterable[int]) -> bytes:
    return _little_endian(array("i", accumulate(sizes, initial=0)))


def _little_endian(numbers: array[int]) -> bytes:
    if numbers.itemsize > 1 and array("h", [1]).tobytes()[0] != 1:
        numbers.byteswap()
    return numbers.tobytes()


def _valid(values: Sequence[Any]) -> bytes | None:
    return _bits(value is not None for value in values) if None in values else None


def _bits(flags: Iterable[bool]) -> bytes:
    """Return flags as bits, the first as the lowest of the first byte."""
    digits = "".join("1" if flag else "0" for flag in flags)
    return int(digits[::-1] or "0", 2).to_bytes((len(digits) + 7) // 8, "little")


def _flags(bits: bytes, count: int) -> list[bool]:
    number = int.from_bytes(bits, "little")
    return [digit == "1" for digit in f"{number:0{count}b}"[::-1][:count]]


def _values(columns: Columns, name: str, count: int) -> Sequence[Any]:
    column = columns[name]
    if name == HEADERS:
        keys = _text_values(columns[HEADER_KEYS], bytes.decode)
        pairs = list(zip(keys, _text_values(columns[HEADER_VALUES], bytes), strict=True))
        ends = _array("i", column.offsets or b"")
        return [tuple(pairs[start:end]) for start, end in pairwise(ends)]
    if name not in _KINDS:
        return _text_values(column, _text if name in _ENCODINGS else bytes.decode)
    code = _KINDS[name]
    values = _flags(column.data, count) if code == "?" else _array(code, column.data)
    return _where_valid(values, column)


def _text_values(column: Column, convert: Callable[[bytes], Any]) -> Sequence[Any]:
    ends = _array("i", column.offsets or b"")
    texts = [convert(column.data[start:end]) for start, end in pairwise(ends)]
    return _where_valid(texts, column)


def _where_valid(values: Sequence[Any], column: Column) -> Sequence[Any]:
    if column.valid is None:
        return values
    flags = _flags(column.valid, len(values))
    return [value if flag else None for value, flag in zip(values, flags, strict=True)]


def _array(code: str, data: bytes) -> array[int]:
    numbers = array(code, data)
    if array("h", [1]).tobytes()[0] != 1:
        numbers.byteswap()
    return numbers
