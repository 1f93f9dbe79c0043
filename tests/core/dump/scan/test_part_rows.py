"""The rows of a byte range."""

from dataclasses import replace
from pathlib import Path

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import add_row_notes, column_outcomes, part_rows
from kraftops.errors import UsageError
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from tests.helpers.logs.segments import IN, patched
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.dump_file import LOG_NAME

META = IN / "meta" / "00000000000000000000.log"
ONE = batch_bytes([Record(0, 0, None, b"a")])
QUERY = Query(decoder="user", check=True)


@pytest.mark.parametrize("form", ["text", "json", "csv", "parquet"])
def test_rows_do_not_depend_on_the_format(form: str) -> None:
    query = Query(decoder="metadata")
    rows = list(part_rows(ByteRange(str(META)), query, Report()))

    assert {row.kind for row in rows} == {"metadata", "control"}
    assert list(part_rows(ByteRange(str(META)), replace(query, form=form), Report())) == rows


def test_damage_is_a_row_and_in_the_report(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    path.write_bytes(ONE + patched(ONE, 8, b"\0\0\0\1"))
    report = Report()

    kinds = [row.kind for row in part_rows(ByteRange(str(path)), QUERY, report)]

    assert kinds == ["user", "damage"]
    assert report.has_failed


def test_notes_about_later_rows_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    bad = batch_bytes([Record(1, 0, None, b"no frame")])
    path.write_bytes(batch_bytes([Record(0, 0, None, b"\1\x14\0\0")]) + bad)
    query = Query(decoder="metadata", check=True)
    early, late = Report(), Report()

    for outcome in column_outcomes(ByteRange(str(path)), query, Report()):
        add_row_notes(outcome, 1, str(path), early)
        add_row_notes(outcome, 2, str(path), late)

    assert early.take_lines() == []
    assert len(late.take_lines()) == 1


def test_index_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.index"
    path.write_bytes(bytes(8))

    with pytest.raises(UsageError, match="only logs and snapshots have records"):
        list(part_rows(ByteRange(str(path)), QUERY, Report()))
