"""Checks run alone: one that hangs or fails stops no other, and says why."""

from collections.abc import Iterable
from threading import Event

import pytest

from kraftops.checkup.checks import Check, CheckRun, Status, run_checks
from kraftops.checkup.diagnosis import Diagnosis, Selection, diagnosis_of
from kraftops.checkup.examination import Examination
from kraftops.errors import WireError
from kraftops.findings.finding import Finding, Place, Severity
from kraftops.reassign.access import ClusterAccess
from kraftops.wire.net.deadline import Deadline

RISK = Finding("missing-end", Severity.RISK, "it is short", Place(file="/d/t-0"))
NOTE = Finding("incident", Severity.NOTE, "broker 1 was restarted")


def check(name: str, *findings: Finding, error: Exception | None = None) -> Check:
    """Return a check with findings, or one that fails."""

    def find(_: Examination) -> Iterable[Finding]:
        yield from findings
        if error:
            raise error

    return Check(name, name, 5, find, lambda _: None)


def skipped(name: str) -> Check:
    return Check(name, name, 5, lambda _: [RISK], lambda _: "nothing is named")


def diagnosis(*checks: Check, selection: Selection | None = None) -> Diagnosis:
    what = Examination()
    return diagnosis_of(what, run_checks(what, checks), selection or Selection())


def test_a_check_of_a_cluster_has_the_whole_time_although_another_used_it_up() -> None:
    access = ClusterAccess(None, deadline=Deadline(30))

    def use_up(_: Examination) -> list[Finding]:
        assert access.deadline
        assert access.deadline.left > 20
        access.deadline = access.deadline.within(0)
        access.deadline.seconds = 30
        return []

    checks = [Check(name, name, 5, use_up, lambda _: None) for name in ("problems", "operations")]

    assert [run.status for run in run_checks(Examination(access=access), checks)] == [
        Status.DONE,
        Status.DONE,
    ]


def test_check_that_hangs_is_given_up_and_the_others_go_on() -> None:
    hung = Event()

    def find(_: Examination) -> list[Finding]:
        hung.wait(20)
        return [RISK]

    stuck, other = run_checks(
        Examination(), [Check("disk", "d", 0.05, find, lambda _: None), check("b", RISK)]
    )
    hung.set()

    assert (stuck.status, stuck.findings) == (Status.GIVEN_UP, ())
    assert stuck.reason == "it did not end within 0 seconds"
    assert (other.status, other.findings) == (Status.DONE, [RISK])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, "Permission denied", "/d"), "/d: Permission denied"),
        (ValueError("a fault of ours"), "ValueError: a fault of ours"),
        (WireError("b:9092: nobody answers"), "b:9092: nobody answers [no-answer]"),
    ],
)
def test_check_that_fails_has_its_reason(error: Exception, reason: str) -> None:
    found = diagnosis(check("a", error=error), check("b", RISK))

    assert next((run.status, run.reason) for run in found.runs) == (Status.FAILED, reason)
    assert [finding.code for finding in found.findings] == ["missing-end"]
    assert "1 check could not be made" in found.verdict


@pytest.mark.parametrize(
    ("checks", "code"),
    [
        ([check("a")], 0),
        ([check("a", NOTE)], 0),
        ([check("a", NOTE, RISK)], 2),
        ([check("a"), check("b", error=ValueError())], 2),
        ([check("a"), check("b", error=WireError("x"))], 2),
        ([skipped("a"), check("b", error=WireError("x"))], 5),
        ([skipped("a")], 0),
    ],
)
def test_exit_code(checks: list[Check], code: int) -> None:
    assert diagnosis(*checks).exit_code == code


def test_verdict_names_the_first_finding() -> None:
    verdict = diagnosis(check("a", NOTE, RISK)).verdict

    assert verdict == "1 risk; first: /d/t-0: it is short [missing-end]"
    assert diagnosis(check("a", NOTE)).verdict == "nothing is wrong: 1 check done, 1 note"


def test_codes_can_be_chosen_and_skipped() -> None:
    def codes(**chosen: object) -> list[str]:
        found = diagnosis(check("a", NOTE, RISK), selection=Selection(**chosen))  # type: ignore[arg-type]
        return [finding.code for finding in found.findings]

    assert codes(only={"incident"}) == ["incident"]
    assert codes(skip={"incident"}) == ["missing-end"]
    known = ("missing-end", None, None, None, None, "/d/t-0")
    assert codes(baseline={known}) == ["incident"]


def test_skipped_check_is_no_failure() -> None:
    (run,) = run_checks(Examination(), [skipped("a")])

    assert isinstance(run, CheckRun)
    assert (run.status, run.reason, run.findings) == (Status.SKIPPED, "nothing is named", ())
