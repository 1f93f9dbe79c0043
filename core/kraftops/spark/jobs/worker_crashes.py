"""Worker crashes: results that stand for splits which crashed at every try."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from kraftops.dump.report import Report
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.query.record_rows import damage_row
from kraftops.query.row import Row
from kraftops.spark.jobs.planning import Split

R = TypeVar("R")


class CrashedSplit(NamedTuple):
    """Result of a split that crashed; its byte ranges are to be read one by one."""

    number: int


@dataclass(frozen=True, slots=True)
class RetryByRange(Generic[R]):
    """Task that leaves out splits of several byte ranges at their last try."""

    work: Callable[[Iterable[Split]], Iterable[R]]
    tries: int

    def __call__(self, splits: Iterable[Split]) -> Iterator[R | CrashedSplit]:
        for split in splits:
            if len(split.ranges) > 1 and is_last_try(self.tries):
                yield CrashedSplit(split.number)
            else:
                yield from self.work([split])


def is_last_try(tries: int) -> bool:
    """Tell, in a worker, whether this is the last try, which reports instead of reading."""
    return tries > 1 and _attempt() >= tries - 1


def is_last_reading(tries: int) -> bool:
    """Tell, in a worker, whether no later try reads: an error that is raised would be forgotten."""
    return tries > 1 and _attempt() >= tries - 2


def _attempt() -> int:
    """Return the number of earlier attempts of the task; 0 outside of workers."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.attemptNumber() if context else 0


def crash_text(part: ByteRange, tries: int) -> str:
    end = "the end" if part.stop is None else f"position {part.stop}"
    return f"what is here up to {end} was not read: its worker died at {tries} tries"


def crash_rows(part: ByteRange, query: Query, report: Report, tries: int) -> Iterator[Row]:
    """Yield the row of damage of a byte range that crashed its worker, and report it."""
    detail = crash_text(part, tries)
    report.failure(part.path, part.start, detail)
    row = damage_row(part.path, part.start, f"position {part.start}: {detail}")
    if query.filter.matches(row):
        yield row
