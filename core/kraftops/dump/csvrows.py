"""Rows as CSV (RFC 4180, but with plain newlines); what is not there is empty."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

from kraftops.dump.jsonrows import headers_json
from kraftops.dump.rows import COLUMNS, Row

_HEADERS = COLUMNS.index("headers")
_BOOLS = [COLUMNS.index(name) for name in ("transactional", "control")]
_BOOL = {False: "false", True: "true"}
_END = "\r\n"  # of these characters, `csv` quotes those in fields


class _Sink:
    """What `csv.writer` takes for a file: it hands each line on, with a plain newline."""

    def __init__(self, append: Callable[[str], None]) -> None:
        self._append = append

    def write(self, line: str) -> None:
        self._append(f"{line[: -len(_END)]}\n")


def csv_writer(append: Callable[[str], None]) -> Callable[[Row], None]:
    """Return a function that appends the line of a row."""
    writer = csv.writer(_Sink(append), lineterminator=_END)

    def write(row: Row) -> None:
        fields: list[Any] = [*row]
        for at in _BOOLS:
            fields[at] = _BOOL.get(fields[at])
        fields[_HEADERS] = headers_json(row) if row.headers else None
        writer.writerow(fields)

    return write


def csv_header() -> str:
    """Return the line of the column names."""
    return ",".join(COLUMNS) + "\n"
