"""Run work on splits as a job of Spark, and stop it without leaving anything behind."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, TypeVar

from kraftops.spark.jobs.lost import Lost, Narrowing
from kraftops.spark.jobs.planning import Split
from kraftops.spark.session.failures import SparkError, job_errors
from kraftops.spark.session.session import Session
from kraftops.spark.session.shipping import Equipped
from kraftops.spark.session.status_tracker import Counts, Show, no_counts, watched
from kraftops.uris import is_remote

T = TypeVar("T")
R = TypeVar("R")
_CANCEL_SECONDS = 10.0
_LOST_WORKER = re.compile(
    r"Python worker exited|ExecutorLost|[Ll]ost executor|[Ee]xecutor .*exited"
)


def run(
    session: Session,
    things: Sequence[T],
    work: Callable[[Iterable[T]], Iterable[R]],
    show: Show | None = None,
    counts: Counts = no_counts,
) -> list[R]:
    """Return what *work* yields of things to read, in their order; each is a task of its own.

    Args:
        session: where to run it.
        things: splits or the like; nothing is done without any.
        work: called in workers, so that it must be something that can be pickled.
        show: is told what is done.
        counts: what it is told of records and of damaged splits.

    Raises:
        SparkError: the job failed.
        KeyboardInterrupt: Ctrl-C; no task runs any more.
    """
    if not things:
        return []
    context = session.context
    task = equipped(session, work)
    with cancelled_by_keys(session), watched(context, len(things), show, counts):
        made: list[Any] = context.parallelize(things, len(things)).mapPartitions(task).collect()
        return made


def run_narrowed(
    session: Session,
    splits: Sequence[Split],
    work: Callable[[Iterable[Split]], Iterable[R]],
    show: Show | None = None,
    counts: Counts = no_counts,
) -> list[R]:
    """Return the same as `run` of work that makes one result a split.

    Of a split of several pieces whose worker dies at every try, each piece is a task of a second
    job: it has as many results as pieces, and only what the piece that kills is worth is lost.

    Raises:
        SparkError: the job failed.
        KeyboardInterrupt: Ctrl-C; no task runs any more.
    """
    narrowing = Narrowing(work, session.settings.tries)
    made: list[R | Lost] = run(session, splits, narrowing, show, counts)
    lost = [split for split, one in zip(splits, made, strict=True) if isinstance(one, Lost)]
    pieces = [Split(split.number, (piece,), 0) for split in lost for piece in split.pieces]
    again = iter(run(session, pieces, work, show, counts))
    results: list[R] = []
    for split, one in zip(splits, made, strict=True):
        results += islice(again, len(split.pieces)) if isinstance(one, Lost) else (one,)
    return results


def equipped(
    session: Session, work: Callable[[Iterable[T]], Iterable[R]]
) -> Callable[[Iterable[T]], Iterable[R]]:
    """Return work that says what a worker lacks, where workers are not of this machine."""
    return work if session.settings.is_local else Equipped(work, session.slow)


def look_at_workers(session: Session) -> None:
    """Have workers of a cluster say what they lack, before Spark calls code of ours by itself.

    Raises:
        SparkError: they lack something.
        KeyboardInterrupt: Ctrl-C; no task runs any more.
    """
    if session.settings.is_local:
        return
    tasks = range(session.cores)
    look: Equipped[int, int] = Equipped(iter, session.slow)
    with cancelled_by_keys(session):
        session.context.parallelize(tasks, len(tasks)).mapPartitions(look).collect()


def is_done_here(session: Session, paths: Iterable[str]) -> bool:
    """Tell whether work on files needs no job: no worker is nearer to them than this process."""
    return session.settings.is_local and not any(map(is_remote, paths))


@contextmanager
def reading_whole_log(session: Session, names: Sequence[str]) -> Iterator[None]:
    """Run jobs that must read all of the log *names*, such that Ctrl-C ends them all.

    Raises:
        SparkError: a job failed; it says so if workers died of it.
        KeyboardInterrupt: Ctrl-C; no task runs any more.
    """
    try:
        with cancelled_by_keys(session):
            yield
    except SparkError as error:
        if not _LOST_WORKER.search(error.message):
            raise
        tries = session.settings.tries
        raise SparkError(
            f"{', '.join(names)}: not all of it was read: a worker died at each of {tries} tries",
            hint="if they lack memory, more groups take less: --conf spark.kraftops.groups=1000",
        ) from error


@contextmanager
def cancelled_by_keys(session: Session) -> Iterator[None]:
    """Run jobs such that Ctrl-C ends them all.

    Raises:
        SparkError: a job failed.
        KeyboardInterrupt: Ctrl-C; no task runs any more.
    """
    try:
        with job_errors():
            yield
    except KeyboardInterrupt:
        cancel(session)
        raise


def cancel(session: Session) -> None:
    """End all jobs, and wait until they are gone."""
    from py4j.protocol import Py4JError

    with suppress(Py4JError, OSError):
        session.context.cancelAllJobs()
        tracker = session.context.statusTracker()
        latest = time.monotonic() + _CANCEL_SECONDS
        while tracker.getActiveJobsIds() and time.monotonic() < latest:
            time.sleep(0.05)
