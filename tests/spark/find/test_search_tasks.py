"""Tasks of a search work on what Spark gives them: in any order, and several shards a task."""

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kraftops.errors import SourceError
from kraftops.image.replay.limits import Limits
from kraftops.image.state.image import MetadataImage
from kraftops.spark.find.partitioner import FIRST_SHARD
from kraftops.spark.find.scan_job import LogScan, SearchedLog, scan_log
from kraftops.spark.find.search_tasks import (
    FailedRecords,
    FindingsWork,
    Line,
    ReplayWork,
    ScanWork,
    Sharding,
    ShardWork,
)
from kraftops.spark.find.shard_replay import RecordFinding
from kraftops.spark.find.sharded_batch import EMPTY_BATCH
from tests.helpers.engine.fold_records import U, V, change, partition, topic
from tests.helpers.logs.random_logs import log_batches, log_bytes

COUNT = 40


class TopicSearch:
    """A search that yields the names of topics, and the numbers of findings."""

    def of_image(self, image: MetadataImage, *, is_first: bool) -> Iterable[Line]:
        if is_first:
            yield b"", b"first"
        for name in image.fold.topic_names():
            yield name.encode(), name.encode()

    def of_findings(self, image: MetadataImage, first: int) -> Iterable[Line]:
        for number, _ in enumerate(image.record_findings, first):
            yield b"", b"%d" % number


@pytest.fixture
def scan(tmp_path: Path) -> LogScan:
    """The scan of a log of topics a and b, with two records that cannot be applied."""
    path = tmp_path / "00000000000000000000.log"
    batches = log_batches(
        [topic(), partition()], [topic(U, "b"), partition(0, V)], [change(9), partition(0, U)]
    )
    path.write_bytes(log_bytes(batches))
    return scan_log(SearchedLog((str(path),), Limits(), "kafka"))


def sharding(scan: LogScan) -> Sharding:
    return Sharding(SimpleNamespace(value=scan), COUNT, "kafka")


def replayed(scan: LogScan, *, is_reversed: bool = False) -> list[Any]:
    batches = [*ShardWork(sharding(scan))(scan.all_counted), (FIRST_SHARD, EMPTY_BATCH)]
    if is_reversed:
        batches.reverse()
    return list(ReplayWork(sharding(scan), TopicSearch())(batches))


def test_scan_that_fails_yields_its_error(tmp_path: Path) -> None:
    log = SearchedLog((str(tmp_path / "none.log"),), Limits(), "kafka")

    (error,) = ScanWork(log)([{}])

    assert isinstance(error, SourceError)


def test_shards_are_replayed_in_the_order_of_the_log(scan: LogScan) -> None:
    in_order = replayed(scan)
    reordered = replayed(scan, is_reversed=True)

    assert in_order == reordered
    lines = [one for one in in_order if type(one) is tuple]
    assert sorted(line for _, line in lines) == [b"a", b"b", b"first"]


def test_failed_records_are_counted_and_reported(scan: LogScan) -> None:
    results = replayed(scan)

    findings = [one for one in results if isinstance(one, RecordFinding)]
    assert sum(one.total for one in results if isinstance(one, FailedRecords)) == 2
    assert sorted(one.reason for one in findings) == [
        "there is no such partition", "there is no topic with this id",
    ]  # fmt: skip


def test_first_shard_is_asked_even_without_records(scan: LogScan) -> None:
    work = ReplayWork(sharding(scan), TopicSearch())

    assert list(work([(FIRST_SHARD, EMPTY_BATCH)])) == [FailedRecords(0), (b"", b"first")]


def test_findings_are_numbered_after_those_of_the_log(scan: LogScan) -> None:
    results = replayed(scan)
    findings = sorted(one for one in results if isinstance(one, RecordFinding))
    work = FindingsWork(TopicSearch(), 5, "kafka")

    assert list(work([(findings[0], 3), (findings[1], 4)])) == [(b"", b"8"), (b"", b"9")]
    assert list(work([])) == []
