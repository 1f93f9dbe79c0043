"""Deadline: a moment at which waiting ends."""

from __future__ import annotations

import time
from collections.abc import Iterator

PAUSE = 0.2
"""Seconds between two attempts: short beside an election, which takes a second or more
(`controller.quorum.election.timeout.ms`), long beside an answer."""


class Deadline:
    """A moment some *seconds* after it was made."""

    __slots__ = ("_end", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """The remaining seconds, never less than 0."""
        return max(self._end - time.monotonic(), 0.0)

    @property
    def is_over(self) -> bool:
        return not self.left

    def attempts(self, pause: float = PAUSE) -> Iterator[None]:
        """Yield at once, and then after each pause (seconds) until the deadline."""
        yield
        while not self.is_over:
            time.sleep(pause)
            yield

    def within(self, seconds: float) -> Deadline:
        """Return a deadline in *seconds*, or this one where it is sooner."""
        return Deadline(seconds) if seconds < self.left else self
