"""The types of rows: every value that a row of a real log has is of its type."""

import json
from pathlib import Path

import pytest

from kraftops.answers.types import BOOLEAN, LIST, NUMBER, OBJECT, TEXT, TIME, FieldType
from kraftops.query.conditions.row_types import row_types
from kraftops.query.row import COLUMNS
from kraftops.records.decoders import decoder_named
from tests.helpers.logs.corpus_rows import (
    LOGS,
    decoder_of,
    engine_json,
    lines_of,
    name_of,
    query_of,
)

_KINDS = {bool: {BOOLEAN}, int: {NUMBER, TIME}, float: {NUMBER}, str: {TEXT}, list: {LIST}}


def assert_of(found: object, known: FieldType, path: str) -> None:
    if isinstance(found, dict):
        assert OBJECT in known.kinds or path in ("key", "value"), path
        for name, value in found.items():
            assert_of(value, known.fields[name], f"{path}.{name}")
    elif found is not None:
        assert known.kinds & _KINDS[type(found)], (path, found)
    if isinstance(found, list) and path != "headers":
        assert known.items
        for item in found:
            assert_of(item, known.items, path)


@pytest.mark.parametrize("path", [pytest.param(path, id=name_of(path)) for path in LOGS])
def test_values_of_rows_have_their_types(path: Path) -> None:
    decoder = decoder_of(path)
    types = row_types(frozenset({decoder_named(decoder)}))
    lines = lines_of(engine_json(path, query_of(path)))

    assert set(types) == set(COLUMNS)
    for line in lines:
        for name, value in json.loads(line).items():
            assert_of(value, types[name], name)
            if types[name].values and value is not None:
                assert value in types[name].values or value.startswith("UNKNOWN"), name
