"""Lines of single records, each with the header lines of its file and batch."""

from array import array
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from kraftops.dump.report import Report
from kraftops.dump.scan.outcomes import add_notes, outcomes_of
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query


class RecordLine(NamedTuple):
    """The line of a record, or of a batch without shown records, with its header lines.

    Records of the same file, or batch, share the same bytes object. A long line comes in pieces,
    all but the last without *is_end*.
    """

    file: bytes
    batch: bytes
    line: bytes
    is_end: bool = True


def record_lines(
    part: ByteRange, query: Query, report: Report, head: bytes = b""
) -> Iterator[RecordLine]:
    """Yield the lines of the records, or batches, that match; *head* is the header of the file.

    Damage is added to *report* before the next line.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is not a log.
    """
    batch = b""
    for outcome in outcomes_of(part, query, report, marks=True):
        notes, start = deque(outcome.notes), 0
        for mark in array("i", outcome.marks):
            end = abs(mark)
            while notes and notes[0].output_position < end:
                add_notes([notes.popleft()], part.path, report)
            line, start = outcome.out[start:end], end
            if mark < 0:
                batch = line
            else:
                yield RecordLine(head, batch, line)
        if start < len(outcome.out):
            yield RecordLine(head, batch, outcome.out[start:], is_end=False)
        add_notes(notes, part.path, report)
