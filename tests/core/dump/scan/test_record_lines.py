"""Lines of single records, with the header lines of their file and batch."""

from pathlib import Path

from kraftops.dump.report import Report
from kraftops.dump.scan.record_lines import record_lines
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from tests.helpers.logs.segments import patched
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.dump_file import LOG_NAME

ONE = batch_bytes([Record(0, 10, b"k", b"first")])
TWO = batch_bytes([Record(1, 20, b"k", b"second"), Record(2, 30, None, b"third")])


def test_records_of_a_batch_share_its_line(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    path.write_bytes(ONE + TWO)
    query = Query(decoder="user", deep_iteration=True)

    first, second, third = record_lines(ByteRange(str(path)), query, Report(), b"head")

    assert first.batch.startswith(b"baseOffset: 0 ")
    assert second.batch.startswith(b"baseOffset: 1 ")
    assert third.batch is second.batch
    assert third.line.endswith(b"payload: third\n")
    assert {first.file, second.file, third.file} == {b"head"}


def test_damage_is_reported_with_its_line(tmp_path: Path) -> None:
    """A reader with a limit gets no lines about bytes after the limit."""
    bad = Record(2, 0, None, b"no frame")
    good = [Record(n, 0, None, b"\1\x14\0\0") for n in range(5)]
    path = tmp_path / LOG_NAME
    path.write_bytes(batch_bytes([*good[:2], bad, *good[3:]]))
    for form in ("text", "json", "csv"):
        query = Query(decoder="metadata", form=form, deep_iteration=True, check=True)
        report = Report()
        has_damage = [report.has_damage for _ in record_lines(ByteRange(str(path)), query, report)]

        assert has_damage == [False, False, True, True, True], form


def test_failure_after_the_last_record_is_reported_after_it(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    path.write_bytes(patched(ONE, 57, b"\0\0\0\x09") + TWO)
    query = Query(decoder="user", deep_iteration=True)
    report = Report()
    has_failed = [report.has_failed for _ in record_lines(ByteRange(str(path)), query, report)]

    assert has_failed == [False, True, True]


def test_dump_of_batches_has_a_line_for_each(tmp_path: Path) -> None:
    path = tmp_path / LOG_NAME
    path.write_bytes(ONE + TWO)

    found = list(record_lines(ByteRange(str(path)), Query(), Report()))

    assert [(record.batch, record.line[:13]) for record in found] == [
        (b"", b"baseOffset: 0"),
        (b"", b"baseOffset: 1"),
    ]
