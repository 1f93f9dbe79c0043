"""Rows as JSON and as CSV (RFC 4180, but with plain newlines), a line each, whole or in pieces.

All columns come in their order; in CSV a null is empty.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kraftops.query.formats import CSV, CSV_SAFE, JSON, Format
from kraftops.query.row import COLUMNS, TYPES, Row
from kraftops.records.internal_topics import USER
from kraftops.records.long_text import LongText
from kraftops.records.meaning import BASE64, base64_of

_BOOL = {False: "false", True: "true"}


def row_json(row: Row) -> str:
    texts = [
        f'"{name}":{_text(name, value, row)}' for name, value in zip(COLUMNS, row, strict=True)
    ]
    return "{" + ",".join(texts) + "}\n"


def chosen_json(row: Row, names: Sequence[str]) -> str:
    """Return some columns of a row as one line of JSON, in the order of *names*."""
    texts = [f'"{name}":{_text(name, row[COLUMNS.index(name)], row)}' for name in names]
    return "{" + ",".join(texts) + "}\n"


def json_pieces(row: Row) -> Iterator[str]:
    """Yield a row's JSON line in pieces: a long key or value is not copied into one text."""
    lead = "{"
    for name, value in zip(COLUMNS, row, strict=True):
        yield f'{lead}"{name}":'
        if isinstance(value, LongText):
            yield '"'
            for piece in value.pieces():
                yield json_text(piece)[1:-1]
            yield '"'
        else:
            yield _text(name, value, row)
        lead = ","
    yield "}\n"


def json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def headers_json(row: Row) -> str:
    """Return the headers of a row as JSON, their values in base64."""
    pairs = [
        {"key": key, "value": None if raw is None else base64_of(raw)} for key, raw in row.headers
    ]
    return json.dumps(pairs, separators=(",", ":"), ensure_ascii=False)


def _text(name: str, value: object, row: Row) -> str:
    if value is None:
        return "null"
    if name in ("key", "value"):
        is_json = row.kind != USER and getattr(row, f"{name}_encoding") != BASE64
        return str(value) if is_json else json_text(str(value))
    if name == "headers":
        return headers_json(row)
    if isinstance(value, bool):
        return _BOOL[value]
    return str(value) if isinstance(value, int) else json_text(str(value))


_HEADERS = COLUMNS.index("headers")
_BOOLS = [COLUMNS.index(name) for name in TYPES["bool_"]]
_END = "\r\n"  # of these characters, `csv` quotes those in fields
_SPECIAL = re.compile('[",\r\n]').search
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_APOSTROPHE = "'"


class _Sink:
    """A file for `csv.writer`; its `write` returns the line, and so does the writer."""

    def write(self, line: str) -> str:
        return line[: -len(_END)]


_WRITER = csv.writer(_Sink(), lineterminator=_END)


def row_csv(row: Row) -> str:
    return f"{_WRITER.writerow(_fields(row))}\n"


def safe_csv(row: Row) -> str:
    """Return a row as one line of CSV, safe for spreadsheets."""
    return csv_line(_fields(row), is_safe=True)


def chosen_csv(row: Row, names: Sequence[str], *, is_safe: bool = False) -> str:
    """Return some columns of a row as one line of CSV, in the order of *names*."""
    fields = _fields(row)
    return csv_line([fields[COLUMNS.index(name)] for name in names], is_safe=is_safe)


def csv_line(fields: Iterable[object], *, is_safe: bool = False) -> str:
    """Return texts and numbers as one line of CSV; None is empty.

    If *is_safe*, a text that spreadsheets would take for a formula begins with an apostrophe.
    """
    return f"{_WRITER.writerow(map(safe_field, fields) if is_safe else fields)}\n"


def safe_field(field: object) -> object:
    """Return a field with an apostrophe before it if it is a text that looks like a formula."""
    is_formula = isinstance(field, str) and field.startswith(_FORMULA)
    return f"{_APOSTROPHE}{field}" if is_formula else field


def csv_pieces(row: Row) -> Iterator[str]:
    return _pieces(row, _fields(row), is_safe=False)


def safe_csv_pieces(row: Row) -> Iterator[str]:
    """Yield a row's CSV line in pieces, with an apostrophe before what looks like a formula."""
    return _pieces(row, [*map(safe_field, _fields(row))], is_safe=True)


def _pieces(row: Row, fields: list[Any], *, is_safe: bool) -> Iterator[str]:
    lead, start = "", 0
    for index, value in enumerate(row):
        if not isinstance(value, LongText):
            continue
        if index > start:
            yield f"{lead}{_WRITER.writerow(fields[start:index])}"
            lead = ","
        is_quoted = any(map(_SPECIAL, value.pieces()))
        yield f'{lead}"' if is_quoted else lead
        if is_safe and next(iter(value.pieces()), "").startswith(_FORMULA):
            yield _APOSTROPHE
        for piece in value.pieces():
            yield piece.replace('"', '""') if is_quoted else piece
        yield '"' if is_quoted else ""
        start = index + 1
    yield f",{_WRITER.writerow(fields[start:])}\n"


def _fields(row: Row) -> list[Any]:
    fields: list[Any] = [*row]
    for column in _BOOLS:
        fields[column] = _BOOL.get(fields[column])
    fields[_HEADERS] = headers_json(row) if row.headers else None
    return fields


class Lines(NamedTuple):
    """The functions from a row to its line; *pieces* is for a row with a long key or value."""

    line: Callable[[Row], str]
    pieces: Callable[[Row], Iterator[str]]


_LINES = {
    JSON: Lines(row_json, json_pieces),
    CSV: Lines(row_csv, csv_pieces),
    CSV_SAFE: Lines(safe_csv, safe_csv_pieces),
}


def lines_of(form: Format) -> Lines:
    return _LINES[form]
