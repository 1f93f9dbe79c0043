"""The document of a report, and its schema."""

import json
from pathlib import Path

from kraftops.report.document import Finding, Moment, as_data
from tests.helpers.project.json_schemas import problems

SAMPLE = Path(__file__).parents[2] / "data/report/sample.json"


def test_the_sample_has_the_form_of_the_schema() -> None:
    """The page of a report is tested with it."""
    assert problems("report", SAMPLE.read_text("utf-8")) == []
    short = json.loads(SAMPLE.read_text("utf-8"))
    del short["timeline"]["step"]
    assert problems("report", json.dumps(short)) != []


def test_fields_have_the_names_of_the_schema() -> None:
    """Nested values become objects, in camel case."""
    finding = Finding("offline", "bad", "text", 2, Moment(5, None), None)
    assert as_data(finding)["first"] == {"time": 5, "offset": None}
