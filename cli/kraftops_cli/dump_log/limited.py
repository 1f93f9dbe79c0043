"""The first or last records of a dump (`--limit`, `--tail`)."""

from collections import deque
from collections.abc import Iterator

from kraftops.dump.scan.part_printer import file_head
from kraftops.dump.scan.record_lines import RecordLine, record_lines
from kraftops.errors import KraftopsError, SourceError, UsageError
from kraftops.fileio.writing import Chunks, write_all
from kraftops.log.ranges import ByteRange
from kraftops_cli.dump_log.plan import Plan, Run


def write_limited(plan: Plan, fd: int, lines: Iterator[RecordLine]) -> None:
    """Write the first or last records of *lines*, with the header lines of files and batches."""
    chunks = Chunks(lambda data: write_all(fd, data))
    if plan.limit is not None:
        records = _first(lines, plan.limit)
    else:
        assert plan.tail is not None
        records = _last(lines, plan.tail, plan.query.budget.batch)
    previous = RecordLine(b"", b"", b"")
    for record in records:
        for head, previous_head in zip(record[:2], previous[:2], strict=True):
            if head is not previous_head:
                chunks.add(head)
        chunks.add(record.line)
        previous = record
    chunks.flush()


def _first(lines: Iterator[RecordLine], most: int) -> Iterator[RecordLine]:
    while most and (line := next(lines, None)):
        most -= line.is_end
        yield line


def _last(lines: Iterator[RecordLine], most: int, room: int) -> Iterator[RecordLine]:
    """Yield the last *most* lines, of at most *room* bytes.

    Raises:
        KraftopsError: they take more.
    """
    kept: deque[RecordLine] = deque()
    ends = size = 0
    for line in lines:
        kept.append(line)
        size += len(line.line)
        ends += line.is_end
        while ends > most:
            dropped = kept.popleft()
            size -= len(dropped.line)
            ends -= dropped.is_end
        if size > room:
            raise KraftopsError(
                f"the last {most} records take more than {room} bytes of output,"
                " a quarter of --max-memory"
            )
    yield from kept


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
