"""Conditions in a filter: they select the rows of which they are true, in every way to read them."""

import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from kraftops.dump.scan.part_printer import PartPrinter
from kraftops.errors import UsageError
from kraftops.log.ranges import ByteRange
from kraftops.query.conditions.parser import parse_condition
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.where import about_groups, with_conditions
from kraftops.records.decoders import decoder_named
from kraftops.records.internal_topics import decoder_names
from tests.helpers.engine.random_conditions import condition_text, truth
from tests.helpers.logs.corpus_rows import (
    LOGS,
    decoder_of,
    engine_json,
    name_of,
    parsed,
    query_of,
    reference_json,
    rows,
)
from tests.helpers.project.imports import REPOSITORY
from tests.helpers.tools.distribution import long_but

SEVERAL = 25
METADATA = decoder_named("metadata")

NOT_EMPTY = [path for path in LOGS if "logempty" not in path.parts]
each_log = pytest.mark.parametrize("path", long_but(NOT_EMPTY[::3], NOT_EMPTY), ids=name_of)


def query(path: Path, where: str, form: str = "json") -> Query:
    chosen = Filter(where=where)
    return Query(decoder=decoder_of(path), deep_iteration=True, form=form, filter=chosen)


@each_log
def test_json_has_the_rows_of_which_a_condition_is_true(path: Path) -> None:
    rng = Random(name_of(path))
    every = parsed(engine_json(path, query_of(path)))
    for _ in range(SEVERAL):
        where = condition_text(rng, rng.choice(every))
        asked = query(path, where)

        found = engine_json(path, asked)

        condition = parse_condition(where)
        assert parsed(found) == [row for row in every if truth(condition, row)], where
        assert found == reference_json(path, asked), where


@each_log
def test_text_has_the_records_of_which_a_condition_is_true(path: Path) -> None:
    rng = Random(name_of(path))
    every = parsed(engine_json(path, query_of(path)))
    for _ in range(5):
        asked = query(path, condition_text(rng, rng.choice(every)), "text")
        expected = [row.offset for row in rows(path, asked) if row.offset is not None]

        text = b"".join(PartPrinter(asked)(ByteRange(str(path)), lambda _: None)).decode()

        found = [line.split()[2] for line in text.split("\n") if line.startswith("| offset: ")]
        assert found == [str(offset) for offset in expected]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["offset > 5"], Filter(first_offset=6)),
        (["5 < offset"], Filter(first_offset=6)),
        (["offset >= 5 and offset <= 9"], Filter(first_offset=5, last_offset=9)),
        (["offset = 5", "offset < 9"], Filter(first_offset=5, last_offset=5)),
        (["timestamp > 5 and timestamp <= 9"], Filter(since=6, until=10)),
        (["type = 'TOPIC_RECORD'"], Filter(types=frozenset({"topic"}))),
        (["type in ('TOPIC_RECORD', 'NO_OP_RECORD')"], Filter(types=frozenset({"topic", "noop"}))),
        (["type = 'UNKNOWN(99)'"], Filter(where="type = 'UNKNOWN(99)'")),
        (["offset != 5"], Filter(where="offset != 5")),
        (["offset > 5.5"], Filter(where="offset > 5.5")),
        ([f"offset > {(1 << 63) - 1}"], Filter(where=f"offset > {(1 << 63) - 1}")),
        (["offset > 5 or control"], Filter(where="offset > 5 or control = true")),
        (
            ["offset > 5 and value.leader = 3", "control"],
            Filter(first_offset=6, where="value.leader = 3 and control = true"),
        ),
    ],
)
def test_conditions_become_limits_where_these_suffice(texts: list[str], expected: Filter) -> None:
    assert with_conditions(Filter(), texts, [METADATA], 0) == expected


def test_limits_that_are_given_are_kept() -> None:
    known = Filter(first_offset=10, last_offset=20, types=frozenset({"topic"}))

    found = with_conditions(known, ["offset > 5 and offset < 15"], [METADATA], 0)
    other = with_conditions(known, ["type = 'NO_OP_RECORD'"], [METADATA], 0)

    assert (found.first_offset, found.last_offset, found.types) == (10, 14, known.types)
    assert (other.types, other.where) == (known.types, "type = 'NO_OP_RECORD'")


@each_log
@pytest.mark.parametrize("text", ["offset > 2 and offset <= 5", "type = '{}'", "timestamp >= {}"])
def test_limits_select_the_same_rows(path: Path, text: str) -> None:
    every = parsed(engine_json(path, query_of(path)))
    some = every[len(every) // 2]
    text = text.format(some["type"] if "type" in text else some["timestamp"])
    decoder = decoder_named(decoder_of(path))
    if "None" in text:
        pytest.skip("the row has no such value")

    asked = with_conditions(Filter(), [text], [decoder], 0)

    found = parsed(engine_json(path, replace(query_of(path), filter=asked)))
    assert found == [row for row in every if truth(parse_condition(text), row)]


@pytest.mark.parametrize(
    ("decoders", "expected"),
    [
        (["share"], "key.groupId in ('a', 'it''s')"),
        (["offsets", "user"], "key.group in ('a', 'it''s') or key.groupId in ('a', 'it''s')"),
    ],
)
def test_groups_are_named_by_the_keys_of_coordinators(decoders: list[str], expected: str) -> None:
    readers = [decoder_named(name) for name in decoders]

    text = about_groups(["a", "it's"], readers)

    assert text == expected
    assert with_conditions(Filter(), [text], readers, 0) == Filter(where=text)


def test_groups_are_refused_without_a_coordinator() -> None:
    others = map(decoder_named, ("metadata", "transaction", "remote", "user"))

    with pytest.raises(UsageError, match="none of these logs has records about groups"):
        about_groups(["a"], others)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UsageError, match="value has no field 'leadr'"):
        with_conditions(Filter(), ["offset = 1", "value.leadr = 1"], [METADATA], 0)


def test_conditions_of_the_guide_are_conditions() -> None:
    texts = re.findall(
        '`--where "([^"]+)"', (REPOSITORY / "docs/guides/read-a-log.md").read_text("utf-8")
    )

    assert len(texts) >= 5
    for text in texts:
        assert with_conditions(Filter(), [text], map(decoder_named, decoder_names()), 0) != Filter()
