"""Bounded cache by bytes."""

from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")

ENTRIES = 1 << 15  # bounds memory: all are dropped then, as most keys of a log come again soon
LONGEST_KEY = 256  # longer ones would make a bound on entries no bound on memory


class Memo(dict[bytes, V], Generic[V]):
    """Dict that makes a missing value by calling *make*.

    It is emptied when full: cheaper than keeping an order, and a refill costs little. Long keys are
    not kept, since they seldom repeat and the memory must stay bounded.
    """

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[bytes], V]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: bytes) -> V:
        value = self._make(key)
        if len(key) <= LONGEST_KEY:
            if len(self) >= ENTRIES:
                self.clear()
            self[key] = value
        return value
