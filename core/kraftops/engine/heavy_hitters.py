"""The most frequent keys of many, in bounded memory (Misra and Gries, 1982)."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nlargest
from typing import Generic, TypeVar

Key = TypeVar("Key", int, bytes)

MOST_KEYS = 256
"""Keys that are kept; up to twice as many are counted at a time. Ten are shown: a key
among them is wrong by less than 0.4 % of all weights (1/257); one of less weight may be missing."""


class HeavyHitters(Generic[Key]):
    """Counts of the most frequent keys.

    No count is too high, and none too low by more than *error*, which is at most *total*, the sum
    of all weights, divided by `MOST_KEYS` + 1; a key without a count has at most this weight. With
    few keys the error is 0. This holds for every order of keys and merges (Agarwal et al.,
    "Mergeable Summaries", 2012).
    """

    def __init__(
        self, counts: Mapping[Key, int] | None = None, total: int = 0, error: int = 0
    ) -> None:
        self.counts: dict[Key, int] = dict(counts or {})
        self.total = total
        self.error = error

    def add(self, key: Key, weight: int = 1) -> None:
        self.total += weight
        self.counts[key] = self.counts.get(key, 0) + weight
        if len(self.counts) > 2 * MOST_KEYS:
            self._reduce()

    def merge(self, other: HeavyHitters[Key]) -> None:
        self.total += other.total
        self.error += other.error
        for key, count in other.counts.items():
            self.counts[key] = self.counts.get(key, 0) + count
        if len(self.counts) > 2 * MOST_KEYS:
            self._reduce()

    def largest(self, most: int) -> list[tuple[Key, int]]:
        """Return the keys with the highest counts, which are at least these."""
        return nlargest(most, sorted(self.counts.items()), key=lambda item: item[1])

    def _reduce(self) -> None:
        """Take from all counts as much as leaves `MOST_KEYS` of them: one unit of that many keys.

        Each unit of the error is taken from more than `MOST_KEYS` keys, which bounds it.
        """
        cut = sorted(self.counts.values(), reverse=True)[MOST_KEYS]
        self.error += cut
        self.counts = {key: count - cut for key, count in self.counts.items() if count > cut}
