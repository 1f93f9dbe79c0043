"""Ctrl-C while Spark is launched."""

import signal
from collections.abc import Iterator

import pytest

from kraftops.spark.session.launch import _deferred_interrupt


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
