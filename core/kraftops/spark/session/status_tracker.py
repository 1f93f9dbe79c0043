"""Track running jobs: their progress, and whether a cluster has workers for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial, wraps
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from kraftops.parallel.background import background_work
from kraftops.spark.session.failures import SparkError

if TYPE_CHECKING:
    from pyspark import SparkStageInfo, StatusTracker

    from kraftops.spark.session.our_jobs import OurJobs

_SHOW_SECONDS = 0.2
_LOOK_SECONDS = 0.5
_NO_WORKER_HINT = (
    "has it workers with the spark.executor.memory and cores that are asked for? "
    "--conf spark.kraftops.workerSeconds=N waits longer"
)


class JobProgress(NamedTuple):
    """Progress of a job, in splits and records."""

    done: int
    total: int
    running: int
    records: int = 0
    damaged: int = 0


Show = Callable[[JobProgress], None]
Counts = Callable[[], tuple[int, int]]
"""Returns the numbers of records and of damaged splits so far."""


def no_counts() -> tuple[int, int]:
    """Return zeros, for a job without counts."""
    return 0, 0


@contextmanager
def watched(
    jobs: OurJobs, total: int, show: Show | None, counts: Counts = no_counts
) -> Iterator[None]:
    """Call *show* with the progress of jobs of *total* tasks, and with *counts*, while they run."""
    if show is None:
        yield
        return
    with background_work(partial(_watch, jobs, total, show, counts)):
        yield


@contextmanager
def workers_awaited(jobs: OurJobs, patience: int) -> Iterator[None]:
    """Run jobs, and end them if the first one has no worker for *patience* seconds.

    Spark itself would wait for ever.

    Raises:
        SparkError: there was no worker.
    """
    has_given_up = Event()
    with background_work(partial(_await, jobs, patience, has_given_up)):
        try:
            yield
        except SparkError as error:
            if not has_given_up.is_set():
                raise
            text = f"no worker of {jobs.context.master} has begun a task in {patience} s"
            raise SparkError(text, hint=_NO_WORKER_HINT) from error


def _ends_with_spark(look: Callable[..., None]) -> Callable[..., None]:
    """Return *look* without the errors that it raises while Spark is being stopped."""

    @wraps(look)
    def run(*args: object) -> None:
        from py4j.protocol import Py4JError

        with suppress(Py4JError, OSError):
            look(*args)

    return run


@_ends_with_spark
def _watch(jobs: OurJobs, total: int, show: Show, counts: Counts, is_over: Event) -> None:
    tracker, done = jobs.context.statusTracker(), 0
    while not is_over.wait(_SHOW_SECONDS):
        running = 0
        for stage in _stages(tracker, jobs.active(tracker)):
            if stage.numTasks == total:
                done = max(done, stage.numCompletedTasks)
            running += stage.numActiveTasks
        show(JobProgress(done, total, running, *counts()))


@_ends_with_spark
def _await(jobs: OurJobs, patience: int, has_given_up: Event, is_over: Event) -> None:
    tracker, waited = jobs.context.statusTracker(), 0.0
    while not is_over.wait(_LOOK_SECONDS):
        active = jobs.active(tracker)
        for stage in _stages(tracker, active):
            if stage.numActiveTasks + stage.numCompletedTasks + stage.numFailedTasks:
                return
        waited += _LOOK_SECONDS if active else 0
        if waited >= patience:
            has_given_up.set()
            jobs.context.cancelJobsWithTag(jobs.group)
            return


def _stages(tracker: StatusTracker, active: Sequence[int]) -> Iterator[SparkStageInfo]:
    """Yield the known stages of jobs."""
    for job_id in active:
        job = tracker.getJobInfo(job_id)
        for stage_id in job.stageIds if job else ():
            stage = tracker.getStageInfo(stage_id)
            if stage:
                yield stage
