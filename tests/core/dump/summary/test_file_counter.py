"""Counts of selected records, compared with the rows that the same query prints."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.dump.summary.file_counter import Counting, FileCounter, Quota
from kraftops.dump.summary.summarise import summarise
from kraftops.dump.summary.summary import Summary
from kraftops.log.batch import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL, Batch, Record
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.row import Row
from tests.helpers.engine.cases import some_rows
from tests.helpers.engine.choice import using
from tests.helpers.engine.random_messages import Kind
from tests.helpers.engine.random_queries import filter_of
from tests.helpers.logs.log_directories import REAL
from tests.helpers.logs.segments import IN, patched
from tests.helpers.logs.summaries import as_json
from tests.helpers.logs.written import batch_bytes

LOGS = {
    "meta/00000000000000000000.log": "metadata",
    "consumer_offsets/00000000000000000000.log": "offsets",
    "transaction_state/00000000000000000000.log": "transaction",
    "share_group_state/00000000000000000000.log": "share",
    "user/txn/00000000000000000018.log": "user",
    "craft/magic-mixed/00000000000000000000.log": "user",
}
each_log = pytest.mark.parametrize("name", LOGS)
each_engine = pytest.mark.parametrize("engine", ["native", "reference"])
_MARKERS = (b"\0\0\0\0", b"\0\0\0\1", b"\0\0\0\x63", b"\0")


def rows_of(path: Path, query: Query) -> list[Row]:
    return [row for row in part_rows(ByteRange(str(path)), query, Report()) if row.kind != "damage"]


def counted(rows: list[Row]) -> dict[str, Any]:
    """Return what a summary must say about rows."""
    data = [row for row in rows if not row.control]
    return {
        "records": len(rows),
        "control": Counter(row.type for row in rows if row.control),
        "types": Counter((row.type, row.version) for row in data if row.error is None),
        "first": next((row.offset for row in rows), None),
        "last": next((row.offset for row in reversed(rows)), None),
        "batches": len({row.position for row in rows}),
        "keyless": sum(row.key_size is None for row in data),
        "keyed": sum(row.key_size is not None for row in data),
    }


def said(summary: Summary) -> dict[str, Any]:
    found = as_json(summary)
    return {
        "records": found["records"]["count"],
        "control": Counter({one["type"]: one["count"] for one in found["control"]}),
        "types": Counter(
            {
                (None if one["type"] == "user" else one["type"], one["version"]): one["count"]
                for one in found["types"]
            }
        ),
        "first": found["offsets"]["first"],
        "last": found["offsets"]["last"],
        "batches": found["batches"]["count"],
        "keyless": found["keys"]["keyless"],
        "keyed": found["keys"]["records"],
    }


@each_log
@each_engine
def test_selected_records_are_those_of_the_rows(engine: str, name: str) -> None:
    """For random filters that select some of the rows."""
    path, decoder = IN / name, LOGS[name]
    kind = Kind(decoder, "kafka")
    rows = some_rows(path.read_bytes(), kind)
    rng = Random(name)
    seen = set()
    with using(engine):
        for _ in range(25):
            filter_ = filter_of(rng, kind, rows)
            query = Query(decoder, filter=filter_, deep_iteration=True)
            expected = counted(rows_of(path, query))

            assert said(summarise(str(path), query)) == expected, filter_
            seen.add(expected["records"])
    assert len(seen) > 2


@each_log
@each_engine
@pytest.mark.parametrize(("skip", "most"), [(0, 0), (0, 7), (3, 20), (10, 10_000)])
def test_quota_counts_the_first_records_after_some(
    engine: str, name: str, skip: int, most: int
) -> None:
    path, query = IN / name, Query(LOGS[name])
    quota = Quota(skip, most)
    rows = rows_of(path, query)

    with using(engine):
        found = summarise(str(path), query, counting=Counting(quota=quota))

    assert said(found) == counted(rows[skip : skip + most])
    assert quota.most == max(most - max(len(rows) - skip, 0), 0)


@each_engine
def test_damaged_batch_counts_as_damage_whatever_the_filter(engine: str, tmp_path: Path) -> None:
    good = batch_bytes([Record(5, 10, b"a", b"v")])
    path = tmp_path / "0.log"
    path.write_bytes(patched(batch_bytes([Record(0, 0, b"b", b"value")]), 70, b"?") + good)

    with using(engine):
        found = as_json(summarise(str(path), Query(filter=Filter(keys=frozenset({"a"})))))

    assert [one["reason"] for one in found["damage"]["first"]] == ["a wrong checksum"]
    assert (found["records"]["count"], found["offsets"]["first"]) == (1, 5)


@each_engine
def test_check_decodes_each_record(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(batch_bytes([Record(0, 0, None, b"\1\5\0broken"), Record(1, 0, None, None)]))

    with using(engine):
        plain = as_json(summarise(str(path), Query("metadata")))
        checked = as_json(summarise(str(path), Query("metadata", check=True)))

    assert plain["undecodable"]["count"] == 0
    assert checked["undecodable"]["count"] == 2
    assert checked["undecodable"]["first"][0]["reason"].startswith("offset 0: ")


def test_gaps_and_open_transactions_are_unknown_where_records_are_left_out() -> None:
    path = str(IN / "user/txn/00000000000000000018.log")

    by_key = as_json(summarise(path, Query(filter=Filter(keys=frozenset({"k1"})))))
    by_time = as_json(summarise(path, Query(filter=Filter(last_offset=45))))

    assert by_key["offsets"]["gaps"] is by_time["offsets"]["gaps"] is None
    assert by_key["transactions"]["open"] is None
    assert by_key["transactions"]["durationMs"]["max"] is None
    assert [one["firstOffset"] for one in by_time["transactions"]["open"]]


def test_transactional_ids_whose_ends_are_left_out_are_not_open() -> None:
    """The record that completes a transaction names no topic, and so a topic made all hang."""
    (path,) = (REAL / "stopped/__transaction_state-0").glob("*.log")
    filters = [Filter(topics=frozenset({"txn"})), Filter(keys=frozenset({"t0"})), Filter()]

    found = [as_json(summarise(str(path), Query("transaction", filter=one))) for one in filters]

    assert [one["transactionalIds"]["count"] for one in found] == [2, 1, 2]
    assert [one["transactions"]["open"] for one in found] == [None, [], []]


def test_groups_are_those_at_a_time() -> None:
    """The markers of a group's transactions have no key, and end them all the same."""
    path = str(IN / "consumer_offsets/00000000000000000000.log")
    everything = as_json(summarise(path, Query("offsets")))["groups"]
    name = everything["groups"][0]["group"]

    found = as_json(summarise(path, Query("offsets", filter=Filter(keys=frozenset({name})))))

    assert found["groups"]["groups"] == everything["groups"][:1]


def test_log_ends_after_its_last_batch_whatever_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000040.log"
    path.write_bytes(batch_bytes([Record(40, 10, b"a", b"v"), Record(44, 10, b"b", b"v")]))
    empty = tmp_path / "00000000000000000050.log"
    empty.touch()
    chosen = Query(filter=Filter(keys=frozenset({"a"})))

    assert as_json(summarise(str(path), chosen))["offsets"]["end"] == 45
    assert as_json(summarise(str(empty)))["offsets"]["end"] == 50
    quota = Counting(quota=Quota(0, 1))
    assert as_json(summarise(str(path), counting=quota))["offsets"]["end"] is None


def random_batch(rng: Random, offset: int) -> bytes:
    """Return a batch of a producer: data of any codec, or a control record."""
    producer = rng.choice((-1, 1, 2, 3, rng.randrange(1000)))
    time = rng.choice((-1, 0, rng.randrange(1 << 41)))
    transactional = rng.choice((0, TRANSACTIONAL)) if producer >= 0 else 0
    if rng.random() < 0.2:
        record = Record(offset, time, rng.choice(_MARKERS), bytes(6))
        attributes = CONTROL | transactional
        return batch_bytes([record], attributes=attributes, producer_id=producer)
    records = [
        Record(offset + number, time + rng.randrange(5), rng.choice((None, b"k")), rng.randbytes(9))
        for number in range(rng.choice((1, 1, 1, 2, 30)))
    ]
    return batch_bytes(
        records,
        attributes=rng.choice((0, 0, 1, 2, 3, 4))
        | rng.choice((0, LOG_APPEND_TIME))
        | transactional,
        leader_epoch=rng.randrange(-1, 4),
        producer_id=producer,
        producer_epoch=rng.randrange(3),
    )


def random_log(rng: Random) -> bytes:
    """Return a log with gaps, steps back and damaged batches."""
    batches, offset = [], 0
    for _ in range(400):
        offset = max(offset + rng.choice((30, 30, 31, 500, -40)), 0)
        batch = random_batch(rng, offset)
        if rng.random() < 0.02:
            batch = patched(batch, len(batch) - 1, bytes([batch[-1] ^ 1]))
        batches.append(batch)
    return b"".join(batches)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "chosen", [Filter(), Filter(first_offset=2000, last_offset=8010), Filter(since=1 << 39)]
)
def test_a_summary_is_that_of_the_batches_one_by_one(
    seed: int, chosen: Filter, tmp_path: Path
) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(random_log(Random(seed)))
    found = {}

    for engine in ("native", "reference"):
        with using(engine):
            found[engine] = as_json(summarise(str(path), Query(filter=chosen)))

    assert found["native"] == found["reference"]
    assert found["native"]["batches"]["count"] > 10
    assert found["native"]["damage"]["count"]


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the positions of the batches that are counted one by one, as they come."""
    positions: list[int] = []
    add = FileCounter.add

    def note(counter: FileCounter, batch: Batch) -> None:
        positions.append(batch.position)
        add(counter, batch)

    monkeypatch.setattr(FileCounter, "add", note)
    return positions


def test_only_batches_that_the_engine_declines_are_read_one_by_one(
    tmp_path: Path, added: list[int]
) -> None:
    path = tmp_path / "00000000000000000000.log"
    batches = [batch_bytes([Record(number, 0, None, b"value")]) for number in range(100)]
    batches[50] = patched(batches[50], 30, b"\xff")
    path.write_bytes(b"".join(batches))

    with using("native"):
        summary = summarise(str(path))

    assert added == [sum(map(len, batches[:50]))]
    assert summary.batches.count == 99
    assert summary.offsets.missing == 1


def test_a_sound_log_is_counted_at_once_with_salvage_too(tmp_path: Path, added: list[int]) -> None:
    path = tmp_path / "00000000000000000000.log"
    batches = [batch_bytes([Record(number, 0, None, b"value")]) for number in range(100)]
    path.write_bytes(b"".join(batches) + bytes(500))

    with using("native"):
        sound = summarise(str(path), Query(salvage=True))
        at_once = len(added)
        path.write_bytes(b"".join([*batches[:50], b"damage", *batches[51:]]))
        damaged = summarise(str(path), Query(salvage=True))

    assert (at_once, sound.batches.count, sound.padding) == (0, 100, 500)
    assert (damaged.batches.count, damaged.damage.size) == (99, 6)
