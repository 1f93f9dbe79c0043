"""Spans of offsets: what of one is in no other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Span = tuple[int, int]
"""The first and the last of some offsets."""


def uncovered(span: Span, others: Iterable[Span]) -> Iterator[Span]:
    """Yield the offsets of *span* that no other one has."""
    first, last = span
    for start, end in sorted(others):
        if start > first:
            if start > last:
                break
            yield first, start - 1
        first = max(first, end + 1)
    if first <= last:
        yield first, last
