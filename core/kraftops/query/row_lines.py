"""Lines of rows by format, whole or piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kraftops.query.csv_rows import csv_pieces, row_csv, safe_csv, safe_csv_pieces
from kraftops.query.formats import CSV, CSV_SAFE, JSON, Format
from kraftops.query.json_rows import json_pieces, row_json
from kraftops.query.row import Row


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
