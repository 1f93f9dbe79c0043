"""Splits whose worker died at every try: what stands for them, so that all others can be had."""

from __future__ import annotations

from collections.abc import Iterator

from kraftops.dump.query import Query
from kraftops.dump.report import Report
from kraftops.dump.rows import Row, damage_row, file_text
from kraftops.dump.splitting import Part


def is_last_try(tries: int) -> bool:
    """Tell, in a worker, whether its task was tried so often that it should not read any more."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context is not None and tries > 1 and context.attemptNumber() >= tries - 1


def lost_detail(part: Part, tries: int) -> str:
    """Return what became of a part that nobody survived to read, in words."""
    end = "the end" if part.stop is None else f"position {part.stop}"
    return f"what is here up to {end} was not read: its worker died at {tries} tries"


def lost_rows(part: Part, query: Query, report: Report, tries: int) -> Iterator[Row]:
    """Yield the row of damage of such a part, and report it."""
    detail = lost_detail(part, tries)
    report.failure(part.path, part.start, detail)
    row = damage_row(file_text(part.path), part.start, None, f"position {part.start}: {detail}")
    if query.filter.matches(row):
        yield row


def unreadable_row(part: Part, reason: str) -> Row:
    """Return the row of a file that cannot be read at all."""
    return damage_row(file_text(part.path), part.start, None, reason)
