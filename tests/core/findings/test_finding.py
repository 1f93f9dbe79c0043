"""A finding as text and as JSON, and what follows from severities."""

import pytest

from kraftops.answers.fields import json_of
from kraftops.findings.answer import FINDING
from kraftops.findings.finding import (
    Evidence,
    Finding,
    Place,
    Severity,
    Stake,
    exit_code,
    worst,
    worst_first,
)

NOTE = Finding("x", Severity.NOTE, "a note")
RISK = Finding("x", Severity.RISK, "a risk")
LOSS = Finding("x", Severity.LOSS, "a loss")


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place(), "the problem"),
        (Place(directory="d1"), "d1: the problem"),
        (Place(directory="d1", file="d1/t-0"), "d1/t-0: the problem"),
        (Place(file="0.log", offset=7, position=61), "0.log, offset 7, position 61: the problem"),
        (Place(offset=7), "offset 7: the problem"),
    ],
)
def test_known_places_come_before_the_text(place: Place, text: str) -> None:
    assert str(Finding("x", Severity.RISK, "the problem", place)) == text


def test_repeated_cause_is_counted() -> None:
    assert (
        str(Finding("x", Severity.RISK, "the problem", count=3))
        == "the problem (and 2 more like it)"
    )


def test_remedy_is_the_cure_with_its_commands() -> None:
    finding = Finding("x", Severity.RISK, "", cure="format it", commands=("a -b", "c"))

    assert finding.remedy == "format it: a -b; c"
    assert Finding("x", Severity.RISK, "", commands=("a",)).remedy == "a"
    assert not NOTE.remedy


def test_unknown_facts_are_null_in_json() -> None:
    assert json_of(FINDING, Finding("x", Severity.STOPS, "the problem")) == {
        "code": "x",
        "severity": "stops",
        "isPossible": False,
        "text": "the problem",
        "node": None,
        "directory": None,
        "topic": None,
        "partition": None,
        "file": None,
        "position": None,
        "offset": None,
        "time": None,
        "evidence": [],
        "consequence": None,
        "cure": None,
        "commands": [],
        "count": 1,
        "records": None,
        "bytes": None,
    }


def test_facts_are_in_json() -> None:
    finding = Finding(
        "x",
        Severity.LOSS,
        "",
        Place(1, "d1", "t", 0, "d1/t-0", address=5),
        evidence=(Evidence("quorum-state", "epoch 7"),),
        stake=Stake(3, 70),
        is_possible=True,
    )

    data = json_of(FINDING, finding)

    assert (data["directory"], data["topic"], data["partition"]) == ("d1", "t", 0)
    assert data["evidence"] == [{"source": "quorum-state", "fact": "epoch 7"}]
    assert (data["records"], data["bytes"], data["isPossible"]) == (3, 70, True)
    assert "address" not in data


def test_worst_comes_first_and_decides_the_exit_code() -> None:
    assert worst_first([NOTE, RISK, LOSS]) == [LOSS, RISK, NOTE]
    assert worst([NOTE, RISK]) is Severity.RISK
    assert worst([]) is None
    assert (exit_code([NOTE]), exit_code([NOTE, RISK]), exit_code([])) == (0, 2, 0)
