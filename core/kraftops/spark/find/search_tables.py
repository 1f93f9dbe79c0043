"""Tables of a search on Spark: batches by shard, the results of shards, and lines about findings.

Rows go from Spark to our code by functions of tables (UDTFs), which need no pandas.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kraftops.image.load.prescan import CountedRange
from kraftops.spark.find.partitioner import FIRST_SHARD
from kraftops.spark.find.search_tasks import (
    FailedRecords,
    FindingsWork,
    Line,
    ReplayWork,
    ShardResult,
    ShardWork,
)
from kraftops.spark.find.shard_replay import RecordFinding
from kraftops.spark.find.sharded_batch import EMPTY_BATCH, ShardedBatch
from kraftops.spark.jobs.run import shipped, tasks
from kraftops.spark.session.session import Session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BATCHES = "shard int, source int, after bigint, position bigint, data binary, numbers binary"
RESULTS = "kind string, total bigint, key binary, line binary"
FAILED, FINDING, LINE = "failed", "finding", "line"
"""Kinds of results."""
_SIGN = 1 << 63
_FINDINGS = 1000  # that are searched at a time

ResultRow = tuple[str, int, bytes, bytes]


@dataclass(frozen=True)
class ShardRows:
    """Task that cuts batches into shards, as rows; without a range it asks the first shard."""

    work: ShardWork

    def __call__(self, things: Iterable[CountedRange | None]) -> Iterator[tuple[object, ...]]:
        """Yield rows."""
        for counted in things:
            if counted is None:
                yield (FIRST_SHARD, *EMPTY_BATCH)
                continue
            for shard, batch in self.work([counted]):
                yield (shard, *batch)


def batches_table(session: Session, ranges: Sequence[CountedRange], work: ShardWork) -> DataFrame:
    """Return the table of all batches, by their shards."""
    return tasks(session, [*ranges, None], ShardRows(work), BATCHES)


def results_table(session: Session, batches: DataFrame, work: ReplayWork) -> DataFrame:
    """Return the table of the results of all shards."""
    results = shipped(session, work)

    class ReplayShard:
        """Function of the rows of one shard."""

        def __init__(self) -> None:
            self._batches: list[tuple[int, ShardedBatch]] = []

        def eval(self, row: Any) -> None:
            shard, source, after, position, data, numbers = row
            batch = ShardedBatch(source, after, position, bytes(data), bytes(numbers))
            self._batches.append((shard, batch))

        def terminate(self) -> Iterator[ResultRow]:
            batches, self._batches = self._batches, []
            yield from map(result_row, results(batches))

    replay = _function(ReplayShard)
    return replay(batches.asTable().partitionBy("shard").orderBy("source", "position"))


def findings_table(session: Session, results: DataFrame, work: FindingsWork) -> DataFrame:
    """Return the table of lines about findings, which are numbered in the order of the log."""
    from pyspark.sql import functions as f

    lines = shipped(session, work)

    class SearchFindings:
        """Function of the rows of all findings."""

        def __init__(self) -> None:
            self._some: list[tuple[RecordFinding, int]] = []
            self._count = 0

        def eval(self, row: Any) -> Iterator[ResultRow]:
            self._some.append((pickle.loads(row.line), self._count))  # noqa: S301 - ours
            self._count += 1
            if len(self._some) >= _FINDINGS:
                yield from self._searched()

        def terminate(self) -> Iterator[ResultRow]:
            yield from self._searched()

        def _searched(self) -> Iterator[ResultRow]:
            some, self._some = self._some, []
            yield from map(result_row, lines(some))

    findings = results.where(f.col("kind") == FINDING)
    search = _function(SearchFindings)
    return search(findings.asTable().withSinglePartition().orderBy("key"))


def result_row(result: ShardResult | Line) -> ResultRow:
    """Return a result as a row; findings are sorted by their key."""
    if isinstance(result, FailedRecords):
        return FAILED, result.total, b"", b""
    if isinstance(result, RecordFinding):
        key = b"".join((number + _SIGN).to_bytes(8) for number in result.order)
        return FINDING, 0, key, pickle.dumps(result)
    key, line = result
    return LINE, 0, key, line


def _function(kind: type) -> Callable[..., DataFrame]:
    from pyspark.sql import functions as f

    function: Any = f.udtf(kind, returnType=RESULTS, useArrow=False)
    return function  # type: ignore[no-any-return]
