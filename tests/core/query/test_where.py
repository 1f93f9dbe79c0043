"""`--where` selects the same rows by their JSON and by the rows themselves."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftops.dump.scan.part_printer import PartPrinter
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from tests.helpers.logs.corpus_rows import (
    LOGS,
    decoder_of,
    engine_json,
    lines_of,
    name_of,
    reference_json,
    rows,
)

SEVERAL = 12

each_log = pytest.mark.parametrize("path", [pytest.param(p, id=name_of(p)) for p in LOGS])


def where(path: Path, *asked: tuple[str, str], form: str = "json", **more: Any) -> Query:
    chosen = Filter(where=asked, **more)
    return Query(decoder=decoder_of(path), deep_iteration=True, form=form, filter=chosen)


def places(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the paths of all that is in JSON, and the texts there."""
    if path:
        text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        yield path, text
    inner = value if isinstance(value, dict) else {}
    if isinstance(value, list):
        inner = dict(enumerate(value))
    for name, one in inner.items():
        yield from places(one, f"{path}.{name}" if path else str(name))


def asks(path: Path) -> list[tuple[str, str]]:
    """Return paths and texts of the rows of a log, and some that look like them."""
    chance = random.Random(name_of(path))
    known = [
        one
        for line in lines_of(reference_json(path, where(path)))
        for one in places(json.loads(line))
    ]
    picked = chance.sample(sorted(set(known)), min(SEVERAL, len(set(known))))
    odd = [(one, chance.choice(picked)[1]) for one, _ in picked[:3]]
    return [*picked, *odd, *[(f"{one}.{text}", text) for one, text in picked[:2]]]


@each_log
def test_filtered_json_has_the_matching_rows(path: Path) -> None:
    for one in asks(path):
        asked = where(path, one)

        assert engine_json(path, asked) == reference_json(path, asked), one


@each_log
def test_filtered_text_has_the_matching_records(path: Path) -> None:
    for one in asks(path):
        asked = where(path, one, form="text")
        expected = [row.offset for row in rows(path, asked) if row.offset is not None]

        text = b"".join(PartPrinter(asked)(ByteRange(str(path)), lambda _: None)).decode()

        found = [line.split()[2] for line in text.split("\n") if line.startswith("| offset: ")]
        assert found == [str(offset) for offset in expected], one


@pytest.mark.parametrize("types", [frozenset(), frozenset({"partitionchange"})])
def test_all_must_hold_types_and_offsets_too(types: frozenset[str]) -> None:
    path = next(path for path in LOGS if name_of(path).startswith("meta/") and "log" in path.name)
    both = (("value.leader", "-1"), ("value.isr", "[]"))

    asked = where(path, *both, types=types, first_offset=295)

    assert engine_json(path, asked) == reference_json(path, asked)
    assert lines_of(engine_json(path, asked))
