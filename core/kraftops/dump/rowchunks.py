"""A log's rows, or their text in a form of ours, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kraftops.dump.query import NO_LIMIT, Query
from kraftops.dump.report import Report
from kraftops.dump.rowlines import RowLines, fast_rows, row_form
from kraftops.dump.rows import Row, damage_row, file_text
from kraftops.dump.scan import RowMaker
from kraftops.dump.splitting import Found, Part, file_id
from kraftops.errors import SourceError, UsageError
from kraftops.log.batch import Batch
from kraftops.log.files import file_name
from kraftops.log.reader import EndReason, LogEnd, LogFile
from kraftops.log.salvage import Gap, salvaged
from kraftops.log.streams import LogStream, open_log

_CHUNK_LINES = 1000  # about half a megabyte


def scan(part: Part, query: Query, report: Report) -> Iterator[Row]:
    """Yield the rows of a part; what is damaged is a row too, and goes to *report*.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is none that has records.
    """
    with opened(part) as log:
        rows = RowMaker(part.path, query, report, fast_rows(query))
        for found in walk(log, part, query, report):
            if isinstance(found, Batch):
                yield from rows.rows(found)
            else:
                yield found


class RowParts:
    """Makes the text of the rows of parts of files, as `kraftops.dump.text.TextParts` does."""

    def __init__(self, query: Query, tool: str = "kafka-dump-log") -> None:
        """Make rows as *query* says, and reports of *tool*."""
        self._query = query
        self._tool = tool

    def __call__(self, part: Part, tell: Callable[[Found], None]) -> Iterator[str]:
        """Yield the text of a part."""
        report = Report(self._tool)
        try:
            yield from row_chunks(part, self._query, report)
        except (SourceError, UsageError) as error:
            report.refusal(error.message)
        size = 0 if part.stop is None else part.stop - part.start
        tell(Found(part, report.take(), None, None, size))


def row_chunks(part: Part, query: Query, report: Report) -> Iterator[str]:
    """Yield the rows of a part as text, many at a time; CSV without the line of the names.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is none that has records.
    """
    with opened(part) as log:
        out: list[str] = []
        append = out.append
        lines, add_row = RowLines(part.path, query, report), row_writer(query.form, append)
        for found in walk(log, part, query, report):
            if isinstance(found, Batch):
                for _ in lines.add(found, append):
                    yield "".join(out)
                    out.clear()
            else:
                add_row(found)
            if len(out) >= _CHUNK_LINES:
                yield "".join(out)
                out.clear()
        yield "".join(out)


def opened(part: Part) -> LogFile | LogStream:
    """Open the file of a part.

    Raises:
        SourceError: it cannot be opened, or is not that of the part any more.
        UsageError: by its name, it is none that has records.
    """
    name = file_name(part.path)
    if name is None:
        raise UsageError(f"{part.path}: its name is that of no log or snapshot")
    if not name.has_records:
        raise UsageError(f"{part.path}: only logs and snapshots have records")
    log = open_log(part.path)
    if part.file_id and part.file_id != file_id(part.path):
        log.__exit__()
        raise SourceError(f"cannot read {part.path}: another file has replaced it")
    return log


def row_writer(form: str, append: Callable[[str], None]) -> Callable[[Row], object]:
    """Return a function that appends the text of a row in `json` or `csv`."""
    text = row_form(form).text
    return lambda row: append(text(row))


def walk(
    log: LogFile | LogStream, part: Part, query: Query, report: Report
) -> Iterator[Batch | Row]:
    """Yield the batches of a part, and rows of what is none of them."""
    is_limited = query.max_bytes != NO_LIMIT
    stop = part.stop
    if is_limited:
        stop = query.max_bytes if stop is None else min(stop, query.max_bytes)
    if query.salvage:
        yield from _salvaged(log, part, stop, query, report)
        return
    batches = log.batches(part.start, stop)
    yield from batches
    assert batches.end
    end: LogEnd = batches.end
    if batches.lost:
        report.note(part.path, end.position, f"the file lost {batches.lost} bytes")
    if end.reason is EndReason.PADDING:
        report.note(part.path, end.position, end.detail)
    elif end.reason is EndReason.BAD_LENGTH:
        detail = f"{end.detail}; {end.left} bytes are not read"
        yield from _damage(part, end.position, detail, query, report)
    elif end.reason is EndReason.PARTIAL and is_limited:
        return
    elif end.reason is EndReason.PARTIAL and part.is_last:
        detail = f"{end.left} bytes that are no whole batch"
        yield from _damage(part, end.position, detail, query, report, is_fatal=False)
    elif end.reason is not EndReason.END and part.is_last:
        yield from _damage(part, end.position, end.detail, query, report)


def _salvaged(
    log: LogFile | LogStream, part: Part, stop: int | None, query: Query, report: Report
) -> Iterator[Batch | Row]:
    if isinstance(log, LogStream):
        with log.kept() as kept:
            yield from _salvaged(kept, part, stop, query, report)
            if kept.damage:
                yield from _damage(part, kept.size, kept.damage, query, report)
        return
    for found in salvaged(log, part.start, stop):
        if isinstance(found, Gap):
            yield from _damage(part, found.position, gap_text(found), query, report)
        else:
            yield found


def gap_text(gap: Gap) -> str:
    """Return what a gap is, in words."""
    missing = gap.missing
    offsets = "" if missing is None else f", {missing} offsets are missing"
    return f"{gap.size} bytes could not be salvaged{offsets}: {gap.reason}"


def _damage(
    part: Part,
    position: int,
    detail: str,
    query: Query,
    report: Report,
    *,
    is_fatal: bool = True,
) -> Iterator[Row]:
    """Report damage, of which Kafka's tool dies if *is_fatal*, and yield its row."""
    note = report.failure if is_fatal else report.finding
    note(part.path, position, detail)
    row = damage_row(file_text(part.path), position, None, f"position {position}: {detail}")
    if query.filter.matches(row):
        yield row
