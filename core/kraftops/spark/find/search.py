"""Search a metadata log in two passes: scan it, then replay and search each shard of its entities.

The image of a shard is made by the same code as the image of a whole log. All shards are asked, and
their answers are sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.image.load.prescan import CountedRange
from kraftops.image.state.findings import Finding
from kraftops.spark.find.partitioner import FIRST_SHARD
from kraftops.spark.find.prescan_job import prescanned
from kraftops.spark.find.scan_job import LogScan, PrescannedRanges, SearchedLog
from kraftops.spark.find.search_tasks import (
    FailedRecords,
    FindingsWork,
    Line,
    ReplayWork,
    ScanWork,
    Search,
    Sharding,
    ShardResult,
    ShardWork,
)
from kraftops.spark.find.shard_replay import RecordFinding
from kraftops.spark.find.sharded_batch import EMPTY_BATCH
from kraftops.spark.jobs.run import awaited, reading_whole_log, run, shipped
from kraftops.spark.session.session import Session
from kraftops.spark.session.status_tracker import Show, watched

if TYPE_CHECKING:
    from pyspark import Accumulator

_SHARD_BYTES = 16 << 20
_MOST_SHARDS = 4096
_RESULT_BYTES = 4 << 20  # of lines that go to the driver at a time


class SearchResult(NamedTuple):
    """Lines in order, and findings about the log; a line of several shards comes as often.

    *failed_records* counts records that could not be applied.
    """

    lines: Iterator[Line]
    findings: list[Finding]
    failed_records: int


def cut_counted(
    counted_ranges: Iterable[CountedRange], scanned: PrescannedRanges
) -> Iterator[CountedRange]:
    """Yield counted ranges, cut where the prescan has cut the files."""
    for counted in counted_ranges:
        start = counted.start
        for part, _ in scanned.get(counted.path, ()):
            end = part.start + part.size
            if start < end < counted.stop:
                yield counted._replace(start=start, stop=end)
                start = end
        yield counted._replace(start=start)


def search_log(
    session: Session,
    log: SearchedLog,
    search: Search,
    *,
    with_findings: bool = True,
    show: Show | None = None,
) -> SearchResult:
    """Return the result of a search in the state of a metadata log, without an image of it all.

    Args:
        session: where to run the jobs.
        log: the log.
        search: is called in workers.
        with_findings: whether to search findings about records, too.
        show: is called with the progress.

    Raises:
        SourceError: the log cannot be read, or holds no metadata records.
        UsageError: it does not reach back to the limits.
        SparkError: a job failed.
    """
    scanned = prescanned(session, log, show)
    with reading_whole_log(session, log.names):
        (scan,) = run(session, [scanned], ScanWork(log), show)
    if not isinstance(scan, LogScan):
        raise scan
    size = sum(counted.stop - counted.start for counted in scan.all_counted)
    count = max(session.cores, min(_MOST_SHARDS, size // _SHARD_BYTES))
    sharding = Sharding(
        session.context.broadcast(scan), session.settings.shards or count, log.dialect
    )
    counted_ranges = list(cut_counted(scan.all_counted, scanned))
    session.jobs.describe(f"replay, {sharding.count} shards")
    shards = _replayed(session, counted_ranges, sharding, search)
    try:
        with reading_whole_log(session, log.names), watched(session.jobs, sharding.count, show):
            failed = awaited(session, shards.results.mapPartitions(_failed_records).sum)
            lines = shards.results.filter(_is_line)
            if failed and with_findings:
                work = FindingsWork(search, len(scan.findings), log.dialect)
                findings = shards.results.filter(_is_finding)
                numbered = findings.sortBy(itemgetter(0)).zipWithIndex()
                lines = lines.union(numbered.mapPartitions(work))
            sorted_lines = _sorted_lines(session, lines, 1 + shards.size.value // _RESULT_BYTES)
            parts = sorted_lines.getNumPartitions()
    except BaseException:
        shards.release()
        raise

    def read() -> Iterator[Line]:
        # `toLocalIterator` leaves its results in the memory of the JVM (Spark 4.3).
        try:
            with reading_whole_log(session, log.names):
                for part in range(parts):
                    for key, line in session.context.runJob(sorted_lines, list, [part]):
                        yield bytes(key), bytes(line)
        finally:
            shards.release()

    return SearchResult(read(), scan.findings, failed)


class _ReplayedShards(NamedTuple):
    """RDD of the results of all shards, the broadcast that it needs, and the bytes of lines."""

    results: Any
    scan: Any
    size: Accumulator[int]

    def release(self) -> None:
        """Have Spark forget all of it, if Spark still scanned."""
        from py4j.protocol import Py4JError

        with suppress(Py4JError, OSError):
            self.results.unpersist()
            self.scan.destroy()


def _replayed(
    session: Session, counted_ranges: list[CountedRange], sharding: Sharding, search: Search
) -> _ReplayedShards:
    """Return the results of all shards, computed when they are first used."""
    from pyspark import StorageLevel

    context = session.context
    size = context.accumulator(0)
    batches = context.parallelize(counted_ranges, max(1, len(counted_ranges))).mapPartitions(
        shipped(session, ShardWork(sharding))
    )
    first = context.parallelize([(FIRST_SHARD, EMPTY_BATCH)], 1)
    results = (
        batches.union(first)
        .partitionBy(sharding.count, int)
        .mapPartitions(shipped(session, ReplayWork(sharding, search, size)))
    )
    return _ReplayedShards(results.persist(StorageLevel.DISK_ONLY), sharding.scan, size)


def _sorted_lines(session: Session, lines: Any, parts: int) -> Any:
    """Return an RDD of lines by key, in *parts* partitions."""
    schema = "key binary, line binary"
    table = session.spark.createDataFrame(lines, schema, verifySchema=False)
    return table.repartitionByRange(parts, "key").sortWithinPartitions("key").rdd.map(tuple)


def _failed_records(results: Iterable[ShardResult]) -> Iterator[int]:
    """Yield the number of failed records of a shard, which is its first result."""
    for first in results:
        assert isinstance(first, FailedRecords)
        yield first.total
        return


def _is_line(result: ShardResult) -> bool:
    return type(result) is tuple


def _is_finding(result: ShardResult) -> bool:
    return isinstance(result, RecordFinding)
