"""Session of Spark: started for a command, or slow running."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from kraftops.errors import UsageError
from kraftops.origin import extra_remedy
from kraftops.spark.session.connect import connected, given_conf
from kraftops.spark.session.failures import job_errors
from kraftops.spark.session.job_progress import workers_awaited
from kraftops.spark.session.launch import running_session
from kraftops.spark.session.our_jobs import OurJobs, among_others
from kraftops.spark.session.settings import CONF_PREFIX, Settings
from kraftops.spark.session.shipping import packed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SERVER = "sc://"
_SENT_BEFORE = "ALREADY_EXISTS"  # of 4.0 and later; names have a digest of the content
_MANY = 1 << 12  # rows, more than tasks of any server
_SUBMITTED = "PYSPARK_GATEWAY_PORT"  # set by spark-submit


class Session:
    """Running Spark, with its settings."""

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        """Use a running session."""
        self.spark = spark
        self.settings = settings
        self.jobs = OurJobs(spark)
        self.is_checked = False
        """Whether workers have said what they lack."""
        self.slow: frozenset[str] = frozenset()
        """Workers that cannot load the compiled engine, and why."""

    @cached_property
    def cores(self) -> int:
        """Number of tasks that run at a time."""
        if self.settings.cores:
            return self.settings.cores
        return (
            _cores_of(self.spark) if self.jobs.is_connect else self.jobs.context.defaultParallelism
        )

    @property
    def slow_text(self) -> str | None:
        """Warning about workers without the compiled engine; None if there are none."""
        slow = sorted(self.slow)
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
        extra = "spark-connect" if settings.is_connect else "spark"
        raise UsageError(
            "--spark needs pyspark, which is not installed",
            hint=extra_remedy(extra),
            code="missing-package",
        ) from None
    running = _running(settings)
    if running is not None:
        with _ready(running), among_others(running.jobs):
            yield running
        return
    with connected(settings) if settings.is_connect else running_session(settings) as spark:
        if settings.is_connect:
            session = Session(spark, settings.on_server(given_conf(spark)))
        else:
            session = Session(spark, replace(settings, master=settings.full_master))
        with _ready(session), session.jobs.named():
            yield session


@contextmanager
def _ready(session: Session) -> Iterator[None]:
    """Send our code to the workers of a cluster or a server, and wait for them.

    Whoever has started a session with a context has given its workers our code.

    Raises:
        SparkError: the code cannot be sent, or there is no worker.
    """
    settings = session.settings
    if settings.is_local or (settings.is_borrowed and not session.jobs.is_connect):
        yield
        return
    with packed() as sent, workers_awaited(session.jobs, settings.master, settings.worker_seconds):
        with job_errors("our code cannot be sent to the workers"):
            _send(session.spark, sent.archive, pyfile=True)
            if sent.engine is not None:
                _send(session.spark, sent.engine, file=True)
        yield


def _send(spark: SparkSession, path: str, *, pyfile: bool = False, file: bool = False) -> None:
    """Send a file, unless the session has it from an earlier command."""
    from pyspark.errors import PySparkException

    try:
        spark.addArtifacts(path, pyfile=pyfile, file=file)
    except PySparkException as error:
        if _SENT_BEFORE not in str(error):
            raise


def _cores_of(spark: SparkSession) -> int:
    """Return the number of tasks that a server of Spark Connect runs at a time."""
    from pyspark.sql import functions as f

    numbers = spark.range(_MANY).select(f.spark_partition_id().alias("number"))
    with job_errors():
        return int(numbers.agg(f.max("number")).collect()[0][0]) + 1


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
    ours = tuple(pair for pair in settings.conf if pair[0].startswith(CONF_PREFIX))
    if OurJobs(spark).is_connect:
        borrowed = Settings(_SERVER, ours, verbose=True, is_borrowed=True)
        return Session(spark, borrowed.on_server(given_conf(spark)))
    context = spark.sparkContext
    conf = (*context.getConf().getAll(), *ours)
    return Session(spark, Settings(str(context.master), conf, verbose=True, is_borrowed=True))
