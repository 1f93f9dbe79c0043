"""The first and last offset of a log, and the missing offsets between them."""

from __future__ import annotations

_MOST_LISTED = 10  # gaps, in half a screen; a compacted log has thousands, which are counted


class OffsetSpan:
    """The offsets of consecutive batches; see `sketches` for the merging of parts.

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
