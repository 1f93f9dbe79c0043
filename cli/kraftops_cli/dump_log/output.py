"""The output of a dump: descriptor, head, limited rows, and lines on standard error."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import TYPE_CHECKING

from kraftops.dump.report import Report
from kraftops.dump.scan.part_scan import Unit
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops_cli.dump_log.plan import Plan
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    import pyarrow as pa


def print_report(report: Report, terminal: Terminal) -> None:
    """Print the new lines of a report on standard error."""
    for line in report.take_lines():
        terminal.line(line)


def open_target(plan: Plan, terminal: Terminal) -> AbstractContextManager[int]:
    """Open the output file, or give the descriptor of standard output."""
    if plan.output is None:
        return nullcontext(terminal.fd)
    from kraftops.fileio.output import open_output

    return open_output(plan.output, [source.path for source in plan.sources])


def write_head(plan: Plan, fd: int) -> None:
    """Write the head of the format, if it has one."""
    from kraftops.fileio.writing import write_all

    write_all(fd, plan.query.format.head.encode())


def write_limited(plan: Plan, fd: int, found: Iterator[Unit]) -> None:
    """Write the first or the last of the matching records."""
    from kraftops.fileio.writing import Chunks, write_all

    chunks = Chunks(lambda data: write_all(fd, data))
    chosen = deque(found, plan.tail) if plan.limit is None else islice(found, plan.limit)
    last = Unit(b"", b"", b"")
    for unit in chosen:
        for line, before in zip(unit[:2], last[:2], strict=True):
            if line is not before:
                chunks.add(line)
        chunks.add(unit.line)
        last = unit
    chunks.flush()


class LimitedBatches:
    """Arrow record batches, up to a limit of rows over all byte ranges."""

    def __init__(self, plan: Plan) -> None:
        """Limit rows as *plan* says."""
        self._left = plan.limit

    @property
    def is_done(self) -> bool:
        """Whether the limit is reached."""
        return self._left == 0

    def batches(self, part: ByteRange, query: Query, report: Report) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a byte range."""
        from kraftops.dump.scan.arrow import arrow_schema, first_batches, scan_batches

        if self._left is None:
            yield from scan_batches(part, query, report, arrow_schema())
            return
        for batch in first_batches(part, query, report, self._left):
            self._left -= batch.num_rows
            yield batch


def write_parquet_file(plan: Plan, batches: Iterable[pa.RecordBatch]) -> None:
    """Write all rows, or the last ones of `--tail`, to the output file."""
    from kraftops.dump.scan.arrow import last_rows, write_parquet
    from kraftops.fileio.output import open_output

    if plan.limit is None and plan.tail is not None:
        batches = last_rows(batches, plan.tail)
    assert plan.output is not None
    with open_output(plan.output, [source.path for source in plan.sources]) as fd:
        write_parquet(batches, fd)
