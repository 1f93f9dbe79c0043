"""Run work in one worker: its text comes in order, whatever its length, and its result first."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

from kraftops.spark.jobs.run import awaited, check_workers, reading_whole_log, tasks
from kraftops.spark.session.job_progress import Show, watched
from kraftops.spark.session.our_jobs import spark_may_be_gone
from kraftops.spark.session.session import Session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CHUNK_BYTES = 1 << 20  # of text in a row: few rows, and far below what Spark lets a driver collect
_CHUNKS = 4  # that go to the driver at a time: Spark holds as many in a batch of what it keeps
_RESULT = -1  # in place of the number of a chunk, which begins at 0


class TextWork(Protocol):
    """Work that writes lines; it must be picklable, and so must its result."""

    def __call__(self, out: IO[bytes]) -> object:
        """Write lines to *out*; the result is pickled for the driver."""


class WorkerText(NamedTuple):
    """The result of work, and its text in chunks of whole lines."""

    result: Any
    chunks: Iterator[bytes]


@dataclass(frozen=True)
class _Spooled:
    """Task that keeps the text in a file until all is there."""

    work: TextWork

    def __call__(self, _: Iterable[None]) -> Iterator[tuple[int, bytes]]:
        with TemporaryFile() as file:
            yield _RESULT, pickle.dumps(self.work(file))
            file.seek(0)
            number = 0
            while lines := file.readlines(_CHUNK_BYTES):
                yield number, b"".join(lines)
                number += 1


def run_for_text(
    session: Session, names: Sequence[str], work: TextWork, show: Show | None = None
) -> WorkerText:
    """Return what work on the whole log *names* gives in a worker.

    Raises:
        SparkError: the job failed.
        KeyboardInterrupt: Ctrl-C; no task is running.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    check_workers(session)
    session.jobs.describe("a search in one worker")
    with ExitStack() as opened:
        opened.enter_context(reading_whole_log(session, names))
        table = tasks(session, [None], _Spooled(work), "number bigint, content binary")
        table = table.persist(StorageLevel.DISK_ONLY)
        opened.callback(spark_may_be_gone()(table.unpersist))
        with watched(session.jobs, 1, show):
            last: Any = awaited(session, table.agg(f.max("number")).collect)
        (result,) = _contents(session, table, _RESULT, _RESULT)
        chunks = _chunks(session, table, last[0][0], opened.pop_all())
        return WorkerText(pickle.loads(result), chunks)  # noqa: S301 - by our worker


def _chunks(session: Session, table: DataFrame, last: int, opened: ExitStack) -> Iterator[bytes]:
    """Yield the chunks of a text, and close what they need."""
    with opened:
        for first in range(0, last + 1, _CHUNKS):
            yield from _contents(session, table, first, first + _CHUNKS - 1)


def _contents(session: Session, table: DataFrame, first: int, last: int) -> Iterator[bytes]:
    from pyspark.sql import functions as f

    some = table.where(f.col("number").between(first, last))
    rows: Any = awaited(session, some.collect)
    return (bytes(row.content) for row in sorted(rows, key=lambda row: int(row.number)))
