"""Counters in bounded memory, with the same result for every cut of the input into parts.

Each counter can be pickled. `merge` adds the counter of a later part; the result is the same as
for one counter of both parts.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Generic, TypeVar
from zlib import crc32

Key = TypeVar("Key", int, bytes)
Value = TypeVar("Value")

MOST_VALUES = 4096
"""Different values that a `Distribution` counts exactly: all sizes of records in most logs. Beyond
it values are rounded, by less than 1/128."""
MOST_BUCKETS = 60
"""Buckets of a `TimeHistogram`: a column each on a terminal of 80."""

_DIGITS = 8  # bits that a rounded value keeps: its error is less than 1/128
_SPREAD = 0x9E3779B97F4A7C15  # 2^64 by the golden ratio: puts neighbours far apart
_RANKS = 0xFFFFFFFFFFFFFFFF  # as many as uint64 has, so that two keys hardly have one rank
_MOST_LISTED = 10  # gaps, in half a screen; a compacted log has thousands, which are counted


class Amount:
    """A number of records, and their size in bytes, uncompressed."""

    __slots__ = ("count", "size")

    def __init__(self, count: int = 0, size: int = 0) -> None:
        self.count = count
        self.size = size

    def add(self, count: int, size: int) -> None:
        self.count += count
        self.size += size


class Distribution:
    """A distribution of numbers that are not negative.

    Up to `MOST_VALUES` different numbers it is exact. With more, quantiles are too low by less
    than 1/128; minimum and maximum stay exact.
    """

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.is_exact = True
        self.min: int | None = None
        self.max: int | None = None

    def add(self, value: int) -> None:
        counts = self.counts
        if not self.is_exact:
            self._extend(value)
            value = _rounded(value)
        elif value not in counts:
            self._extend(value)
            counts[value] = 0
            if len(counts) > MOST_VALUES:
                self._round()
                value = _rounded(value)
                counts = self.counts
        counts[value] = counts.get(value, 0) + 1

    def fill(self, counts: dict[int, int]) -> None:
        """Take the counts of an engine, which become its own; it must be empty."""
        self.counts = counts
        self.min, self.max = min(counts, default=None), max(counts, default=None)
        if len(counts) > MOST_VALUES:
            self._round()

    def merge(self, later: Distribution) -> None:
        if not later.is_exact and self.is_exact:
            self._round()
        for exact, count in later.counts.items():
            value = exact if self.is_exact else _rounded(exact)
            self.counts[value] = self.counts.get(value, 0) + count
        for end in (later.min, later.max):
            if end is not None:
                self._extend(end)
        if self.is_exact and len(self.counts) > MOST_VALUES:
            self._round()

    def quantile(self, fraction: float) -> int | None:
        """Return the smallest value with *fraction* of all values at or below it; None if empty."""
        if self.min == self.max:  # none, or one value
            return self.min
        assert self.min is not None
        rank = fraction * sum(self.counts.values())
        for value in sorted(self.counts):
            rank -= self.counts[value]
            if rank <= 0:
                return max(value, self.min)
        return self.max

    def _extend(self, value: int) -> None:
        if self.min is None or value < self.min:
            self.min = value
        if self.max is None or value > self.max:
            self.max = value

    def _round(self) -> None:
        counts, self.counts, self.is_exact = self.counts, {}, False
        for exact, count in counts.items():
            value = _rounded(exact)
            self.counts[value] = self.counts.get(value, 0) + count


def _rounded(value: int) -> int:
    cut = max(value.bit_length() - _DIGITS, 0)
    return value >> cut << cut


class TimeHistogram:
    """Amounts over time, in buckets of the least power of two in ms that fits their number."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}  # by bucket: the time divided by the width
        self.shift = 0  # the width is 1 << shift
        self.first = self.last = 0  # buckets, where there are any

    def add(self, time: int, count: int) -> None:
        key = time >> self.shift
        if key in self.counts:
            self.counts[key] += count
            return
        if not self.counts:
            self.first = self.last = key
        self.counts[key] = count
        self._fit(key, key)

    def merge(self, later: TimeHistogram) -> None:
        if not self.counts:
            self.shift, self.first, self.last = later.shift, later.first, later.last
        while self.shift < later.shift:
            self._widen()
        cut = self.shift - later.shift
        for key, count in later.counts.items():
            self.counts[key >> cut] = self.counts.get(key >> cut, 0) + count
        if later.counts:
            self._fit(later.first >> cut, later.last >> cut)

    @property
    def width(self) -> int:
        """The width of a bucket in ms."""
        return 1 << self.shift

    @property
    def start(self) -> int | None:
        """The begin of the first bucket, in ms since the epoch."""
        return self.first << self.shift if self.counts else None

    def buckets(self) -> list[int]:
        keys = range(self.first, self.last + 1) if self.counts else ()
        return [self.counts.get(key, 0) for key in keys]

    def _fit(self, first: int, last: int) -> None:
        self.first, self.last = min(self.first, first), max(self.last, last)
        while self.last - self.first >= MOST_BUCKETS:
            self._widen()

    def _widen(self) -> None:
        self.shift += 1
        self.first >>= 1
        self.last >>= 1
        counts, self.counts = self.counts, {}
        for key, count in counts.items():
            self.counts[key >> 1] = self.counts.get(key >> 1, 0) + count


def equal_weight(_: object) -> int:
    return 1


class SampledDict(dict[Key, Value], Generic[Key, Value]):
    """A dict of bounded size: a sample of the keys, each with its complete value.

    The sample does not depend on the order of the keys: the keys with the lowest ranks stay, and a
    rank is a hash of the key. A key that is present has never been dropped.
    """

    def __init__(self, limit: int, weigh: Callable[[Value], int] = equal_weight) -> None:
        """Make a dict for values with a total weight of *limit*.

        *weigh* returns the weight of a value, which never decreases; it must be picklable.
        """
        super().__init__()
        self._limit = limit
        self._weigh = weigh
        self._weight = 0
        self._dropped: tuple[int, Key] | None = None  # the lowest rank that was dropped

    @property
    def is_whole(self) -> bool:
        """Whether nothing was dropped."""
        self.trim()
        return self._dropped is None

    def put(self, key: Key, value: Value) -> bool:
        """Add a new key; return False if it was dropped."""
        if self._dropped is not None and (_rank(key), key) >= self._dropped:
            return False
        self[key] = value
        self.grow(self._weigh(value))
        return key in self

    def grow(self, weight: int) -> None:
        """Add to the total the weight by which a value has grown."""
        self._weight += weight
        if self._weight > self._limit + self._limit // 2:
            self.trim()

    def trim(self) -> None:
        """Drop the keys beyond the limit."""
        if self._weight <= self._limit:
            return
        weight = 0
        order = sorted((_rank(key), key) for key in self)
        for number, (_, key) in enumerate(order):
            if weight + self._weigh(self[key]) > self._limit:
                self._dropped = order[number]
                for _, dropped in order[number:]:
                    del self[dropped]
                break
            weight += self._weigh(self[key])
        self._weight = weight

    def merge(self, later: SampledDict[Key, Value], add: Callable[[Value, Value], None]) -> None:
        """Add the keys of a later part; for a key in both, *add* changes our value by the later."""
        ends = [end for end in (self._dropped, later._dropped) if end is not None]
        self._dropped = min(ends, default=None)
        for key, value in later.items():
            if key in self:
                add(self[key], value)
            else:
                self[key] = value
        if self._dropped is not None:
            for key in [key for key in self if (_rank(key), key) >= self._dropped]:
                del self[key]
        self._weight = sum(map(self._weigh, self.values()))
        self.trim()

    def in_order(self) -> list[tuple[Key, Value]]:
        """Return the keys that are kept in their order, with their values."""
        self.trim()
        return sorted(self.items(), key=itemgetter(0))

    def estimate(self) -> int:
        """Return the number of all keys: exact if nothing was dropped."""
        self.trim()
        if self._dropped is None:
            return len(self)
        highest = max(map(_rank, self), default=0)
        return round(len(self) * (_RANKS + 1) / (highest + 1))


def _rank(key: int | bytes) -> int:
    number = key if isinstance(key, int) else crc32(key)
    return number * _SPREAD & _RANKS


class OffsetSpan:
    """The offsets of consecutive batches; merged as the counters of this module.

    Without *has_gaps*, only the first and last are known, as of records that a filter selects.
    """

    def __init__(self, *, has_gaps: bool = True) -> None:
        self.has_gaps = has_gaps
        self.first: int | None = None
        self.last: int | None = None
        self.gaps: list[tuple[int, int]] = []  # the first ones: an offset, and the next one
        self.gap_count = self.missing = self.backward = self.removed = 0

    def add(self, first: int, last: int, count: int) -> None:
        """Count a batch of *count* records."""
        if self.last is None:
            self.first = first
        elif first != self.last + 1:
            self._step(self.last, first)
        self.last = last
        removed = last - first + 1 - count
        if removed > 0:
            self.removed += removed

    def merge(self, later: OffsetSpan) -> None:
        if later.first is None:
            return
        if self.last is None:
            self.first = later.first
        elif later.first != self.last + 1:
            self._step(self.last, later.first)
        self.last = later.last
        self.gaps = (self.gaps + later.gaps)[:_MOST_LISTED]
        self.gap_count += later.gap_count
        self.missing += later.missing
        self.backward += later.backward
        self.removed += later.removed

    @property
    def steps(self) -> OffsetSpan | None:
        """The same where gaps are known."""
        return self if self.has_gaps else None

    def _step(self, last: int, following: int) -> None:
        if following <= last:
            self.backward += 1
            return
        self.gap_count += 1
        self.missing += following - last - 1
        if len(self.gaps) < _MOST_LISTED:
            self.gaps.append((last, following))
