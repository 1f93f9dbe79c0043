"""Ctrl-C while Spark is launched, and what PySpark itself would print."""

import inspect
import logging
import re
import signal
from collections.abc import Iterator

import pytest

from kraftops.spark.session.launch import _deferred_interrupt, _silence_loggers


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Have Ctrl-C raise, whatever its handler is."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


def interrupted(times: int, reached: list[str]) -> None:
    with _deferred_interrupt():
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        reached.append("the end")


@pytest.mark.parametrize(("times", "reached"), [(1, ["the end"]), (2, [])])
def test_only_the_first_interrupt_waits(times: int, reached: list[str]) -> None:
    found: list[str] = []

    with pytest.raises(KeyboardInterrupt):
        interrupted(times, found)

    assert found == reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_every_logger_of_errors_is_silent() -> None:
    base = pytest.importorskip("pyspark.errors.exceptions.base")
    names = re.findall(r'getLogger\("(\w+)"\)', inspect.getsource(base))

    _silence_loggers()

    assert len(names) > 1
    assert all(logging.getLogger(name).disabled for name in names)
