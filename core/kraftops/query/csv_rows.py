"""Rows as CSV (RFC 4180, but with plain newlines); a null is empty."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kraftops.query.json_rows import headers_json
from kraftops.query.row import COLUMNS, TYPES, Row
from kraftops.records.long_text import LongText

_HEADERS = COLUMNS.index("headers")
_BOOLS = [COLUMNS.index(name) for name in TYPES["bool_"]]
_BOOL = {False: "false", True: "true"}
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
    """Yield the line of a row with a long key or value, in pieces."""
    return _pieces(row, _fields(row), is_safe=False)


def safe_csv_pieces(row: Row) -> Iterator[str]:
    """Yield the line of a row with a long key or value, in pieces, safe for spreadsheets."""
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
