"""Our jobs in a session of somebody else's: named, and cancelled alone."""

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Thread, main_thread
from typing import Any

import pytest

from kraftops.spark.jobs.run import run
from kraftops.spark.session.our_jobs import OurJobs
from kraftops.spark.session.session import Session, started
from kraftops.spark.session.settings import Settings

pytestmark = pytest.mark.spark
_PROPERTIES = ("spark.jobGroup.id", "spark.job.description")


class SlowWork:
    """Work that ends when a file is there."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __call__(self, things: Iterable[int]) -> Iterator[int]:
        folder = Path(self.folder)
        for thing in things:
            (folder / f"begun-{thing}").touch()
            latest = time.monotonic() + 100
            while not (folder / "end").exists() and time.monotonic() < latest:
                time.sleep(0.02)
            yield thing


def until(condition: Callable[[], object]) -> None:
    latest = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < latest
        time.sleep(0.02)


def descriptions(session: Session) -> tuple[str | None, ...]:
    return tuple(session.jobs.context.getLocalProperty(name) for name in _PROPERTIES)


def test_only_our_jobs_are_cancelled(session: Session, tmp_path: Path) -> None:
    context, theirs = session.jobs.context, []

    def other() -> None:
        theirs.extend(context.parallelize([7], 1).mapPartitions(SlowWork(tmp_path)).collect())

    thread = Thread(target=other)
    thread.start()
    until((tmp_path / "begun-7").exists)
    session.jobs.context.setJobDescription("mine")
    before = descriptions(session)
    tracker: Any = context.statusTracker()

    def interrupt(_: object) -> None:
        if (tmp_path / "begun-1").exists() and not found:
            found.extend(ours.jobs.active(tracker))
            signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)

    found: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), started(Settings()) as ours:  # noqa: PT012
        ours.jobs.describe("x")
        run(ours, [1], SlowWork(tmp_path), interrupt)

    assert len(found) == 1
    assert found[0] not in tracker.getActiveJobsIds()
    assert len(tracker.getActiveJobsIds()) == 1
    (tmp_path / "end").touch()
    thread.join(60)
    assert theirs == [7]
    assert descriptions(session) == before
    assert signal.getsignal(signal.SIGINT) == handler
    context.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]


def test_jobs_have_a_group_a_tag_and_a_description(session: Session) -> None:
    with started(Settings()) as ours:
        run(ours, [1, 2], list)
        group, description = descriptions(ours)
        tags = ours.jobs.context.getJobTags()

        assert description == "kraftops: list, 2 tasks"
        assert group == ours.jobs.group
        assert group in tags
        assert len(ours.jobs.context.statusTracker().getJobIdsForGroup(group)) == 1
    assert group not in session.jobs.context.getJobTags()


def test_signal_ends_jobs_on_a_server_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A JVM of ours ends with this process, and its connection may be in the midst of a call."""
    ended: list[bool] = []
    monkeypatch.setattr(OurJobs, "cancel", lambda jobs: ended.append(jobs.is_connect))
    jobs: Any = OurJobs(None)  # type: ignore[arg-type] # neither asks it

    jobs.cancel_on_server()
    jobs.is_connect = True
    jobs.cancel_on_server()

    assert ended == [True]
