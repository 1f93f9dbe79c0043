"""Give up where a cluster has no workers for a job: Spark itself would wait for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from kraftops.spark.failures import SparkError

if TYPE_CHECKING:
    from pyspark import SparkContext, StatusTracker

_SECONDS = 0.5
_WHAT_TO_DO = (
    "has it workers with the spark.executor.memory and cores that are asked for? "
    "--conf spark.kraftops.workerSeconds=N waits longer"
)


@contextmanager
def workers_awaited(context: SparkContext, patience: int) -> Iterator[None]:
    """Run jobs, and end them when the first of them has had no worker for *patience* seconds.

    Raises:
        SparkError: so it was.
    """
    is_over, is_in_vain = Event(), Event()
    thread = Thread(target=_await, args=(context, patience, is_over, is_in_vain), daemon=True)
    thread.start()
    try:
        yield
    except SparkError as error:
        if not is_in_vain.is_set():
            raise
        text = f"no worker of {context.master} has begun a task in {patience} s"
        raise SparkError(text, hint=_WHAT_TO_DO) from error
    finally:
        is_over.set()
        thread.join()


def _await(context: SparkContext, patience: int, is_over: Event, is_in_vain: Event) -> None:
    from py4j.protocol import Py4JError

    tracker = context.statusTracker()
    waited = 0.0
    try:
        while not is_over.wait(_SECONDS):
            jobs = tracker.getActiveJobsIds()
            if _has_begun(tracker, jobs):
                return
            waited += _SECONDS if jobs else 0
            if waited >= patience:
                is_in_vain.set()
                context.cancelAllJobs()
                return
    except (Py4JError, OSError):
        return  # Spark is being stopped


def _has_begun(tracker: StatusTracker, jobs: list[int]) -> bool:
    """Tell whether a worker has done anything for one of the jobs."""
    for job_id in jobs:
        job = tracker.getJobInfo(job_id)
        for stage_id in job.stageIds if job else ():
            stage = tracker.getStageInfo(stage_id)
            if stage and stage.numActiveTasks + stage.numCompletedTasks + stage.numFailedTasks:
                return True
    return False
