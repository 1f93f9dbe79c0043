"""Search a metadata log in two passes: scan it, then replay and search each shard of its entities.

The image of a shard is made by the same code as the image of a whole log. All shards are asked, and
their answers are sorted.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.findings.finding import Finding
from kraftops.image.load.prescan import CountedRange
from kraftops.spark.find.prescan_job import prescanned
from kraftops.spark.find.scan_job import LogScan, PrescannedRanges, SearchedLog, sent
from kraftops.spark.find.search_tables import (
    LINE,
    batches_table,
    findings_table,
    results_table,
)
from kraftops.spark.find.search_tasks import (
    FindingsWork,
    Line,
    ReplayWork,
    ScanWork,
    Search,
    Sharding,
    ShardWork,
)
from kraftops.spark.jobs.run import awaited, reading_whole_log, run, shipped
from kraftops.spark.session.job_progress import Show, watched
from kraftops.spark.session.our_jobs import spark_may_be_gone
from kraftops.spark.session.session import Session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SHARD_BYTES = 1 << 20  # Spark holds all lines of a shard at once, 20 times as much as its bytes
_MOST_SHARDS = 4096
_PARTITION_BYTES = 16 << 20  # of the shards that a task replays one by one
_RESULT_BYTES = 4 << 20  # of lines that go to the driver at a time, from each core
_PACKED_LINES = 1 << 14


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
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    scanned = prescanned(session, log, show)
    with reading_whole_log(session, log.names):
        (scan,) = run(session, [scanned], ScanWork(log), show)
    if not isinstance(scan, LogScan):
        raise scan
    size = sum(counted.stop - counted.start for counted in scan.all_counted)
    count = max(session.cores, min(_MOST_SHARDS, size // _SHARD_BYTES))
    counted_ranges = list(cut_counted(scan.all_counted, scanned))
    count = session.settings.shards or count
    with ExitStack() as opened:
        sharding = Sharding(opened.enter_context(sent(session, scan)), count, log.dialect)
        opened.enter_context(reading_whole_log(session, log.names))
        session.jobs.describe(f"replay, {count} shards")
        partitions = max(4 * session.cores, size // _PARTITION_BYTES)
        session.tune("spark.sql.shuffle.partitions", str(min(count, partitions)))
        batches = batches_table(session, counted_ranges, ShardWork(sharding))
        results = results_table(session, batches, ReplayWork(sharding, search))
        results = results.persist(StorageLevel.DISK_ONLY)
        opened.callback(_released, results)
        with watched(session.jobs, len(counted_ranges) + 1, show):
            failed, size = awaited(session, partial(_sums, results))
        lines = results.where(f.col("kind") == LINE)
        if failed and with_findings:
            work = FindingsWork(search, len(scan.findings), log.dialect)
            lines = lines.union(findings_table(session, results, work))
        sorted_lines = (
            lines.select("key", "line")
            .repartitionByRange(1 + size // _RESULT_BYTES, "key")
            .sortWithinPartitions("key")
        )
        lines_read = _read(session, sorted_lines, opened.pop_all())
        return SearchResult(lines_read, scan.findings, failed)


def _sums(results: DataFrame) -> tuple[int, int]:
    """Return how many records have failed, and the bytes of all lines."""
    from pyspark.sql import functions as f

    bytes_ = f.when(f.col("kind") == LINE, f.length("key") + f.length("line"))
    (sums,) = results.agg(f.sum("total"), f.sum(bytes_)).collect()
    return int(sums[0] or 0), int(sums[1] or 0)


def _read(session: Session, lines: DataFrame, opened: ExitStack) -> Iterator[Line]:
    """Yield sorted lines, and close what they need."""
    with opened:
        if session.jobs.is_connect:
            for key, line in lines.toLocalIterator():
                yield bytes(key), bytes(line)
            return
        # `toLocalIterator` of a session with a JVM keeps all lines in that, up to the last one.
        partitions: Any = awaited(session, lambda: lines.rdd)
        packed, count = shipped(session, _packed), partitions.getNumPartitions()
        for first in range(0, count, session.cores):
            some = range(first, min(count, first + session.cores))
            call = partial(session.context.runJob, partitions, packed, some)
            for pickled in awaited(session, call):
                yield from pickle.loads(pickled)  # noqa: S301 - by `_packed`


def _packed(rows: Iterable[tuple[bytearray, bytearray]]) -> Iterator[bytes]:
    """Yield lines, pickled many at a time, in a worker."""
    lines = iter(rows)
    while some := [(bytes(key), bytes(line)) for key, line in islice(lines, _PACKED_LINES)]:
        yield pickle.dumps(some)


def _released(results: DataFrame) -> None:
    """Have Spark forget results, if Spark still runs."""
    with spark_may_be_gone():
        results.unpersist()
