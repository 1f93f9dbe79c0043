"""Report that keeps damage as rows."""

import pytest

from kraftops.spark.dump import check_job
from kraftops.spark.dump.check_job import DamageReport


def test_damage_is_a_row_with_its_position() -> None:
    report = DamageReport()
    report.begin("a.log")
    report.failure("a.log", 70, "a wrong checksum")
    report.remark("cut short", is_damage=True)
    report.index_mismatch("a.index", 9, 8)

    assert [(row.file, row.position, row.error) for row in report.rows] == [
        ("a.log", 70, "position 70: a wrong checksum"),
        ("a.log", 0, "position 0: cut short"),
        ("a.index", 0, "position 0: the batch of offset 9 ends at 8"),
    ]


def test_oddities_are_no_damage() -> None:
    report = DamageReport()
    report.failure("a.log", 70, "zero padding", is_damage=False)
    report.note("a.log", 70, "odd")
    report.remark("odd")
    report.gaps("a.log", b"")

    assert report.rows == []


def test_rows_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_job, "MOST_ROWS", 2)
    report = DamageReport()
    for position in range(5):
        report.finding("a.log", position, "bad")

    assert [row.position for row in report.rows] == [0, 1]
    assert report.more == 3
