"""The row, and that every form carries the same of it."""

import csv
import io
import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import arrow_schema, scan_batches
from kraftops.log.ranges import ByteRange
from kraftops.query.formats import CSV
from kraftops.query.record_rows import damage_row, origin_of
from kraftops.query.row import COLUMNS, Row
from kraftops.query.row_lines import row_csv
from kraftops.records.meaning import base64_of
from tests.helpers.logs.corpus_rows import EVERY_LOG, engine_json, name_of, parsed, query_of, rows

each_log = pytest.mark.parametrize("path", [pytest.param(p, id=name_of(p)) for p in EVERY_LOG])


def text_of(column: str, value: Any) -> str:
    """Return what a table of text has for a column of a JSON row."""
    if value is None or (column == "headers" and value == []):
        return ""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def same(column: str, text: str, value: Any, row: dict[str, Any]) -> bool:
    """Tell whether a text is that of a column; those of JSON are compared as such."""
    is_json = column == "headers" or (column in ("key", "value") and row["kind"] != "user")
    if is_json and text:
        return bool(_loaded(text) == value)
    return text == text_of(column, value)


def numbered(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a record batch with its times as numbers, which Python's times do not reach."""
    at = batch.schema.get_field_index("timestamp")
    return batch.set_column(at, "timestamp", batch.column(at).cast(pa.int64()))


def _loaded(text: str | bytes) -> Any:
    text = text if isinstance(text, str) else text.decode()
    try:
        return json.loads(text)
    except ValueError:
        return text  # base64


@each_log
def test_csv_carries_the_rows_of_json(path: Path) -> None:
    out: list[str] = [CSV.head]
    out += map(row_csv, rows(path, query_of(path)))

    found = list(csv.DictReader(io.StringIO("".join(out), newline=""), strict=True))

    expected = parsed(engine_json(path, query_of(path)))
    assert len(found) == len(expected)
    for line, row in zip(found, expected, strict=True):
        assert list(line) == list(COLUMNS)
        assert [c for c in COLUMNS if not same(c, line[c], row[c], row)] == []


@each_log
def test_chunks_of_csv_are_the_lines_of_the_rows(path: Path) -> None:
    query = query_of(path, form="csv")

    assert engine_json(path, query) == "".join(map(row_csv, rows(path, query)))


@each_log
def test_arrow_carries_the_rows_of_json(path: Path) -> None:
    query = query_of(path)
    schema = arrow_schema({query.record_decoder.name})
    found = [
        row
        for batch in scan_batches(ByteRange(str(path)), query, Report(), schema)
        for row in numbered(batch).to_pylist()
    ]

    expected = parsed(engine_json(path, query_of(path)))
    assert len(found) == len(expected)
    for ours, row in zip(found, expected, strict=True):
        assert list(ours) == list(COLUMNS)
        for column in COLUMNS:
            if column in ("key", "value") and ours[column] is not None and row["kind"] != "user":
                assert _loaded(ours[column]) == row[column]
            elif column in ("key", "value") and ours[column] is not None:
                is_base64 = row[f"{column}Encoding"] == "base64"
                shown = b64decode(row[column]) if is_base64 else row[column].encode()
                assert ours[column] == shown
            elif column.endswith("Encoding") and row["kind"] == "user":
                assert ours[column] is None
            elif column == "headers":
                shown = [
                    {
                        "key": h["key"],
                        "value": None if h["value"] is None else base64_of(h["value"]),
                    }
                    for h in ours[column]
                ]
                assert shown == row[column]
            else:
                assert ours[column] == row[column]


def test_row_of_damage_says_nothing_but_where_and_why() -> None:
    row = damage_row("f", 7, "bad")

    assert row == Row("f", 7, kind="damage", error="bad")
    given = {name for name, value in zip(COLUMNS, row, strict=True) if value not in (None, ())}
    assert given == {"file", "position", "kind", "error"}


@pytest.mark.parametrize(
    ("path", "text"), [("a/é.log", "a/é.log"), ("caf\udce9/0.log", "caf\ufffd/0.log")]
)
def test_file_is_text(path: str, text: str) -> None:
    assert origin_of(path).file == text
