"""Filters: what they ask for, and that it is what the whole output holds of it."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kraftops.errors import UsageError
from kraftops.log.batch import LOG_APPEND_TIME, Record
from kraftops.query.conditions.parser import parse_condition
from kraftops.query.filters import (
    Filter,
    normal_type,
    parse_offsets,
    parse_types,
)
from kraftops.query.row import Row
from kraftops.query.where import with_conditions
from kraftops.records.decoders import decoder_named, record_types
from tests.helpers.engine.random_conditions import condition_text, truth
from tests.helpers.logs.corpus_rows import (
    EVERY_LOG,
    FLAGS,
    LOGS,
    decoder_of,
    engine_json,
    name_of,
    parsed,
    query_of,
    reference_json,
)
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import run_here
from tests.helpers.tools.distribution import long_but

_HEADER_LIES = ("lastdelta", "lastdelta-neg")  # of the offsets in a batch, which is believed
ASKED = [path for path in EVERY_LOG if path.parent.name not in _HEADER_LIES]
HUGE = 1 << 63
Json = dict[str, Any]


# The same on the JSON of all rows, in the plainest way


@cache
def every_row(path: Path) -> tuple[Json, ...]:
    done = run_here("--files", str(path), FLAGS[decoder_of(path)], "--format", "json")
    return tuple(parsed(done.text))


def nodes(found: Any) -> Iterator[tuple[str, Any]]:
    """Yield all that has a name in a key or value."""
    if isinstance(found, dict):
        yield from found.items()
        found = list(found.values())
    if isinstance(found, list):
        for one in found:
            yield from nodes(one)


def is_about(row: Json, topics: set[str]) -> bool:
    if row["kind"] == "user":
        return False
    names = []
    for name, value in [*nodes(row["key"]), *nodes(row["value"])]:
        if name in ("topic", "topicName", "topicId"):
            names.append(value)
        if name == "topicIdPartition":
            names += [value["name"], value["id"]]
        if re.fullmatch("topics|.*Topics|.*TopicNames", name):
            names += [one.get("name") if isinstance(one, dict) else one for one in value]
    if row["type"] == "TOPIC_RECORD" and row["topicId"]:
        names.append(row["value"]["name"])
    if isinstance(row["value"], dict) and row["value"].get("resourceType") == 2:
        names.append(row["value"]["resourceName"])
    return any(isinstance(name, str) and name in topics for name in names)


def has_key(row: Json, keys: set[str]) -> bool:
    if isinstance(row["key"], dict):
        return any(isinstance(value, str) and value in keys for value in row["key"].values())
    return row["key"] in keys


def fits(row: Json, asked: dict[str, Any], ids: set[str]) -> bool:
    if "types" in asked:
        own = (row["type"] or "-").replace("_", "").lower().removesuffix("record")
        if own not in {
            one.replace("_", "").lower().removesuffix("record") for one in asked["types"]
        }:
            return False
    if "offsets" in asked:
        first, last = asked["offsets"]
        if row["offset"] is None or not first <= row["offset"] <= last:
            return False
    since, until = asked.get("since", -HUGE), asked.get("until", HUGE)
    time = row["timestamp"]
    if {"since", "until"} & set(asked) and (time is None or not since <= time < until):
        return False
    if "keys" in asked and not has_key(row, asked["keys"]):
        return False
    if "topics" in asked and not is_about(row, asked["topics"] | ids):
        return False
    return all(truth(parse_condition(text), row) is True for text in asked.get("where", []))


def ids_of(rows: tuple[Json, ...], topics: set[str]) -> set[str]:
    return {
        row["topicId"]
        for row in rows
        if row["topicId"] and row["type"] == "TOPIC_RECORD" and row["value"]["name"] in topics
    }


def arguments(asked: dict[str, Any]) -> list[str]:
    given = [f"--type={','.join(sorted(asked['types']))}"] if "types" in asked else []
    for name, option in (("topics", "--topic"), ("keys", "--key")):
        given += [f"{option}={text}" for text in sorted(asked.get(name, ()))]
    if "offsets" in asked:
        first, last = asked["offsets"]
        given.append(f"--offset={first}" if first == last else f"--offset={first}..{last}")
    given += [f"--{name}={iso(asked[name])}" for name in ("since", "until") if name in asked]
    return given + [f"--where={text}" for text in asked.get("where", [])]


def iso(time: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time)
    return moment.isoformat(timespec="milliseconds")


def accepted_condition(row: Json, decoder: str, seed: int) -> str:
    """Return a condition about a row that compares what can be compared."""
    rng = Random(seed)
    while True:
        text = condition_text(rng, row)
        with suppress(UsageError):
            with_conditions(Filter(), [text], [decoder_named(decoder)], 0)
            return text


@st.composite
def filters(draw: st.DrawFn, rows: tuple[Json, ...], decoder: str) -> dict[str, Any]:
    """Ask for what a row of the log has, or nearly."""

    def some_row() -> Json:
        return draw(st.sampled_from(rows))

    asked: dict[str, Any] = {}
    kinds = draw(
        st.sets(st.sampled_from(["types", "topics", "keys", "offsets", "since", "until", "where"]))
    )
    if "types" in kinds and decoder != "user":
        known = st.sampled_from(sorted(record_types(decoder)))
        types = {draw(known)} | {
            name for _ in range(2) if (name := some_row()["type"]) in record_types(decoder)
        }
        spell = draw(
            st.sampled_from([str, str.lower, lambda t: t.replace("_", "").removesuffix("RECORD")])
        )
        asked["types"] = {spell(name) for name in types}
    if "topics" in kinds:
        found = [
            v
            for row in rows
            for n, v in [*nodes(row["key"]), *nodes(row["value"])]
            if n in ("name", "topicId", "topic", "topicName")
        ]
        asked["topics"] = {draw(st.sampled_from([one for one in found if one] or ["none"]))}
    if "keys" in kinds:
        key = some_row()["key"]
        texts = [v for v in key.values() if isinstance(v, str)] if isinstance(key, dict) else [key]
        asked["keys"] = {text for text in texts if text and "\0" not in text} or {"none"}
    offsets = [
        row["offset"] for row in rows if row["offset"] is not None and row["offset"] >= 0
    ] or [0]
    if "offsets" in kinds:
        asked["offsets"] = sorted(draw(st.lists(st.sampled_from(offsets), min_size=2, max_size=2)))
    times = [row["timestamp"] for row in rows if row["timestamp"] is not None] or [0]
    for name in kinds & {"since", "until"}:
        time = draw(st.sampled_from(times)) + draw(st.integers(-1, 1))
        asked[name] = min(max(time, 0), 4_000_000_000_000)
    if "where" in kinds:
        seeds = draw(st.lists(st.integers(0, 1 << 32), min_size=1, max_size=2))
        asked["where"] = [accepted_condition(some_row(), decoder, seed) for seed in seeds]
    return asked


@pytest.mark.parametrize("path", long_but(ASKED[::3], ASKED), ids=name_of)
def test_filters_find_every_matching_row(path: Path) -> None:
    rows, decoder = every_row(path), decoder_of(path)
    if not rows:
        pytest.skip("it has no records")

    @settings(max_examples=12)
    @given(filters(rows, decoder))
    def check(asked: dict[str, Any]) -> None:
        done = run_here("--files", str(path), FLAGS[decoder], "--format", "json", *arguments(asked))

        ids = ids_of(rows, asked["topics"]) if "topics" in asked else set()
        if done.code == 4:  # no record is about the topics, whatever else is asked for
            assert not any(is_about(row, asked["topics"] | ids) for row in rows)
            return
        assert parsed(done.text) == [row for row in rows if fits(row, asked, ids)]

    check()


@given(
    st.lists(
        st.tuples(st.integers(-50, 50), st.sampled_from([b"a", b"b", b"\xff", None])),
        min_size=1,
        max_size=70,
    ),
    st.integers(0, 70),
    st.integers(0, 70),
    st.integers(40, 160),
    st.integers(40, 160),
    st.sampled_from([0, LOG_APPEND_TIME, 4]),
)
def test_fast_and_slow_way_choose_the_same_of_records_in_any_order_of_time(
    tmp_path_factory: pytest.TempPathFactory,
    parts: list[tuple[int, bytes | None]],
    first: int,
    last: int,
    since: int,
    until: int,
    attributes: int,
) -> None:
    """Producers send what is older than the first record of the batch."""
    records = [Record(n, 100 + time, None, value) for n, (time, value) in enumerate(parts)]
    path = tmp_path_factory.mktemp("logs") / "0.log"
    path.write_bytes(batch_bytes(records, attributes=attributes))
    limits = {"first_offset": first, "last_offset": last, "since": since, "until": until}
    for names in (limits, ["since"], ["until"], ["first_offset"], ["last_offset", "since"]):
        query = query_of(IN_USER, **{name: limits[name] for name in names})

        found = engine_json(path, query)

        everything = parsed(engine_json(path, query_of(IN_USER)))
        asked = {name: limits[name] for name in names}
        assert found == reference_json(path, query)
        assert parsed(found) == [
            row
            for row in everything
            if asked.get("first_offset", 0) <= row["offset"] <= asked.get("last_offset", 99)
            and asked.get("since", 0) <= row["timestamp"] < asked.get("until", 999)
        ]


IN_USER = next(path for path in LOGS if decoder_of(path) == "user")


# Rows that lack what is asked for


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (Filter(), True),
        (Filter(first_offset=0), False),
        (Filter(last_offset=5), False),
        (Filter(since=0), False),
        (Filter(until=1), False),
        (Filter(types=frozenset({"topic"})), False),
        (Filter(topics=frozenset({"t"})), False),
        (Filter(keys=frozenset({"k"})), False),
        (Filter(where="kind = 'damage'"), True),
        (Filter(where="kind = 'user'"), False),
        (Filter(where="offset is null"), True),
    ],
)
def test_damage_is_found_by_what_its_row_has(asked: Filter, expected: bool) -> None:
    assert asked.matches(Row("f", 0, error="bad")) is expected


def test_message_without_a_time_is_found_by_its_offset_but_by_no_time() -> None:
    row = Row("f", 0, offset=7, kind="user")

    assert Filter(first_offset=7, last_offset=7).matches(row)
    assert not Filter(since=0).matches(row)


# What the command line says


@pytest.mark.parametrize("name", ["PARTITION_CHANGE_RECORD", "partitionchange", "PartitionChange"])
def test_types_may_be_written_in_several_ways(name: str) -> None:
    assert parse_types([name], record_types("metadata")) == {normal_type("PARTITION_CHANGE_RECORD")}


def test_types_are_separated_by_commas() -> None:
    assert parse_types(["topic, partition", "NoOp"], record_types(None)) == {
        "topic",
        "partition",
        "noop",
    }


@pytest.mark.parametrize("text", ["partitionchang", "", "topic,", "OFFSET_COMMIT"])
def test_unknown_type_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_types([text], record_types("metadata"))

    assert "no record type" in caught.value.message
    if text == "partitionchang":
        assert "PARTITION_CHANGE_RECORD" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("100..200", (100, 200)),
        ("5", (5, 5)),
        ("5..5", (5, 5)),
        ("..7", (-HUGE, 7)),
        ("7..", (7, HUGE - 1)),
        ("0", (0, 0)),
    ],
)
def test_ranges_of_offsets_are_parsed(text: str, expected: tuple[int, int]) -> None:
    assert parse_offsets(text) == expected


@pytest.mark.parametrize(
    "text", ["", "..", "a", "7..5", "1.2", "1...2", "-1", "1-2", "1..2..3", " 1"]
)
def test_bad_offsets_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_offsets(text)


@pytest.mark.parametrize("since", [datetime(2026, 1, 1, tzinfo=UTC), date(2026, 1, 1)])
def test_datetime_is_a_limit(since: Any) -> None:
    assert Filter(since=since).since == 1767225600000


@pytest.mark.parametrize(
    "limits", [{"since": "2h"}, {"until": 1.5}, {"first_offset": True}, {"topics": "orders"}]
)
def test_limits_of_other_types_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(limits))} of a filter is"):
        Filter(**limits)
