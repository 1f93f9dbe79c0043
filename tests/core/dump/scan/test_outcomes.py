"""Outcomes of byte ranges: rows of records, rows of damage, and refused files."""

import json
from pathlib import Path
from typing import Any

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.outcomes import open_part, outcomes_of, require_records
from kraftops.errors import SourceError, UsageError
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange, file_id
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from tests.helpers.logs.written import batch_bytes

FIRST = batch_bytes([Record(0, 0, None, b"a")])
SECOND = batch_bytes([Record(1, 0, None, b"b")])
ROWS = Query(decoder="user", form="json", deep_iteration=True)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The path of a segment."""
    return tmp_path / "00000000000000000000.log"


def rows_of(path: Path, query: Query = ROWS, **part: Any) -> tuple[list[dict[str, Any]], Report]:
    report = Report()
    outcomes = outcomes_of(ByteRange(str(path), **part), query, report)
    text = b"".join(outcome.out for outcome in outcomes).decode()
    return [json.loads(line) for line in text.splitlines()], report


def test_rows_are_those_of_the_range(log: Path) -> None:
    log.write_bytes(FIRST + SECOND)

    rows, report = rows_of(log, start=len(FIRST), stop=len(FIRST + SECOND))

    assert [row["offset"] for row in rows] == [1]
    assert not report.has_failed


def test_impossible_length_is_a_row_and_a_failure(log: Path) -> None:
    log.write_bytes(FIRST + bytes(8) + b"\0\0\0\1" + bytes(50))

    rows, report = rows_of(log)

    assert [row["kind"] for row in rows] == ["user", "damage"]
    assert rows[1]["position"] == len(FIRST)
    assert report.has_failed


@pytest.mark.parametrize("check", [False, True])
def test_unfinished_batch_is_damage_only_for_a_check_and_at_the_end(log: Path, check: bool) -> None:
    log.write_bytes(FIRST + SECOND[:-1])
    query = Query(form="json", decoder="user", deep_iteration=True, check=check)

    rows, report = rows_of(log, query)
    inner, quiet = rows_of(log, query, is_last=False)

    assert [row["kind"] for row in rows] == ["user", "damage"]
    assert report.has_lines
    assert (report.has_damage, report.has_failed) == (check, False)
    assert [row["kind"] for row in inner] == ["user"]
    assert not quiet.has_lines


def test_row_of_damage_is_subject_to_the_filter(log: Path) -> None:
    log.write_bytes(FIRST + SECOND[:-1])

    rows, report = rows_of(
        log, Query(form="json", decoder="user", filter=Filter(last_offset=0), deep_iteration=True)
    )

    assert [row["kind"] for row in rows] == ["user"]
    assert report.has_lines


def test_salvage_skips_damage_and_reads_on(log: Path) -> None:
    log.write_bytes(FIRST + b"\xff" * 100 + SECOND)

    rows, report = rows_of(log, Query(form="json", decoder="user", salvage=True))

    assert [(row["kind"], row["offset"]) for row in rows] == [
        ("user", 0),
        ("damage", None),
        ("user", 1),
    ]
    assert report.has_damage


@pytest.mark.parametrize("name", ["00000000000000000000.index", "notes.txt"])
def test_file_without_records_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        require_records(ByteRange(name))


def test_file_that_was_replaced_is_refused(log: Path) -> None:
    log.write_bytes(FIRST)
    part = ByteRange(str(log), file_id=file_id(str(log)))
    other = log.with_name("other")
    other.write_bytes(FIRST)
    other.replace(log)

    with pytest.raises(SourceError, match="another file has replaced it"):
        open_part(part)
