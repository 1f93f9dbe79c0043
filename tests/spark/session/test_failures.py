"""Errors of Spark in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kraftops.spark.session.failures import SparkError, job_errors, reason_of, without_class


def test_ctrl_c_in_a_call_of_py4j_is_ctrl_c() -> None:
    """PySpark calls the JVM when it is interrupted in the middle of another call."""
    from py4j.protocol import Py4JNetworkError

    @contextmanager
    def call() -> Iterator[None]:
        try:
            yield
        finally:
            raise Py4JNetworkError("Answer from Java side is empty")

    with pytest.raises(KeyboardInterrupt), job_errors(), call():
        raise KeyboardInterrupt
    with pytest.raises(SparkError, match="the job failed: Answer from"), job_errors(), call():
        pass


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "Spark does not say why", id="nothing"),
        pytest.param(
            "An error occurred while calling o1.x.\n: java.io.IOException: no space",
            "no space",
            id="java",
        ),
        pytest.param(
            "first\nCaused by: java.io.IOException: no space", "first (no space)", id="cause"
        ),
        pytest.param(
            "An error occurred while calling o7.save.\n: org.apache.spark.SparkException: "
            "[TASK_WRITE_FAILED] Task failed while writing rows to file:/o/_temporary/0/x.json. "
            "SQLSTATE: 58030\nCaused by: java.io.IOException: No space left on device",
            "rows cannot be written: No space left on device",
            id="full disk",
        ),
        pytest.param(
            "Traceback (most recent call last):\nValueError: bad", "ValueError: bad", id="python"
        ),
        pytest.param(
            "Traceback (most recent call last):\nkraftops.errors.UsageError: bad",
            "bad",
            id="of ours",
        ),
        pytest.param(
            "Traceback (most recent call last):\nModuleNotFoundError: No module named 'cramjam'",
            "a worker has no cramjam: pip install cramjam there",
            id="missing module",
        ),
        pytest.param(
            "Traceback (most recent call last):\n"
            "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in "
            "worker has different version: 3.12 than that in driver: 3.11, PySpark cannot run with "
            "different minor versions.",
            "a worker has Python 3.12, the driver 3.11: PYSPARK_PYTHON names the worker's",
            id="another Python",
        ),
    ],
)
def test_reason_is_one_line(text: str, reason: str) -> None:
    assert reason_of(RuntimeError(text)) == reason


def test_class_and_count_of_tries_are_left_out() -> None:
    line = (
        "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 4 times, "
        "most recent failure: Lost task 0.3 in stage 0.0 (TID 3) (host executor driver): "
        "java.lang.OutOfMemoryError: heap"
    )

    assert without_class(line) == "heap"
