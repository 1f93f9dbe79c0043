"""The numbers of a log."""

import json
from pathlib import Path
from typing import Any

import pytest

from kraftops.dump.summary import summary as module
from kraftops.dump.summary.summary import DamageSite, DamageSites
from kraftops.log.batch import DELETE_HORIZON, LOG_APPEND_TIME, Record
from kraftops.records.meaning import Label
from tests.helpers.logs.segments import (
    ATTRIBUTES_AT,
    IN,
    batch_around,
    batches_of,
    patched,
    resealed,
)
from tests.helpers.logs.summaries import as_json, empty_summary, summarised
from tests.helpers.logs.written import batch_bytes

TIMES = [Record(n, time, b"k", b"v") for n, time in enumerate((1_000, 5_000, 3_000))]


def counted(*batches: bytes, in_log: bool = True) -> dict[str, Any]:
    found = empty_summary()
    for batch in batches_of(b"".join(batches)):
        found.add_batch(batch.header, batch, batch.size - 61, in_log=in_log)
    return as_json(found)


def test_no_field_of_a_summary_is_removed() -> None:
    """Programs read them: fields may be added, none removed."""
    found = as_json(empty_summary("user"))

    assert list(found) == [
        "decoder",
        "segments",
        "files",
        "batches",
        "records",
        "types",
        "control",
        "offsets",
        "times",
        "leaderEpochs",
        "codecs",
        "paddingBytes",
        "tornBytes",
        "damage",
        "undecodable",
        "transactions",
        "producers",
        "largest",
        "keys",
        "largestProducers",
    ]
    assert "groups" in as_json(empty_summary("offsets"))
    assert "transactionalIds" in as_json(empty_summary("transaction"))
    assert list(found["batches"]) == [
        "count",
        "bytes",
        "control",
        "transactional",
        "byMagic",
        "sizes",
        "records",
    ]
    assert list(found["transactions"]) == ["committed", "aborted", "open", "durationMs"]


@pytest.mark.parametrize("decoder", ["user", "offsets", "transaction"])
def test_summary_of_nothing_is_json(decoder: str) -> None:
    empty, other = empty_summary(decoder), empty_summary(decoder)
    empty.merge(other)

    assert json.loads(json.dumps(as_json(empty))) == as_json(other)


def test_batches_are_counted() -> None:
    small, large = batch_bytes(TIMES), batch_bytes(TIMES, attributes=3, leader_epoch=4)

    found = counted(small, large, large)

    assert found["batches"]["count"] == 3
    assert found["batches"]["bytes"] == len(small + large + large)
    assert found["batches"]["sizes"]["min"] == min(len(small), len(large))
    assert found["batches"]["records"] == {"min": 3, "p50": 3, "p99": 3, "max": 3, "exact": True}
    assert found["leaderEpochs"] == [
        {"epoch": 0, "firstOffset": 0, "batches": 1, "records": 3},
        {"epoch": 4, "firstOffset": 0, "batches": 2, "records": 6},
    ]
    assert [(one["codec"], one["batches"]) for one in found["codecs"]] == [("none", 1), ("lz4", 2)]


def test_batch_that_compaction_has_emptied_counts_without_records() -> None:
    found = counted(batch_around(b"", 0, base_offset=5, timestamp=7))

    assert found["records"]["count"] == 0
    assert (found["offsets"]["first"], found["offsets"]["removed"]) == (5, 1)
    assert found["times"]["lastMs"] == 7
    assert found["times"]["histogram"]["counts"] == []
    assert found["codecs"][0]["ratio"] is None


def test_times_are_from_the_first_to_the_largest() -> None:
    times = counted(batch_bytes(TIMES))["times"]

    assert (times["firstMs"], times["lastMs"]) == (1_000, 5_000)
    assert times["first"] == "1970-01-01T00:00:01.000Z"
    assert times["histogram"]["counts"] == [3]


@pytest.mark.parametrize("attribute", [LOG_APPEND_TIME, DELETE_HORIZON])
def test_first_timestamp_is_none_where_it_is_something_else(attribute: int) -> None:
    batch = batch_bytes(TIMES)
    other = resealed(patched(batch, ATTRIBUTES_AT, attribute.to_bytes(2)))

    assert counted(other)["times"]["firstMs"] == 5_000


def test_times_that_contradict_each_other_are_in_order() -> None:
    times = counted(batch_around(b"", 0, timestamp=9, max_timestamp=5))["times"]

    assert (times["firstMs"], times["lastMs"]) == (5, 5)


def test_batch_without_a_timestamp_has_no_time() -> None:
    times = counted(batch_bytes([Record(0, -1, None, b"v")]))["times"]

    assert (times["firstMs"], times["histogram"]["counts"]) == (None, [])


def test_offsets_of_a_snapshot_are_not_counted() -> None:
    assert counted(batch_bytes(TIMES), in_log=False)["offsets"]["first"] is None


def test_types_are_ordered_by_number_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LABELS", 2)
    found = empty_summary()
    for name, version, count in (("a", 0, 5), ("b", 1, 7), ("c", 0, 1), ("a", 0, 1), ("d", 0, 1)):
        found.add_records([(Label(name, version), count, 10 * count)])

    assert as_json(found)["types"] == [
        {"type": "b", "version": 1, "count": 7, "bytes": 70},
        {"type": "a", "version": 0, "count": 6, "bytes": 60},
        {"type": "OTHER", "version": None, "count": 2, "bytes": 20},
    ]


@pytest.mark.parametrize(
    ("path", "decoder"),
    [
        ("meta/00000000000000000000.log", "metadata"),
        ("consumer_offsets/00000000000000000000.log", "offsets"),
        ("user/txn/00000000000000000018.log", "user"),
    ],
)
def test_bytes_of_all_records_are_those_of_the_batches(path: str, decoder: str) -> None:
    found = as_json(summarised(str(IN / path), decoder))

    assert found["records"]["bytes"] == sum(
        one["bytes"] for one in [*found["types"], *found["control"]]
    )
    assert found["records"]["bytes"] == sum(one["uncompressedBytes"] for one in found["codecs"])
    assert found["batches"]["bytes"] == Path(IN / path).stat().st_size


def test_only_the_first_damage_sites_are_reported() -> None:
    ours, later = DamageSites(), DamageSites()
    for number in range(15):
        ours.add(DamageSite("a", number, 2, "bad"))
        later.add(DamageSite("b", number, 3, "bad"))
    ours.merge(later)

    fields = as_json(ours)

    assert (fields["count"], fields["bytes"], len(fields["first"])) == (30, 75, 20)
    assert fields["first"][0] == {"file": "a", "position": 0, "bytes": 2, "reason": "bad"}
    assert fields["first"][-1]["file"] == "b"
