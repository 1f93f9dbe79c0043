"""Translate errors of Spark into one line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from kraftops.errors import KraftopsError
from kraftops.spark.session.shipping import missing_text

_PYTHON_ERROR = r"^(?:[\w.]+\.)?(\w+(?:Error|Exception)): (.+)$"
_OTHER_PYTHON = re.compile(r"different version: ([\d.]+) than that in driver: (\d+\.\d+)")
_RPC_DETAILS = r'^<_\w*Rpc\w*Error of RPC .*:\n(?:.*\n)*?\s*details = "(.*)"'
_CALL = "An error occurred while calling"
_CLASS = re.compile(r'(?:Exception in thread "[^"]*" )?(?:[\w$]+\.)+[\w$]+: ')
_LAST_TRY = re.compile(r".* most recent failure: Lost task \S+ in stage \S+ \(TID \d+\) \(.*?\): ")
_CAUSE = r"^Caused by: (?:[\w.$]+: )?(.+)$"
_WRITE_FAILED = "[TASK_WRITE_FAILED]"
_COMPLETE_MESSAGES = {"MissingModuleError", "OutputError", "SourceError", "UsageError"}


class SparkError(KraftopsError):
    """Spark could not be started, or a job failed."""


def reason_of(error: BaseException) -> str:
    """Return the reason in one line: the last line of the worker's trace, or Java's message."""
    text = _text_of(error)
    if rpc := re.search(_RPC_DETAILS, text):
        return rpc[1]
    if versions := _OTHER_PYTHON.search(text):
        worker, driver = versions.groups()
        return (
            f"a worker has Python {worker}, the driver {driver}: PYSPARK_PYTHON names the worker's"
        )
    python = re.findall(_PYTHON_ERROR, text, re.MULTILINE)
    if python and "Traceback" in text:
        name, message = python[-1]
        missing = re.fullmatch(r"No module named '(.+)'", message)
        if missing:
            return missing_text([missing[1]])
        return message if name in _COMPLETE_MESSAGES else f"{name}: {message}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reason = _without_call(lines)
    causes = re.findall(_CAUSE, text, re.MULTILINE)
    if causes and reason.startswith(_WRITE_FAILED):  # and names a file that is no longer there
        return f"rows cannot be written: {causes[-1]}"
    return f"{reason} ({causes[-1]})" if causes and causes[-1] not in reason else reason


def _without_call(lines: list[str]) -> str:
    """Return the first line; of an error of Java, the second, since Py4J puts its own before."""
    if len(lines) > 1 and lines[0].startswith(_CALL):
        lines = lines[1:]
    return without_class(lines[0].removeprefix(": ")) if lines else "Spark does not say why"


def without_class(line: str) -> str:
    """Return Java's text about an error without the class, and without the count of tries."""
    return _CLASS.sub("", _LAST_TRY.sub("", _CLASS.sub("", line, count=1)), count=1)


def _text_of(error: BaseException) -> str:
    """Return the text of an error; for errors of Java, Py4J must ask the JVM, which may be gone."""
    try:
        return str(error)
    except Exception as gone:
        if not (_is_from_java(gone) or isinstance(gone, OSError)):
            raise
        return "Spark has ended"


def _is_interrupted(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _is_from_spark(error: BaseException) -> bool:
    """Tell whether an error comes from PySpark, or from Java through it."""
    from pyspark.errors import PySparkException

    return isinstance(error, PySparkException) or _is_from_java(error)


def _is_from_java(error: BaseException) -> bool:
    return type(error).__module__.startswith("py4j.")


@contextmanager
def job_errors(what: str = "the job failed") -> Iterator[None]:
    """Turn errors of Spark into errors that say *what* happened and why.

    Raises:
        SparkError: there was an error.
        KeyboardInterrupt: Ctrl-C, also if PySpark's own handling of it fails.
    """
    try:
        yield
    except Exception as error:
        if not _is_from_spark(error):
            raise
        if _is_interrupted(error):
            raise KeyboardInterrupt from error
        raise SparkError(f"{what}: {reason_of(error)}") from error
