"""Our jobs among those of a session: named in Spark's pages, found and cancelled by their name.

Spark Connect has no groups and descriptions, but tags of operations: its pages show both as tags.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from pyspark import SparkContext, StatusTracker
    from pyspark.sql import SparkSession

_GROUP, _DESCRIPTION = "spark.jobGroup.id", "spark.job.description"
_INTERRUPTS = "spark.job.interruptOnCancel"
_CANCEL_SECONDS = 10.0  # as long as `run` waits for the thread of a job
_LOOK_SECONDS = 0.05  # a person who has pressed Ctrl-C waits for it


class OurJobs:
    """The jobs of this thread in a session, in a group of their own, which is also their tag."""

    def __init__(self, spark: SparkSession) -> None:
        """Choose a name for jobs of a session."""
        self.spark = spark
        self.group = f"kraftops-{uuid4().hex[:12]}"
        self.is_connect = type(spark).__module__.startswith("pyspark.sql.connect.")
        self.is_awaited = False
        """Whether a thread waits for one of them."""
        self._described = ""

    @property
    def context(self) -> SparkContext:
        """The context, which sessions of Spark Connect do not have."""
        return self.spark.sparkContext

    @contextmanager
    def named(self) -> Iterator[None]:
        """Give jobs of this thread group, tag and description, and the earlier ones back after."""
        if self.is_connect:
            self.spark.addTag(self.group)
            try:
                yield
            finally:
                self._describe_by_tag("")
                self.spark.removeTag(self.group)
            return
        context = self.context
        earlier = {
            name: context.getLocalProperty(name) for name in (_GROUP, _DESCRIPTION, _INTERRUPTS)
        }
        context.setJobGroup(self.group, "kraftops")
        context.addJobTag(self.group)
        try:
            yield
        finally:
            with spark_may_be_gone():
                context.removeJobTag(self.group)
                for name, value in earlier.items():
                    context.setLocalProperty(name, value)  # type: ignore[arg-type] # or None

    def describe(self, text: str) -> None:
        """Describe the next jobs of this thread."""
        if self.is_connect:
            self._describe_by_tag(f"kraftops: {text}".replace(",", ";"))  # tags have no commas
        else:
            self.context.setJobDescription(f"kraftops: {text}")

    def _describe_by_tag(self, text: str) -> None:
        if self._described:
            self.spark.removeTag(self._described)
        if text:
            self.spark.addTag(text)
        self._described = text

    def active(self, tracker: StatusTracker) -> list[int]:
        """Return the ids of our jobs that have not ended."""
        ours = set(tracker.getJobIdsForGroup(self.group))
        return [number for number in tracker.getActiveJobsIds() if number in ours]

    def end(self) -> None:
        """Have Spark end the jobs."""
        if self.is_connect:
            self.spark.interruptTag(self.group)
        else:
            self.context.cancelJobsWithTag(self.group)

    def cancel(self) -> None:
        """End the jobs, and wait until they are gone, or Spark is."""
        with spark_may_be_gone():
            self.end()
            if self.is_connect:
                return
            tracker = self.context.statusTracker()
            latest = time.monotonic() + _CANCEL_SECONDS
            while self.active(tracker) and time.monotonic() < latest:
                time.sleep(_LOOK_SECONDS)

    def cancel_on_server(self) -> None:
        """End the jobs that go on when this process has ended by a signal.

        A JVM of ours ends with it, and cannot be asked: the signal may have come in the midst of a
        call, whose answer the next call would get.
        """
        if self.is_connect:
            self.cancel()


@contextmanager
def spark_may_be_gone() -> Iterator[None]:
    """Ignore errors of a Spark that has ended, or that answers an earlier call."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with suppress(Py4JError, PySparkException, OSError, AttributeError, TypeError):
        yield


@contextmanager
def kept_interrupt_handler() -> Iterator[None]:
    """Keep the handler of Ctrl-C: Spark's own would call the JVM in the middle of a call."""
    previous = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if current_thread() is main_thread():
            signal.signal(signal.SIGINT, previous)


@contextmanager
def among_others(jobs: OurJobs) -> Iterator[None]:
    """Name our jobs in another program's session, and end them if the block fails.

    Ctrl-C is an exception here: the handler of Spark's sessions would cancel the jobs of everybody.
    """
    with kept_interrupt_handler(), jobs.named():
        if current_thread() is main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            yield
        except BaseException:
            jobs.cancel()
            raise
