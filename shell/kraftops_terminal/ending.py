"""Signals that end the process: as exceptions first, so that what is temporary is removed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDING = (signal.SIGTERM, signal.SIGHUP)
_MOMENT = 0.001  # seconds, in which another thread can take the signal


class EndedBySignal(SystemExit):
    """A signal that ends the process has come."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


def raise_at_signals() -> None:
    """Raise `EndedBySignal` at the first signal that would end the process; a second ends it.

    A signal that the caller ignores, as `nohup` does, stays ignored.
    """
    sys.unraisablehook = _come_again
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _ended)


@contextmanager
def telling_of_signals(tell: Callable[[int], bool]) -> Iterator[None]:
    """Tell of a signal first: whoever answers with True will raise `EndedBySignal` later.

    It is for event loops, which an exception in the midst of a callback would not end.
    """

    def told(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        if not tell(number):
            raise EndedBySignal(number)

    taken = [number for number in ENDING if signal.getsignal(number) is _ended]
    for number in taken:
        signal.signal(number, told)
    try:
        yield
    finally:
        for number in taken:
            if signal.getsignal(number) is told:
                signal.signal(number, _ended)


def end_by(number: int) -> None:
    """End this process by a signal, as its caller expects."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _come_again(lost: sys.UnraisableHookArgs) -> None:
    """Raise an end by a signal again that came in a finalizer, where exceptions are lost."""
    error = lost.exc_value
    if not isinstance(error, EndedBySignal | KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return

    def end(*_: object) -> NoReturn:
        raise error

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, _MOMENT)


def _ended(number: int, _: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)
    raise EndedBySignal(number)
