"""Splits whose worker died at every try: what stands for them, so that all others can be had."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from kraftops.dump.report import Report
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.query.row import Row, damage_row, file_text
from kraftops.spark.jobs.planning import Split

R = TypeVar("R")


class Lost(NamedTuple):
    """Stands for the result of a split of this number, whose pieces are to be read one by one."""

    number: int


@dataclass(frozen=True, slots=True)
class Narrowing(Generic[R]):
    """Does work on splits, but for those of several pieces that are at their last try."""

    work: Callable[[Iterable[Split]], Iterable[R]]
    tries: int

    def __call__(self, splits: Iterable[Split]) -> Iterator[R | Lost]:
        """Yield a result of each split."""
        for split in splits:
            if len(split.pieces) > 1 and is_last_try(self.tries):
                yield Lost(split.number)
            else:
                yield from self.work([split])


def is_last_try(tries: int) -> bool:
    """Tell, in a worker, whether its task was tried so often that it should not read any more."""
    return tries > 1 and _attempt() >= tries - 1


def is_try_before_last(tries: int) -> bool:
    """Tell, in a worker, whether its task has died before, and is tried twice at most."""
    return 0 < _attempt() == tries - 2


def _attempt() -> int:
    """Return how often the task was tried before; outside of workers it was not."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.attemptNumber() if context else 0


def lost_detail(part: ByteRange, tries: int) -> str:
    """Return what became of a part that nobody survived to read, in words."""
    end = "the end" if part.stop is None else f"position {part.stop}"
    return f"what is here up to {end} was not read: its worker died at {tries} tries"


def lost_rows(part: ByteRange, query: Query, report: Report, tries: int) -> Iterator[Row]:
    """Yield the row of damage of such a part, and report it."""
    detail = lost_detail(part, tries)
    report.failure(part.path, part.start, detail)
    row = damage_row(file_text(part.path), part.start, None, f"position {part.start}: {detail}")
    if query.filter.matches(row):
        yield row


def unreadable_row(part: ByteRange, reason: str) -> Row:
    """Return the row of a file that cannot be read at all."""
    return damage_row(file_text(part.path), part.start, None, reason)
