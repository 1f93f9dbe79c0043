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


class _Sink:
    """A file for `csv.writer`; its `write` returns the line, and so does the writer."""

    def write(self, line: str) -> str:
        return line[: -len(_END)]


_WRITER = csv.writer(_Sink(), lineterminator=_END)


def row_csv(row: Row) -> str:
    """Return a row as one line of CSV."""
    return f"{_WRITER.writerow(_fields(row))}\n"


def chosen_csv(row: Row, names: Sequence[str]) -> str:
    """Return some columns of a row as one line of CSV, in the order of *names*."""
    fields = _fields(row)
    return f"{_WRITER.writerow([fields[COLUMNS.index(name)] for name in names])}\n"


def csv_line(fields: Iterable[object]) -> str:
    """Return texts and numbers as one line of CSV; None is empty."""
    return f"{_WRITER.writerow(fields)}\n"


def csv_pieces(row: Row) -> Iterator[str]:
    """Yield the line of a row with a long key or value, in pieces."""
    fields = _fields(row)
    lead, start = "", 0
    for at, value in enumerate(row):
        if not isinstance(value, LongText):
            continue
        if at > start:
            yield f"{lead}{_WRITER.writerow(fields[start:at])}"
            lead = ","
        is_quoted = any(map(_SPECIAL, value.pieces()))
        yield f'{lead}"' if is_quoted else lead
        for piece in value.pieces():
            yield piece.replace('"', '""') if is_quoted else piece
        yield '"' if is_quoted else ""
        start = at + 1
    yield f",{_WRITER.writerow(fields[start:])}\n"


def _fields(row: Row) -> list[Any]:
    fields: list[Any] = [*row]
    for at in _BOOLS:
        fields[at] = _BOOL.get(fields[at])
    fields[_HEADERS] = headers_json(row) if row.headers else None
    return fields
