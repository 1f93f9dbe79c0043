"""Rows as CSV (RFC 4180, but with plain newlines); what is not there is empty."""

from __future__ import annotations

import csv
from typing import Any

from kraftops.dump.jsonrows import headers_json
from kraftops.dump.rows import COLUMNS, Row, row_head
from kraftops.log.batch import Header

_HEADERS = COLUMNS.index("headers")
_BOOLS = [COLUMNS.index(name) for name in ("transactional", "control")]
_BOOL = {False: "false", True: "true"}
_END = "\r\n"  # of these characters, `csv` quotes those in fields


class _Sink:
    """What `csv.writer` takes for a file, whose answer it hands on: the line."""

    def write(self, line: str) -> str:
        return line[: -len(_END)]


_WRITER = csv.writer(_Sink(), lineterminator=_END)


def row_csv(row: Row) -> str:
    """Return a row as one line of CSV."""
    fields: list[Any] = [*row]
    for at in _BOOLS:
        fields[at] = _BOOL.get(fields[at])
    fields[_HEADERS] = headers_json(row) if row.headers else None
    return f"{_WRITER.writerow(fields)}\n"


def csv_head(path: str, position: int, header: Header) -> str:
    """Return what the lines of a batch begin with, up to the offset."""
    return f"{_WRITER.writerow(row_head(path, position, header).before)},"


def csv_middle(header: Header) -> str:
    """Return what the lines of a batch without sequences have between timestamp and sizes."""
    head = row_head("", 0, header)
    *bools, codec = head.behind_sequence
    fields = [*head.behind, None, *map(_BOOL.get, bools), codec]
    return f",{_WRITER.writerow(fields)},"


def csv_header() -> str:
    """Return the line of the column names."""
    return ",".join(COLUMNS) + "\n"
