"""Session of Spark: started for a command, or slow running."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kraftops.errors import UsageError
from kraftops.spark.session.failures import job_errors
from kraftops.spark.session.launch import running_context
from kraftops.spark.session.our_jobs import OurJobs, among_others
from kraftops.spark.session.settings import CONF_PREFIX, Settings
from kraftops.spark.session.shipping import UnionParam, packed
from kraftops.spark.session.status_tracker import workers_awaited

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext
    from pyspark.sql import SparkSession

_SUBMITTED = "PYSPARK_GATEWAY_PORT"  # set by spark-submit


class Session:
    """Running Spark, with its settings."""

    def __init__(
        self, context: SparkContext, settings: Settings, spark: SparkSession | None = None
    ) -> None:
        """Use a running context."""
        self.context = context
        self.settings = settings
        self.jobs = OurJobs(context)
        self.slow: Accumulator[frozenset[str]] | None = None
        """Workers that cannot load the compiled engine, and why."""
        self._spark = spark

    @property
    def spark(self) -> SparkSession:
        """The session for SQL, made when it is first asked for."""
        if self._spark is None:
            from pyspark.sql import SparkSession

            self._spark = SparkSession(self.context)
        return self._spark

    @contextmanager
    def ended(self) -> Iterator[None]:
        """Stop the session for SQL at the end, or Spark would take it for one that runs."""
        try:
            yield
        finally:
            if self._spark is not None:
                with suppress(Exception):
                    self._spark.stop()

    @property
    def cores(self) -> int:
        """Number of tasks that run at a time."""
        return self.settings.cores or self.context.defaultParallelism

    @property
    def slow_text(self) -> str | None:
        """Warning about workers without the compiled engine; None if there are none."""
        slow = sorted(self.slow.value) if self.slow else []
        if not slow:
            return None
        more = f", and {len(slow) - 1} more like it" if len(slow) > 1 else ""
        return f"a worker reads without the compiled engine, slower: {slow[0]}{more}"


@contextmanager
def started(settings: Settings) -> Iterator[Session]:
    """Start Spark and stop it at the end; or use a session that runs already, and leave it running.

    Under `spark-submit` and in notebooks a session runs already, and its configuration counts. Our
    jobs have a group, a tag and descriptions; only they are cancelled.

    Raises:
        UsageError: pyspark or Java is missing, or a setting is wrong.
        SparkError: it cannot be started, or the master cannot be reached.
    """
    try:
        import pyspark  # noqa: F401 - heavy: 100 ms
    except ImportError:
        raise UsageError(
            "--spark needs pyspark, which is not installed", hint="pip install 'kraftops[spark]'"
        ) from None
    running = _running(settings)
    if running is not None:
        with among_others(running.jobs):
            yield running
        return
    with running_context(settings) as context:
        session = Session(context, replace(settings, master=settings.full_master))
        if settings.is_local:
            with session.ended(), session.jobs.named():
                yield session
            return
        with (
            session.ended(),
            packed() as sent,
            session.jobs.named(),
            workers_awaited(session.jobs, settings.worker_seconds),
        ):
            with job_errors("our code cannot be sent to the workers"):
                context.addPyFile(sent.archive)
                if sent.engine is not None:
                    context.addFile(sent.engine)
                    union: Any = UnionParam()
                    session.slow = context.accumulator(frozenset[str](), union)
            yield session


def _running(settings: Settings) -> Session | None:
    """Return the session that runs in this process, with our own names of *settings*, or None."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        spark = SparkSession.active()  # also where Ctrl-C has made Spark forget the thread's own
    except PySparkException:
        if _SUBMITTED not in os.environ:
            return None
        spark = SparkSession.builder.getOrCreate()
    context = spark.sparkContext
    ours = [pair for pair in settings.conf if pair[0].startswith(CONF_PREFIX)]
    conf = (*context.getConf().getAll(), *ours)
    return Session(context, Settings(str(context.master), conf, verbose=True), spark)
