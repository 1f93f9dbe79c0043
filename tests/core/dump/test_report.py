"""The report of a dump: lines on standard error, summary and exit code."""

import os.path

from kraftops.dump.report import Report, TimeProblem
from kraftops.errors import SourceError


def test_notes_and_remarks_are_no_failure() -> None:
    report = Report()

    report.note("0.log", 61, "odd")
    report.remark("by the way")

    assert report.take_lines() == ["0.log: position 61: odd", "by the way"]
    assert report.take_lines() == []
    assert not report.has_failed


def test_failures_and_refusals_are_reported_and_remembered() -> None:
    report, other = Report(), Report()

    report.failure("0.log", 61, "bad")
    other.refusal(SourceError("cannot read 0.log"))

    assert (report.take_lines(), other.take_lines()) == (
        ["0.log: position 61: bad"],
        ["cannot read 0.log"],
    )
    assert report.has_failed
    assert other.has_failed


def test_summary_is_that_of_kafkas_tool() -> None:
    """In Kafka's order: mismatches by descending offset, gaps by ascending offset."""
    report = Report()
    report.gap("b.log", 9, 12)
    report.gap("b.log", 4, 6)
    report.time_problem(TimeProblem.NOT_FOUND, "a.timeindex", 5, -1)
    report.time_problem(TimeProblem.DISORDER, "a.timeindex", 100, 200)
    report.time_problem(TimeProblem.MISMATCH, "a.timeindex", 100, 300)
    report.index_mismatch("a.index", 5, 6)
    report.index_mismatch("a.index", 50, 60)

    def path(name: str) -> str:
        return os.path.abspath(name)

    assert list(report.summary()) == [
        f"Mismatches in :{path('a.index')}",
        "  Index offset: 50, log offset: 60",
        "  Index offset: 5, log offset: 6",
        f"Found timestamp mismatch in :{path('a.timeindex')}",
        "  Index timestamp: 100, log timestamp: 300",
        f"Found out of order timestamp in :{path('a.timeindex')}",
        "  Index timestamp: 100, Previously indexed timestamp: 200",
        f"The following indexed offsets are not found in :{path('a.timeindex')}",
        "Indexed offset: 5, found log offset: -1",
        f"Non-consecutive offsets in {path('b.log')}",
        "  4 is followed by 6",
        "  9 is followed by 12",
    ]


def test_nothing_found_is_no_summary() -> None:
    assert list(Report().summary()) == []


def test_later_of_two_findings_at_an_offset_counts() -> None:
    report = Report()

    report.gap("b.log", 4, 6)
    report.gap("b.log", 4, 9)

    assert list(report.summary())[1:] == ["  4 is followed by 9"]
