"""Look at a job while it runs: a thread that tells how many tasks are done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark import SparkContext

_SECONDS = 0.2


class State(NamedTuple):
    """What a job has done so far, in splits and records."""

    done: int
    total: int
    running: int
    records: int = 0
    damaged: int = 0


Show = Callable[[State], None]


@contextmanager
def watched(
    context: SparkContext, total: int, show: Show | None, counts: Callable[[], tuple[int, int]]
) -> Iterator[None]:
    """Tell *show* of the jobs that run meanwhile, of *total* tasks; *counts* adds to it."""
    if show is None:
        yield
        return
    is_over = Event()
    thread = Thread(target=_watch, args=(context, total, show, counts, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _watch(
    context: SparkContext,
    total: int,
    show: Show,
    counts: Callable[[], tuple[int, int]],
    is_over: Event,
) -> None:
    from py4j.protocol import Py4JError

    tracker = context.statusTracker()
    done = 0
    while not is_over.wait(_SECONDS):
        running = 0
        try:
            for job_id in tracker.getActiveJobsIds():
                job = tracker.getJobInfo(job_id)
                for stage_id in job.stageIds if job else ():
                    stage = tracker.getStageInfo(stage_id)
                    if stage and stage.numTasks == total:
                        done = max(done, stage.numCompletedTasks)
                    running += stage.numActiveTasks if stage else 0
        except (Py4JError, OSError):
            return  # Spark is being stopped
        show(State(done, total, running, *counts()))
