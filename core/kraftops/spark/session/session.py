"""Session of Spark: started for a command, on a server of Spark Connect, or slow running."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from kraftops.errors import UsageError
from kraftops.origin import extra_remedy
from kraftops.spark.session.failures import SparkError, job_errors, reason_of
from kraftops.spark.session.job_progress import workers_awaited
from kraftops.spark.session.launch import check_reachable, running_session
from kraftops.spark.session.our_jobs import OurJobs, among_others
from kraftops.spark.session.settings import CONF_PREFIX, SESSION_CONF, Settings, server_text
from kraftops.spark.session.shipping import packed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SERVER = "sc://"
_SENT_BEFORE = "ALREADY_EXISTS"  # of 4.0 and later; names have a digest of the content
_MANY = 1 << 12  # rows, more than tasks of any server
_SUBMITTED = "PYSPARK_GATEWAY_PORT"  # set by spark-submit
_FIRST_TRIES, _LATER_TRIES = (4, 2000), (8, 15_000)  # about 5 s, a minute
_PROGRESS_BAR = "SPARK_CONNECT_PROGRESS_BAR_ENABLED"


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
            session = Session(spark, settings.on_server(_given_conf(spark)))
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
        return Session(spark, borrowed.on_server(_given_conf(spark)))
    context = spark.sparkContext
    conf = (*context.getConf().getAll(), *ours)
    return Session(spark, Settings(str(context.master), conf, verbose=True, is_borrowed=True))


@contextmanager
def connected(settings: Settings) -> Iterator[SparkSession]:
    """Begin a session on a server, and end it.

    Raises:
        UsageError: a package is missing, or a value of the configuration is refused.
        SparkError: the server cannot be reached, or is not a server of Spark Connect.
    """
    from pyspark.errors import PySparkException, PySparkImportError
    from pyspark.sql import SparkSession

    server = server_text(settings.master)
    check_reachable(settings.master)
    if not settings.verbose:
        os.environ.setdefault(_PROGRESS_BAR, "false")
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about newer releases of pandas
        warnings.filterwarnings("ignore", message=r"\[RETRIES_EXCEEDED\]")  # the error says it
        try:
            spark = SparkSession.builder.remote(settings.master).create()
        except PySparkImportError as error:
            raise UsageError(
                f"{server} needs a package: {error}", hint=extra_remedy("spark-connect")
            ) from error
        except PySparkException as error:
            raise SparkError(f"cannot connect to {server}: {reason_of(error)}") from error
        try:
            with job_errors(f"cannot connect to {server}"):
                _try(spark, _FIRST_TRIES)
                _configure(spark, settings)
                _try(spark, _LATER_TRIES)
            yield spark
        finally:
            with suppress(Exception):
                spark.stop()


def _try(spark: SparkSession, tries: tuple[int, int]) -> None:
    """Limit how often a request is repeated that a server does not answer, and the wait in ms.

    The client itself would go on for ten minutes.
    """
    from pyspark.sql.connect.client.retries import DefaultPolicy

    count, wait = tries
    spark.client.set_retry_policies([DefaultPolicy(max_retries=count, max_backoff=wait)])


def _configure(spark: SparkSession, settings: Settings) -> None:
    """Give a session the user's configuration, and ours where its server has none.

    Raises:
        UsageError: the server refuses a value of the user's.
    """
    from pyspark.errors import PySparkException

    server_conf = _given_conf(spark)
    for name, value in SESSION_CONF.items():
        if name not in server_conf:
            spark.conf.set(name, value)
    for name, value in settings.conf:
        if name.startswith(CONF_PREFIX):
            continue
        try:
            spark.conf.set(name, value)
        except PySparkException as error:
            raise UsageError(
                f"--conf {name}: {reason_of(error)}", hint="a server has its own configuration"
            ) from error


def _given_conf(spark: SparkSession) -> Mapping[str, str]:
    """Return the configuration that the server or a user has given to a session."""
    return dict(spark.conf.getAll)
