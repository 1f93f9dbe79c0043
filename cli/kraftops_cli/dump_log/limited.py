"""The first or last records of a dump (`--limit`, `--tail`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice

from kraftops.dump.scan.part_printer import file_head
from kraftops.dump.scan.record_lines import RecordLine, record_lines
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.writing import Chunks, write_all
from kraftops.log.ranges import ByteRange
from kraftops_cli.dump_log.plan import Plan, Run


def write_limited(plan: Plan, fd: int, lines: Iterator[RecordLine]) -> None:
    """Write the first or last records of *lines*, with the header lines of files and batches."""
    chunks = Chunks(lambda data: write_all(fd, data))
    records = deque(lines, plan.tail) if plan.limit is None else islice(lines, plan.limit)
    previous = RecordLine(b"", b"", b"")
    for record in records:
        for head, previous_head in zip(record[:2], previous[:2], strict=True):
            if head is not previous_head:
                chunks.add(head)
        chunks.add(record.line)
        previous = record
    chunks.flush()


def lines_of_sources(run: Run) -> Iterator[RecordLine]:
    """Yield the line of each record that matches, file by file."""
    plan, report = run.plan, run.report
    for path in plan.paths:
        query, part = plan.query_of(path), ByteRange(path)
        try:
            head = file_head(part, query, report) if query.output_format.is_text else b""
            yield from record_lines(part, query, report, head)
        except (SourceError, UsageError) as error:
            report.refusal(error)
        run.flush_report()
