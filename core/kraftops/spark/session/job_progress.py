"""Tell how far running jobs are, and end those that no worker runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.parallel.background import background_work
from kraftops.spark.session.failures import SparkError
from kraftops.spark.session.our_jobs import OurJobs, spark_may_be_gone
from kraftops.spark.session.settings import server_text

if TYPE_CHECKING:
    from pyspark import SparkStageInfo, StatusTracker

_SHOW_SECONDS = 0.2  # a bar that moves; each look asks the JVM
_LOOK_SECONDS = 0.5  # short beside the patience, which is in seconds
_LONGER = "--conf spark.kraftops.workerSeconds=N waits longer"
_NO_WORKER_HINT = (
    f"does it have workers with the requested spark.executor.memory and cores? {_LONGER}"
)
_LOST_HINT = f"are its workers lost, or busy with other jobs? {_LONGER}"


class JobProgress(NamedTuple):
    """Progress of a job, in splits."""

    done: int
    total: int
    running: int


Show = Callable[[JobProgress], None]


@contextmanager
def watched(jobs: OurJobs, total: int, show: Show | None) -> Iterator[None]:
    """Call *show* with the progress of jobs of *total* tasks, while they run."""
    if show is None:
        yield
    elif jobs.is_connect:
        with _handled(jobs, _Shown(total, show)):
            yield
    else:
        with background_work(partial(_watch, jobs, total, show)):
            yield


class _Shown:
    """Handler of what a server of Spark Connect says about a running operation."""

    def __init__(self, total: int, show: Show) -> None:
        self._total, self._show, self._done = total, show, 0

    def __call__(self, stages: Iterable[Any] | None, inflight_tasks: int, **_: object) -> None:
        for stage in stages or ():
            if stage.num_tasks == self._total:
                self._done = max(self._done, stage.num_completed_tasks)
        self._show(JobProgress(self._done, self._total, inflight_tasks))


@contextmanager
def _handled(jobs: OurJobs, handler: Any) -> Iterator[None]:
    """Have a session of Spark Connect call *handler* with what its server says."""
    jobs.spark.registerProgressHandler(handler)
    try:
        yield
    finally:
        jobs.spark.removeProgressHandler(handler)


@contextmanager
def workers_awaited(jobs: OurJobs, master: str, patience: int) -> Iterator[None]:
    """Run jobs, and end them when one waits for a worker of *master* for *patience* seconds.

    There was none, or all are lost, perhaps with the master: Spark itself would wait forever. A
    server of Spark Connect is waited for until it has begun a task.

    Raises:
        SparkError: a job has waited so long.
    """
    has_given_up, has_begun = Event(), Event()

    def note(stages: Iterable[Any] | None, inflight_tasks: int, **_: object) -> None:
        if inflight_tasks or any(stage.num_completed_tasks for stage in stages or ()):
            has_begun.set()

    with (
        _handled(jobs, note) if jobs.is_connect else nullcontext(),
        background_work(partial(_await, jobs, patience, has_begun, has_given_up)),
    ):
        try:
            yield
        except SparkError as error:
            if not has_given_up.is_set():
                raise
            did, hint = ("run", _LOST_HINT) if has_begun.is_set() else ("begun", _NO_WORKER_HINT)
            text = f"no worker of {server_text(master)} has {did} a task in {patience} s"
            raise SparkError(text, hint=hint, code="not-in-time") from error


@spark_may_be_gone()
def _watch(jobs: OurJobs, total: int, show: Show, is_over: Event) -> None:
    tracker, done = jobs.context.statusTracker(), 0
    while not is_over.wait(_SHOW_SECONDS):
        running = 0
        for stage in _stages(tracker, jobs.active(tracker)):
            if stage.numTasks == total:
                done = max(done, stage.numCompletedTasks)
            running += stage.numActiveTasks
        show(JobProgress(done, total, running))


@spark_may_be_gone()
def _await(
    jobs: OurJobs, patience: int, has_begun: Event, has_given_up: Event, is_over: Event
) -> None:
    waited, ended = 0.0, 0
    while not is_over.wait(_LOOK_SECONDS):
        if jobs.is_connect:
            if has_begun.is_set():
                return
            is_waiting = jobs.is_awaited
        else:
            before, (running, ended) = ended, _running_and_ended(jobs)
            if running or ended:
                has_begun.set()
            is_waiting = running == 0 and ended == before
        waited = waited + _LOOK_SECONDS if is_waiting else 0
        if waited >= patience and is_waiting:
            has_given_up.set()
            jobs.end()
            return


def _running_and_ended(jobs: OurJobs) -> tuple[int | None, int]:
    """Return the numbers of running and of ended tasks of all jobs; (None, 0) without a job."""
    tracker = jobs.context.statusTracker()
    active = jobs.active(tracker)
    if not active:
        return None, 0
    stages = list(_stages(tracker, active))
    return (
        sum(stage.numActiveTasks for stage in stages),
        sum(stage.numCompletedTasks + stage.numFailedTasks for stage in stages),
    )


def _stages(tracker: StatusTracker, active: Sequence[int]) -> Iterator[SparkStageInfo]:
    for job_id in active:
        job = tracker.getJobInfo(job_id)
        for stage_id in job.stageIds if job else ():
            stage = tracker.getStageInfo(stage_id)
            if stage:
                yield stage
