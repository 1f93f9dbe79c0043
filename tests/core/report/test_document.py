"""The document of a report, and its schema."""

import json
from pathlib import Path

import pytest

from kraftops.answers.fields import json_of
from kraftops.findings.answer import FINDING
from kraftops.findings.finding import Finding, Place, Severity
from kraftops.report.document import as_data
from kraftops.timeline.rules import RULES
from tests.helpers.project.json_schemas import problems

SAMPLE = Path(__file__).parents[2] / "data/report/sample.json"


def test_the_sample_has_the_form_of_the_schema() -> None:
    """The page of a report is tested with it."""
    assert problems("report", SAMPLE.read_text("utf-8")) == []
    short = json.loads(SAMPLE.read_text("utf-8"))
    del short["timeline"]["step"]
    assert problems("report", json.dumps(short)) != []


@pytest.mark.parametrize("cause", [rule.cause for rule in RULES])
def test_the_schema_has_each_cause_of_incidents(cause: str) -> None:
    sample = json.loads(SAMPLE.read_text("utf-8"))
    sample["incidents"][0]["cause"] = cause
    assert problems("report", json.dumps(sample)) == []


def test_fields_have_the_names_of_the_schema() -> None:
    finding = Finding("offline-partitions", Severity.STOPS, "text", Place(time=5), count=2)
    assert as_data(finding) == json_of(FINDING, finding)
