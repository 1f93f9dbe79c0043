"""Start and stop Spark: configuration, a quiet JVM, and errors in one line."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from threading import current_thread, main_thread
from typing import IO, TYPE_CHECKING, Any

from kraftops.errors import KraftopsError, UsageError
from kraftops.spark.java import java_home
from kraftops.spark.shipping import lack_text, packed

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*,4]"
_TRIES = 4
_OURS = "spark.kraftops."
_SUBMITTED = "PYSPARK_GATEWAY_PORT"  # set by spark-submit
_CONNECT_SECONDS = 5.0
_STOP_SECONDS = 10.0
_LOCAL = re.compile(r"local(?:\[(\d+|\*)(?:,(\d+))?\])?")
_PYTHON_ERROR = r"^(?:[\w.]+\.)?(\w+(?:Error|Exception)): (.+)$"
_SAY_IT_ALL = {"LacksModuleError", "OutputError", "SourceError", "UsageError"}
_BASE = {
    "spark.app.name": "kraftops",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "8",
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",  # no .crc files
    "spark.sql.python.filterPushdown.enabled": "true",
}
_QUIET = {"spark.log.level": "OFF"}
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


class SparkError(KraftopsError):
    """Spark could not be started, or a job of it failed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to start Spark: the master, configuration, and whether it may talk.

    *cache* is a directory where something may be kept for the next time.
    """

    master: str = DEFAULT_MASTER
    conf: tuple[tuple[str, str], ...] = ()
    verbose: bool = False
    cache: str = ""

    @property
    def is_local(self) -> bool:
        """Whether all work is done by processes of this machine's, started for it."""
        return _LOCAL.fullmatch(self.master) is not None

    @property
    def full_master(self) -> str:
        """The master to start; a local one with more than one try for each task."""
        found = _LOCAL.fullmatch(self.master)
        if found is None or found[2]:
            return self.master
        return f"local[{found[1] or 1},{_TRIES}]"

    @property
    def tries(self) -> int:
        """How often a task is tried by this master."""
        found = _LOCAL.fullmatch(self.master)
        if found:
            return int(found[2] or 1)
        return int(dict(self.conf).get("spark.task.maxFailures", _TRIES))

    @property
    def split_bytes(self) -> int | None:
        """How large splits should be (`spark.kraftops.splitBytes`); None where it is not said.

        Raises:
            UsageError: it is no number.
        """
        return self._number("splitBytes")

    @property
    def groups(self) -> int | None:
        """Into how many groups the entities of an image go (`spark.kraftops.groups`), or None.

        Raises:
            UsageError: it is no number.
        """
        return self._number("groups")

    def _number(self, name: str) -> int | None:
        text = dict(self.conf).get(f"{_OURS}{name}")
        if text is not None and not text.isdecimal():
            raise UsageError(f"{_OURS}{name} is a number, not {text!r}")
        return None if text is None else int(text)

    @property
    def cores(self) -> int | None:
        """How many tasks run at a time; None where only the cluster knows."""
        found = _LOCAL.fullmatch(self.full_master)
        if found is None:
            return None
        return _cores() if found[1] == "*" else int(found[1])

    def all_conf(self) -> dict[str, str]:
        """Return the whole configuration; what the user says wins."""
        conf = {**_BASE, **({} if self.verbose else _QUIET), **(_LOOPBACK if self.is_local else {})}
        return {**conf, **dict(self.conf), "spark.master": self.full_master}


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class Session:
    """Spark, while it runs."""

    def __init__(
        self, context: SparkContext, settings: Settings, spark: SparkSession | None = None
    ) -> None:
        """Take a context that is running."""
        self.context = context
        self.settings = settings
        self._spark = spark

    @property
    def spark(self) -> SparkSession:
        """The session for SQL, made when it is first asked for."""
        if self._spark is None:
            from pyspark.sql import SparkSession

            self._spark = SparkSession(self.context)
        return self._spark

    @property
    def cores(self) -> int:
        """How many tasks run at a time."""
        return self.settings.cores or self.context.defaultParallelism


@contextmanager
def started(settings: Settings) -> Iterator[Session]:
    """Start Spark, give it, and stop it; or give the one that runs here, and leave it running.

    The latter is so under `spark-submit` and in notebooks, whose master and configuration count.

    Raises:
        UsageError: pyspark or Java is missing.
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
        yield running
        return
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    _reach(settings.master)
    os.environ["JAVA_HOME"] = java_home(os.environ, settings.cache)
    if settings.is_local:
        os.environ["PYSPARK_PYTHON"] = sys.executable
    conf = SparkConf(loadDefaults=False).setAll(list(settings.all_conf().items()))
    if not settings.verbose:
        _hush()
    with _log(settings) as log:
        streams = {} if log is None else {"stdout": log, "stderr": log}
        gateway: Any = None
        try:
            gateway = launch_gateway(conf, streams)  # type: ignore[no-untyped-call]
            with _own_interrupts():
                context = SparkContext(conf=conf, gateway=gateway)
        except PySparkException as error:
            raise SparkError(f"Spark does not start: {_last_line(log) or error}") from error
        except Exception as error:
            _end(gateway)
            if not _is_javas(error):
                raise
            raise SparkError(f"Spark does not start: {reason_of(error)}") from error
        try:
            with packed() if not settings.is_local else nullcontext() as archive:
                if archive is not None:
                    context.addPyFile(archive)
                yield Session(context, replace(settings, master=settings.full_master))
        finally:
            with suppress(Exception):
                context.stop()
            _end(gateway)


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keep our reaction to Ctrl-C: that of Spark talks to the JVM in the middle of a talk."""
    kept = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if current_thread() is main_thread():
            signal.signal(signal.SIGINT, kept)


def _hush() -> None:
    """Let libraries not log what is raised anyway."""
    import logging

    logging.getLogger("SQLQueryContextLogger").disabled = True
    logging.getLogger().addHandler(logging.NullHandler())  # without one, Py4J's go to the screen


def _running(settings: Settings) -> Session | None:
    """Return the session that somebody has started in this process; of *settings* ours count."""
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    if spark is None and _SUBMITTED in os.environ:
        spark = SparkSession.builder.getOrCreate()
    if spark is None:
        return None
    context = spark.sparkContext
    ours = [pair for pair in settings.conf if pair[0].startswith(_OURS)]
    conf = (*context.getConf().getAll(), *ours)
    return Session(context, Settings(str(context.master), conf, verbose=True), spark)


def reason_of(error: BaseException) -> str:
    """Return why a job failed, in one line: the last of the worker's trace, or Java's message."""
    text = str(getattr(error, "java_exception", None) or error)
    python = re.findall(_PYTHON_ERROR, text, re.MULTILINE)
    if python and "Traceback" in text:
        name, message = python[-1]
        missing = re.fullmatch(r"No module named '(.+)'", message)
        if missing:
            return lack_text(missing[1])
        return message if name in _SAY_IT_ALL else f"{name}: {message}"
    for line in text.splitlines():
        if line.strip():
            return line.strip()
    return type(error).__name__


def _is_javas(error: BaseException) -> bool:
    return type(error).__module__.startswith("py4j.")


@contextmanager
def job_errors() -> Iterator[None]:
    """Let an error of a job be one of ours.

    Raises:
        SparkError: the job failed.
    """
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise SparkError(f"the job failed: {reason_of(error)}") from error
    except Exception as error:
        if not _is_javas(error):
            raise
        raise SparkError(f"the job failed: {reason_of(error)}") from error


@contextmanager
def _log(settings: Settings) -> Iterator[IO[bytes] | None]:
    """Give a file for what Spark and its workers say, or None where it may be seen."""
    if settings.verbose:
        yield None
        return
    from tempfile import TemporaryFile

    with TemporaryFile() as log:
        yield log


def _last_line(log: IO[bytes] | None) -> str:
    if log is None:
        return ""
    log.seek(0)
    lines = log.read(1 << 20).decode("utf-8", "replace").splitlines()
    told = [line.strip() for line in lines if line.strip() and not line.startswith(("\t", "WARN"))]
    return told[-1] if told else ""


def _end(gateway: Any) -> None:
    """End the JVM, and wait until it is gone with what it left in its directories."""
    if gateway is None:
        return
    from subprocess import TimeoutExpired

    from pyspark import SparkContext

    with suppress(Exception):
        gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - or the next one would use it
    process = gateway.proc
    if process is None:
        return
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(_STOP_SECONDS)
    except TimeoutExpired:
        process.kill()
        process.wait()


def _reach(master: str) -> None:
    """Look whether a master answers at all; Spark itself would try for minutes.

    Raises:
        SparkError: none of its addresses does.
    """
    if not master.startswith("spark://"):
        return
    import socket

    reasons = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal():
            raise UsageError(f"{master!r} is no master", hint="as spark://host:7077")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
            return
        except OSError as error:
            reasons.append(f"{address}: {error.strerror or error}")
    raise SparkError(f"cannot reach the master {master}: {'; '.join(reasons)}")
