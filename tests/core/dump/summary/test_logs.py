"""Logs of a summary: chosen by name, and what they tell about each other."""

from pathlib import Path
from typing import Any

import pytest

from kraftops.dump.sources.names import Source
from kraftops.dump.summary.logs import Log, add_summary, fields_of, log_name, log_of, readings
from kraftops.errors import UsageError
from kraftops.log.batch import TRANSACTIONAL, Record
from kraftops.query.query import Query
from tests.helpers.logs.segments import IN
from tests.helpers.logs.summaries import summarised
from tests.helpers.logs.written import batch_bytes


def source(path: str, decoder: str | None = None) -> Source:
    topic, _, number = path.split("/")[-2].rpartition("-")
    return Source(path, decoder, topic, int(number), 0)


OFFSETS = source("/d/__consumer_offsets-3/0.log", "offsets")
IDS = source("/d/__transaction_state-1/0.log", "transaction")
ORDERS = [source("/d/orders-0/0.log"), source("/d/orders-0/9.log"), source("/d/orders-1/0.log")]
ALL = [OFFSETS, IDS, *ORDERS]


def read(*names: str, details: bool = False, sources: list[Source] = ALL) -> dict[str, str]:
    """Return what is done with each path that is read."""
    return {
        one.path.removeprefix("/d/"): f"{'shown' if one.is_shown else 'read'}"
        f"{', detailed' if one.details else ''}"
        for one in readings(sources, Query(), names, details=details)
    }


def test_many_logs_are_counted_without_details_but_transactional_ids() -> None:
    assert read() == {
        "__consumer_offsets-3/0.log": "shown",
        "__transaction_state-1/0.log": "shown, detailed",
        "orders-0/0.log": "shown",
        "orders-0/9.log": "shown",
        "orders-1/0.log": "shown",
    }
    assert set(read(details=True).values()) == {"shown, detailed"}


def test_single_log_has_details() -> None:
    assert read(sources=ORDERS[:2]) == {
        "orders-0/0.log": "shown, detailed",
        "orders-0/9.log": "shown, detailed",
    }


def test_log_is_named_by_topic_or_partition() -> None:
    ids = {"__transaction_state-1/0.log": "read, detailed"}
    one = {"orders-1/0.log": "shown, detailed"}

    assert read("orders-1") == {**ids, **one}
    assert set(read("orders")) == {*ids, *one, "orders-0/0.log", "orders-0/9.log"}


def test_newest_segments_of_other_logs_are_read_for_the_lag_of_groups() -> None:
    assert read("__consumer_offsets") == {
        "__consumer_offsets-3/0.log": "shown, detailed",
        "__transaction_state-1/0.log": "read, detailed",
        "orders-0/9.log": "read",
        "orders-1/0.log": "read",
    }


def test_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="no log 'order-1'") as caught:
        read("order-1")

    assert "orders-1" in str(caught.value.hint)


def test_replicas_of_two_servers_are_two_logs_and_so_are_unnamed_directories() -> None:
    assert log_of("/a/t-0/0.log", "user", "t", 0) != log_of("/b/t-0/0.log", "user", "t", 0)
    assert log_of("/a/0.log", "user", None, None) == log_of("/a/9.log", "user", None, None)
    assert log_of("/a/0.log", "user", None, None) != log_of("/b/0.log", "user", None, None)
    assert [log_name("t", 1), log_name("t", None), log_name(None, None)] == ["t-1", "t", "-"]


def data_log(tmp_path: Path, producer_id: int, end: int) -> str:
    path = tmp_path / f"{producer_id}.log"
    record = Record(end - 1, 1_000, b"k", b"v")
    path.write_bytes(
        batch_bytes(
            [record],
            attributes=TRANSACTIONAL,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=0,
        )
    )
    return str(path)


def fields(tmp_path: Path, topic: str, end: int, producer_id: int = 5) -> dict[str, Any]:
    """Return the fields of the real coordinator's logs, each beside a log of data."""
    summaries: dict[Log, Any] = {}
    data = summarised(data_log(tmp_path, producer_id, end))
    add_summary(summaries, Log("user", topic, 0), data)
    for decoder, name in (("offsets", "consumer_offsets"), ("transaction", "transaction_state")):
        path = str(IN / name / "00000000000000000000.log")
        add_summary(summaries, Log(decoder, f"__{name}", 0), summarised(path, decoder))
    return {str(log.topic): one for log, one in fields_of(summaries).items()}


def test_lag_is_told_by_the_end_of_the_log(tmp_path: Path) -> None:
    groups = fields(tmp_path, "a.none", 100)["__consumer_offsets"]["groups"]["groups"]

    classic = next(group for group in groups if group["group"] == "a.classic")
    shown = {
        (one["topic"], one["partition"]): (one["offset"], one["endOffset"], one["lag"])
        for one in classic["offsets"]
    }
    assert shown["a.none", 0] == (60, 100, 40)
    assert {(end, lag) for (topic, _), (_, end, lag) in shown.items() if topic != "a.none"} == {
        (None, None)
    }


def test_open_transaction_has_its_id(tmp_path: Path) -> None:
    ids = fields(tmp_path, "t", 1)["__transaction_state"]["transactionalIds"]["transactionalIds"]
    known = {one["producerId"]: one["transactionalId"] for one in ids}
    producer_id = max(known)

    (entry,) = fields(tmp_path, "t", 1, producer_id)["t"]["transactions"]["open"]
    (other,) = fields(tmp_path, "t", 1, max(known) + 1)["t"]["transactions"]["open"]

    assert (entry["producerId"], entry["transactionalId"]) == (producer_id, known[producer_id])
    assert other["transactionalId"] is None
