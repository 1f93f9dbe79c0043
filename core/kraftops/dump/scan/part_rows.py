"""The rows of a byte range, one by one or as the engine's columns."""

from collections.abc import Iterator
from dataclasses import replace

from kraftops.dump.report import Report
from kraftops.dump.scan.outcomes import add_notes, outcomes_of
from kraftops.engine.columns import rows_of
from kraftops.engine.scan_contract import Outcome
from kraftops.log.ranges import ByteRange
from kraftops.memory import ALONE, Turn
from kraftops.query.query import Query
from kraftops.query.row import Row


def part_rows(part: ByteRange, query: Query, report: Report) -> Iterator[Row]:
    """Yield the rows of a byte range; damage is a row too, and added to *report*.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is not a log.
    """
    for outcome in column_outcomes(part, query, report):
        add_notes(outcome.notes, part.path, report)
        yield from rows_of(outcome.columns or {}, outcome.rows)


def column_outcomes(
    part: ByteRange, query: Query, report: Report, turn: Turn = ALONE
) -> Iterator[Outcome]:
    """Yield the columns of a byte range; the caller adds the notes by `add_row_notes`.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is not a log.
    """
    return outcomes_of(part, replace(query, form="parquet"), report, turn=turn)


def add_row_notes(outcome: Outcome, rows: int, path: str, report: Report) -> None:
    """Add to *report* the notes of an outcome about its first *rows*."""
    add_notes((note for note in outcome.notes if note.output_position < rows), path, report)
