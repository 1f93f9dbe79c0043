"""Run work on splits as a job of Spark, and stop it without leaving anything behind."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from kraftops.spark.jobs.planning import Split
from kraftops.spark.jobs.worker_crashes import CrashedSplit, RetryByRange
from kraftops.spark.session.failures import SparkError, job_errors
from kraftops.spark.session.job_progress import Show, watched
from kraftops.spark.session.session import Session
from kraftops.spark.session.shipping import ShippedWork, worker_state

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

T = TypeVar("T")
R = TypeVar("R")
_END_SECONDS = 10.0  # then Ctrl-C ends without the tasks' answer
_LOST_WORKER = re.compile(
    r"Python worker exited|ExecutorLost|[Ll]ost executor|[Ee]xecutor .*exited"
)


def run(
    session: Session,
    things: Sequence[T],
    work: Callable[[Iterable[T]], Iterable[R]],
    show: Show | None = None,
) -> list[R]:
    """Return the results of *work* on things, in their order; each thing is a task of its own.

    Args:
        session: where to run it.
        things: splits, for example; without any there is no job.
        work: called in workers, must be picklable.
        show: called with the progress.

    Raises:
        SparkError: the job failed.
        KeyboardInterrupt: Ctrl-C; no task is running.
    """
    if not things:
        return []

    def pickled(some: Iterable[T]) -> Iterator[tuple[bytes]]:
        for result in work(some):
            yield (pickle.dumps(result),)

    check_workers(session)
    with cancelled_on_interrupt(session):
        session.jobs.describe(f"{_name(work)}, {len(things)} tasks")
        table = tasks(session, things, pickled, "result binary")
        with watched(session.jobs, len(things), show):
            rows: list[Any] = awaited(session, table.collect)
    return [pickle.loads(row.result) for row in rows]  # noqa: S301 - pickled by our workers


def tasks(
    session: Session,
    things: Sequence[object],
    work: Callable[[Iterable[Any]], Iterable[tuple[object, ...]]],
    columns: str,
) -> DataFrame:
    """Return a table of *columns*, a DDL schema: the rows of *work*, a task for each thing."""
    from kraftops.spark.jobs.task_source import task_table

    if not session.settings.is_local:  # workers on other machines may lack modules
        work = ShippedWork(work)
    return task_table(session.spark, things, work, columns)


def run_by_range(
    session: Session,
    splits: Sequence[Split],
    work: Callable[[Iterable[Split]], Iterable[R]],
    show: Show | None = None,
) -> list[R]:
    """Return the results of work that makes one result a split, as `run` does.

    A split of several byte ranges that crashes at every try is read again by a second job, each
    range a task: it has a result for each, and only the range that crashes is not read.

    Raises:
        SparkError: the job failed.
        KeyboardInterrupt: Ctrl-C; no task is running.
    """
    by_range = RetryByRange(work, session.settings.tries)
    first: list[R | CrashedSplit] = run(session, splits, by_range, show)
    crashed = [
        split
        for split, result in zip(splits, first, strict=True)
        if isinstance(result, CrashedSplit)
    ]
    ranges = [Split(split.number, (labelled,), 0) for split in crashed for labelled in split.ranges]
    second = iter(run(session, ranges, work, show))
    results: list[R] = []
    for split, result in zip(splits, first, strict=True):
        results += (
            islice(second, len(split.ranges)) if isinstance(result, CrashedSplit) else (result,)
        )
    return results


def awaited(session: Session, call: Callable[[], R]) -> R:
    """Return the result of a call that waits for jobs, made in a thread of its own.

    Ctrl-C in the middle of a call has Py4J close the connections of all threads, and theirs would
    begin their jobs once more; of Spark Connect it would leave the job running.

    Raises:
        KeyboardInterrupt: Ctrl-C; our jobs are ended.
    """
    from pyspark import InheritableThread

    outcome: Future[R] = Future()

    def work() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised below
            outcome.set_exception(error)

    thread: Any = InheritableThread(target=work, daemon=True, session=session.spark)
    thread.start()
    session.jobs.is_awaited = True
    try:
        thread.join()
    except KeyboardInterrupt:
        session.jobs.cancel()
        thread.join(_END_SECONDS)
        raise
    except SystemExit:
        session.jobs.cancel_on_server()
        raise
    finally:
        session.jobs.is_awaited = False
    return outcome.result()


def _name(work: object) -> str:
    inner = work.work if isinstance(work, RetryByRange) else work
    name = getattr(inner, "__name__", type(inner).__name__).removesuffix("Work")
    return " ".join(re.findall(r"[A-Z]?[a-z0-9]+", name)).lower()


def check_workers(session: Session) -> None:
    """Have workers of a cluster name missing modules, once, before Spark needs them itself.

    Raises:
        SparkError: a module is missing.
        KeyboardInterrupt: Ctrl-C; no task is running.
    """
    if session.settings.is_local or session.is_checked:
        return
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType

    session.jobs.describe("look at the workers")
    look = f.udf(worker_state, StringType(), useArrow=False).asNondeterministic()
    with cancelled_on_interrupt(session):
        per_core = session.spark.range(0, session.cores, 1, session.cores)
        rows: list[Any] = awaited(session, per_core.select(look("id").alias("state")).collect)
    for row in rows:
        missing, slow = json.loads(row.state)
        if missing:
            raise SparkError(f"the job failed: {missing}")
        session.slow |= {slow} if slow else frozenset()
    session.is_checked = True


@contextmanager
def reading_whole_log(session: Session, names: Sequence[str]) -> Iterator[None]:
    """Run jobs that must read the whole log *names*; Ctrl-C ends them all.

    Raises:
        SparkError: a job failed; the message says so if workers crashed.
        KeyboardInterrupt: Ctrl-C; no task is running.
    """
    try:
        with cancelled_on_interrupt(session):
            yield
    except SparkError as error:
        if not _LOST_WORKER.search(error.message):
            raise
        tries = session.settings.tries
        raise SparkError(
            f"{', '.join(names)}: not all of it was read: a worker died at each of {tries} tries",
            hint="does it have the memory for the state of the log?",
        ) from error


@contextmanager
def cancelled_on_interrupt(session: Session) -> Iterator[None]:
    """Run jobs; Ctrl-C ends those that are ours.

    Raises:
        SparkError: a job failed.
        KeyboardInterrupt: Ctrl-C; no task is running.
    """
    try:
        with job_errors():
            yield
    except KeyboardInterrupt:
        session.jobs.cancel()
        raise
    except SystemExit:
        session.jobs.cancel_on_server()
        raise
