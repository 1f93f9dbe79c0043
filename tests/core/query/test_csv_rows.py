"""CSV as others read it."""

import csv
import io
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.query.formats import CSV
from kraftops.query.row import COLUMNS, Row
from kraftops.query.row_lines import row_csv, safe_csv

ODD = [
    "plain",
    "a,b",
    'say "hi"',
    "two\nlines",
    "two\r\nlines",
    "one\rreturn",
    " spaces ",
    "'=1+1",
    "\u2028",
    "é",
]


def text_of(*rows: Row) -> str:
    return "".join([CSV.head, *map(row_csv, rows)])


def row(value: str | None, **fields: object) -> Row:
    return Row("f", 0, offset=1, kind="user", value=value)._replace(**fields)


@pytest.mark.parametrize("value", ODD)
def test_odd_text_comes_back_as_it_was(value: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(text_of(row(value), row("next")).encode())

    with path.open(newline="") as file:
        found = [line["value"] for line in csv.DictReader(file, strict=True)]
    sql = "select value from read_csv(?, header=true, all_varchar=true, delim=',', quote='\"')"
    others = duckdb.execute(sql, [str(path)]).fetchall()

    assert found == [value, "next"]
    assert sorted(others) == sorted([(value,), ("next",)])


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_comes_back_as_it_was(value: str) -> None:
    text = text_of(row(value, key=value))

    (found,) = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    assert (found["key"], found["value"]) == (value, value)


def test_line_of_names_is_first_and_lines_end_in_a_newline() -> None:
    lines = text_of(row("v")).split("\n")

    assert lines[0] == ",".join(COLUMNS)
    assert lines[-1] == ""
    assert "\r" not in text_of(row("v"))


def test_null_is_empty_and_booleans_are_lower_case() -> None:
    text = text_of(row(None, transactional=True, control=False))

    (found,) = csv.DictReader(io.StringIO(text))
    assert (found["value"], found["headers"], found["error"]) == ("", "", "")
    assert (found["transactional"], found["control"]) == ("true", "false")


def test_headers_are_json() -> None:
    text = text_of(row("v", headers=(("a", b"\1"), ('"', None))))

    (found,) = csv.DictReader(io.StringIO(text))
    assert found["headers"] == '[{"key":"a","value":"AQ=="},{"key":"\\"","value":null}]'


@pytest.mark.parametrize(
    "value",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x","y")', "-,\n"],
)
def test_texts_that_look_like_formulas_are_no_formulas_in_safe_csv(value: str) -> None:
    line = safe_csv(row(value, key=value, topic=value, error=value, offset=-1, version=-1))

    (found,) = csv.DictReader(io.StringIO(CSV.head + line, newline=""), strict=True)
    for name in ("key", "value", "topic", "error"):
        assert found[name] == f"'{value}"
    assert (found["offset"], found["version"]) == ("-1", "-1")


@pytest.mark.parametrize("value", ["", "a=1", " =1", "'=1", '"=', "1-1", "\n=1"])
def test_other_texts_are_as_they_are_in_safe_csv(value: str) -> None:
    assert safe_csv(row(value)) == row_csv(row(value))
