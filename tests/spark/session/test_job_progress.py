"""Progress of running jobs, and the end of a job that gets no worker."""

import time
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from kraftops.spark.session import job_progress
from kraftops.spark.session.failures import SparkError
from kraftops.spark.session.job_progress import JobProgress, watched, workers_awaited
from kraftops.spark.session.our_jobs import OurJobs

pytest.importorskip("py4j")


MASTER = "spark://one:7077"


class Context:
    """A context with one job of one stage."""

    def __init__(self, *, tasks: int = 0, active: int = 0, completed: int = 0) -> None:
        self.stage = SimpleNamespace(
            numTasks=tasks,
            numActiveTasks=active,
            numCompletedTasks=completed,
            numFailedTasks=0,
        )
        self.jobs = [1]
        self.is_cancelled = Event()

    def statusTracker(self) -> Any:  # noqa: N802 - Spark's name
        return SimpleNamespace(
            getActiveJobsIds=lambda: [*self.jobs, 2],  # 2 is somebody else's
            getJobIdsForGroup=lambda _: self.jobs,
            getJobInfo=lambda _: SimpleNamespace(stageIds=[7, 8]),
            getStageInfo=lambda stage: self.stage if stage == 7 else None,
        )

    def cancelJobsWithTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
        assert tag.startswith("kraftops-")
        self.is_cancelled.set()


def jobs_of(context: Any) -> OurJobs:
    spark: Any = SimpleNamespace(sparkContext=context)
    return OurJobs(spark)


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_progress, "_SHOW_SECONDS", 0.001)
    monkeypatch.setattr(job_progress, "_LOOK_SECONDS", 0.01)


def shown(context: Any, total: int) -> list[JobProgress]:
    """Return the different states of progress until two were shown."""
    found: list[JobProgress] = []
    is_shown = Event()

    def show(progress: JobProgress) -> None:
        found.append(progress)
        is_shown.set()

    with watched(jobs_of(context), total, show):
        assert is_shown.wait(60)
    return found


def test_progress_counts_the_tasks_of_the_stage() -> None:
    found = shown(Context(tasks=4, active=2, completed=1), 4)

    assert set(found) == {JobProgress(1, 4, 2)}


def test_stage_of_another_size_counts_only_as_running() -> None:
    assert shown(Context(tasks=3, active=2, completed=1), 4)[0] == JobProgress(0, 4, 2)


def test_done_tasks_stay_done_when_the_stage_is_gone() -> None:
    context: Any = Context(tasks=4, completed=3)
    found: list[JobProgress] = []

    def show(progress: JobProgress) -> None:
        found.append(progress)
        context.jobs = []

    with watched(jobs_of(context), 4, show):
        _wait(lambda: len(found) > 2)

    assert [one.done for one in found[:3]] == [3, 3, 3]


def test_nothing_is_asked_without_a_listener() -> None:
    context: Any = None
    with watched(jobs_of(context), 4, None):
        pass


def test_errors_of_a_stopping_spark_end_the_progress() -> None:
    context: Any = Context()
    asked: list[int] = []

    def fail() -> None:
        asked.append(1)
        raise OSError("gone")

    context.statusTracker = fail
    with watched(jobs_of(context), 4, lambda _: None):
        _wait(lambda: bool(asked))

    assert asked == [1]


class TestWorkers:
    def test_job_without_a_worker_is_ended(self) -> None:
        context: Any = Context(tasks=4)

        def job() -> None:
            with workers_awaited(jobs_of(context), MASTER, 0):
                assert context.is_cancelled.wait(60)
                raise SparkError("the job was cancelled")

        with pytest.raises(SparkError) as failed:
            job()

        text = "no worker of spark://one:7077 has begun a task in 0 s"
        assert failed.value.message == text
        assert "spark.kraftops.workerSeconds" in (failed.value.hint or "")

    def test_job_that_has_begun_may_take_its_time(self) -> None:
        context: Any = Context(tasks=4, active=1)

        with workers_awaited(jobs_of(context), MASTER, 0):
            assert not context.is_cancelled.wait(0.1)

    def test_job_whose_workers_are_lost_is_ended(self) -> None:
        """They have begun, and nothing runs any more: the master may be gone, too."""
        context: Any = Context(tasks=4, active=2, completed=1)
        patience: Any = 0.05

        def job() -> None:
            with workers_awaited(jobs_of(context), MASTER, patience):
                assert not context.is_cancelled.wait(0.2)
                context.stage.numActiveTasks = 0
                assert context.is_cancelled.wait(60)
                raise SparkError("the job was cancelled")

        with pytest.raises(SparkError) as failed:
            job()

        assert failed.value.message == "no worker of spark://one:7077 has run a task in 0.05 s"
        assert failed.value.exit_code == 5

    def test_tasks_that_end_between_two_looks_are_a_sign_of_workers(self) -> None:
        context: Any = Context(tasks=1000)
        patience: Any = 0.05

        with workers_awaited(jobs_of(context), MASTER, patience):
            for _ in range(100):
                context.stage.numCompletedTasks += 1
                assert not context.is_cancelled.wait(0.002)

    def test_other_errors_stay_as_they_are(self) -> None:
        context: Any = Context(tasks=4)

        with (
            pytest.raises(SparkError, match=r"^another$"),
            workers_awaited(jobs_of(context), MASTER, 60),
        ):
            raise SparkError("another")

    def test_time_counts_only_while_a_job_runs(self) -> None:
        context: Any = Context(tasks=4)
        context.jobs = []
        patience: Any = 0.03  # three looks

        with workers_awaited(jobs_of(context), MASTER, patience):
            assert not context.is_cancelled.wait(0.1)


def _wait(condition: Any) -> None:
    latest = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < latest
        time.sleep(0.001)
