"""Track running jobs: their progress, and whether a cluster has workers for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial, wraps
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.parallel.background import background_work
from kraftops.spark.session.failures import SparkError
from kraftops.spark.session.settings import server_text

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
    """Run jobs, and end them if the first one has no worker of *master* for *patience* seconds.

    Spark itself would wait for ever.

    Raises:
        SparkError: there was no worker.
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
            text = f"no worker of {server_text(master)} has begun a task in {patience} s"
            raise SparkError(text, hint=_NO_WORKER_HINT) from error


def _ends_with_spark(look: Callable[..., None]) -> Callable[..., None]:
    """Return *look* without the errors that it raises while Spark is being stopped."""

    @wraps(look)
    def run(*args: object) -> None:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        with suppress(Py4JError, PySparkException, OSError):
            look(*args)

    return run


@_ends_with_spark
def _watch(jobs: OurJobs, total: int, show: Show, is_over: Event) -> None:
    tracker, done = jobs.context.statusTracker(), 0
    while not is_over.wait(_SHOW_SECONDS):
        running = 0
        for stage in _stages(tracker, jobs.active(tracker)):
            if stage.numTasks == total:
                done = max(done, stage.numCompletedTasks)
            running += stage.numActiveTasks
        show(JobProgress(done, total, running))


@_ends_with_spark
def _await(
    jobs: OurJobs, patience: int, has_begun: Event, has_given_up: Event, is_over: Event
) -> None:
    waited = 0.0
    while not (is_over.wait(_LOOK_SECONDS) or has_begun.is_set()):
        is_waiting = jobs.is_awaited if jobs.is_connect else _is_waiting(jobs, has_begun)
        waited += _LOOK_SECONDS if is_waiting else 0
        if waited >= patience and not has_begun.is_set():
            has_given_up.set()
            jobs.end()
            return


def _is_waiting(jobs: OurJobs, has_begun: Event) -> bool:
    """Tell whether there are jobs; note when one of them has begun."""
    tracker = jobs.context.statusTracker()
    active = jobs.active(tracker)
    for stage in _stages(tracker, active):
        if stage.numActiveTasks + stage.numCompletedTasks + stage.numFailedTasks:
            has_begun.set()
    return bool(active)


def _stages(tracker: StatusTracker, active: Sequence[int]) -> Iterator[SparkStageInfo]:
    """Yield the known stages of jobs."""
    for job_id in active:
        job = tracker.getJobInfo(job_id)
        for stage_id in job.stageIds if job else ():
            stage = tracker.getStageInfo(stage_id)
            if stage:
                yield stage
