"""What goes wrong on Spark, as an error of ours in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from kraftops.errors import KraftopsError
from kraftops.spark.session.shipping import missing_module_text

_PYTHON_ERROR = r"^(?:[\w.]+\.)?(\w+(?:Error|Exception)): (.+)$"
_CALL = "An error occurred while calling"
_CLASS = re.compile(r'(?:Exception in thread "[^"]*" )?(?:[\w$]+\.)+[\w$]+: ')
_LAST_TRY = re.compile(
    r".* most recent failure: CrashedSplit task \S+ in stage \S+ \(TID \d+\) \(.*?\): "
)
_CAUSE = r"^Caused by: (?:[\w.$]+: )?(.+)$"
_COMPLETE_MESSAGES = {"MissingModuleError", "OutputError", "SourceError", "UsageError"}


class SparkError(KraftopsError):
    """Spark could not be started, or a job of it failed."""


def reason_of(error: BaseException) -> str:
    """Return why a job failed, in one line: the last of the worker's trace, or Java's message."""
    text = _text_of(error)
    python = re.findall(_PYTHON_ERROR, text, re.MULTILINE)
    if python and "Traceback" in text:
        name, message = python[-1]
        missing = re.fullmatch(r"No module named '(.+)'", message)
        if missing:
            return missing_module_text(missing[1])
        return message if name in _COMPLETE_MESSAGES else f"{name}: {message}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = _without_call(lines)
    causes = re.findall(_CAUSE, text, re.MULTILINE)
    return f"{told} ({causes[-1]})" if causes and causes[-1] not in told else told


def _without_call(lines: list[str]) -> str:
    """Return the first line; of an error of Java's, which Py4J tells in two, the second."""
    if len(lines) > 1 and lines[0].startswith(_CALL):
        lines = lines[1:]
    return without_class(lines[0].removeprefix(": ")) if lines else "Spark does not say why"


def without_class(line: str) -> str:
    """Return what Java says of an error, without its class, and the last of several tries."""
    return _CLASS.sub("", _LAST_TRY.sub("", _CLASS.sub("", line, count=1)), count=1)


def _text_of(error: BaseException) -> str:
    """Return what an error says; where Java said it, it must be asked, and may be gone."""
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
    """Let an error of Spark's be one of ours, which says *what* happened and why.

    Raises:
        SparkError: there was one.
        KeyboardInterrupt: Ctrl-C, also where what PySpark does about it fails.
    """
    try:
        yield
    except Exception as error:
        if not _is_from_spark(error):
            raise
        if _is_interrupted(error):
            raise KeyboardInterrupt from error
        raise SparkError(f"{what}: {reason_of(error)}") from error
