"""From the definition of an answer come the schema of its JSON, and the manual."""

from __future__ import annotations

import sys

from jsonschema import Draft202012Validator

from kraftops.answers.fields import json_of
from tests.core.answers.test_answers import ANSWER, LOGS
from tests.helpers.project.imports import REPOSITORY
from tests.helpers.project.json_schemas import closed

sys.path.insert(0, str(REPOSITORY / "scripts"))

from answer_schemas import manual_of, schema_of


def test_schema_takes_what_is_answered_and_nothing_else() -> None:
    schema = schema_of(ANSWER, "logs", title="logs", version=2)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(closed(schema))

    for log in LOGS:
        answer = {"command": "logs", "formatVersion": 2, **json_of(ANSWER.fields, log)}
        assert [*validator.iter_errors(answer)] == []
        assert [*validator.iter_errors({**answer, "topic": None})] != []
        assert [*validator.iter_errors({**answer, "more": 1})] != []
        assert [*validator.iter_errors({**answer, "command": "other"})] != []
        segments = [{"baseOffset": 1, "bytes": 1, "written": None, "state": "new"}]
        assert [*validator.iter_errors({**answer, "segments": segments})] != []


def test_schema_and_manual_have_the_meaning_of_each_field() -> None:
    schema = schema_of(ANSWER, "logs", title="logs", version=2)
    manual = dict(manual_of(ANSWER.fields))

    assert schema["description"] == ANSWER.help
    segments = schema["properties"]["segments"]  # type: ignore[index]
    assert segments["items"]["properties"]["written"] == {
        "type": ["integer", "null"],
        "description": "its last change (ms since 1970)",
    }
    assert manual["segments"] == "its files (list)"
    assert manual["segments[].bytes"] == "its size (integer, bytes)"
    assert manual["newest.written"] == "its last change (integer, ms since 1970; may be null)"
    assert manual["sizes"] == "sizes of files (list of integers)"
