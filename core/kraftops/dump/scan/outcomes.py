"""The engine's outcomes of a byte range, and rows of damage."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kraftops.dump.report import Report
from kraftops.engine.scan_contract import Note, NoteKind, Outcome, Request, Why
from kraftops.engine.scanning import EngineScan, open_scan
from kraftops.errors import SourceError, UsageError
from kraftops.log.files import file_name
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange, file_id
from kraftops.log.reader import EndReason, LogEnd
from kraftops.log.streams import LogStream, open_log
from kraftops.memory import ALONE, Turn
from kraftops.query.query import NO_LIMIT, Query
from kraftops.query.record_rows import damage_row
from kraftops.query.row import COLUMNS, Row

if TYPE_CHECKING:
    from kraftops.log.damage.salvage import Gap


def outcomes_of(
    part: ByteRange, query: Query, report: Report, *, marks: bool = False, turn: Turn = ALONE
) -> Iterator[Outcome]:
    """Yield the outcomes of a byte range of a log, with its records marked if *marks* is set.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is not a log.
    """
    require_records(part)
    request = Request(part.path, query, marks, turn)
    with open_part(part) as log:
        yield from part_outcomes(log, part, open_scan(request), request, report)


def part_outcomes(
    log: LogFile | LogStream, part: ByteRange, scan: EngineScan, request: Request, report: Report
) -> Iterator[Outcome]:
    """Yield the outcomes of the batches in an open log, and a row of damage where there is any.

    Notes of the engine stay in the outcomes; the rest is added to *report*.
    """
    query = request.query
    is_limited = query.max_bytes != NO_LIMIT
    stop = part.stop
    if is_limited:
        stop = query.max_bytes if stop is None else min(stop, query.max_bytes)
    if query.salvage:
        yield from _salvaged_outcomes(log, part._replace(stop=stop), scan, request, report)
        return
    reader = log.batches(part.start, stop, scan.meter)
    yield from scan.outcomes(reader)
    assert reader.end
    end: LogEnd = reader.end
    if reader.lost:
        report.note(part.path, end.position, f"the file lost {reader.lost} bytes")
    if end.reason is EndReason.PADDING:
        report.note(part.path, end.position, end.detail)
    elif end.reason is EndReason.BAD_LENGTH:
        detail = f"{end.detail}; {end.left} bytes are not read"
        yield from _damage_outcome(request, end.position, detail, report)
    elif end.reason is EndReason.SPENT:
        report.is_cut_short = True
    elif end.reason is EndReason.PARTIAL and is_limited:
        return
    elif end.reason is EndReason.PARTIAL and part.is_last:
        detail = f"{end.left} bytes that are not a whole batch"
        yield from _damage_outcome(request, end.position, detail, report, is_fatal=False)
    elif end.reason is not EndReason.END and part.is_last:
        yield from _damage_outcome(request, end.position, end.detail, report)


def _salvaged_outcomes(
    log: LogFile | LogStream,
    part: ByteRange,
    scan: EngineScan,
    request: Request,
    report: Report,
) -> Iterator[Outcome]:
    if isinstance(log, LogStream):
        with log.spooled() as spooled:
            yield from _salvaged_outcomes(spooled, part, scan, request, report)
            if spooled.damage:
                yield from _damage_outcome(request, spooled.size, spooled.damage, report)
        return
    from kraftops.log.damage.salvage import Gap, salvaged

    for piece in salvaged(log, part.start, part.stop, request.query.budget.meter()):
        if scan.meter.is_spent:
            report.is_cut_short = True
            return
        if isinstance(piece, Gap):
            yield from _damage_outcome(request, piece.position, _gap_text(piece), report)
        else:
            yield from scan.batch(piece)


def _gap_text(gap: Gap) -> str:
    """Describe a gap in words."""
    missing = gap.missing
    offsets = "" if missing is None else f", {missing} offsets are missing"
    return f"{gap.size} bytes could not be salvaged{offsets}: {gap.reason}"


def _damage_outcome(
    request: Request, position: int, detail: str, report: Report, *, is_fatal: bool = True
) -> Iterator[Outcome]:
    """Report damage and yield its row; with *is_fatal*, Kafka's tool ends with an exception."""
    query = request.query
    if is_fatal:
        report.failure(request.path, position, detail)
    elif query.check:
        report.finding(request.path, position, detail)
    else:
        report.note(request.path, position, detail)
    row = damage_row(request.path, position, f"position {position}: {detail}")
    if not query.output_format.is_text and query.filter.matches(row):
        yield _row_outcome(row, query)


def _row_outcome(row: Row, query: Query) -> Outcome:
    if query.output_format.is_columns:
        names = [name for name in COLUMNS if query.columns is None or name in query.columns]
        from kraftops.engine.columns import columns_of

        return Outcome(b"", 0, Why.MORE, [], rows=1, columns=columns_of([row], names))
    from kraftops.query.row_lines import lines_of

    out = lines_of(query.output_format).line(row).encode()
    return Outcome(out, 0, Why.MORE, [], marks=array("i", [len(out)]).tobytes())


def add_notes(notes: Iterable[Note], path: str, report: Report) -> None:
    """Add the notes of an engine about a file to *report*."""
    for kind, position, reason, _ in notes:
        if kind == NoteKind.FINDING:
            report.finding(path, position, reason)
        else:
            report.failure(path, position, reason)
        report.is_cut_short |= kind == NoteKind.LIMIT


def require_records(part: ByteRange) -> None:
    """Refuse a file without records.

    Raises:
        UsageError: its name is not the name of a log or snapshot.
    """
    name = file_name(part.path)
    if name is None:
        raise UsageError(f"{part.path}: its name is that of no log or snapshot")
    if not name.has_records:
        raise UsageError(f"{part.path}: only logs and snapshots have records")


def open_part(part: ByteRange) -> LogFile | LogStream:
    """Open the log of a byte range.

    Raises:
        SourceError: it cannot be read, or another file has replaced it.
    """
    log = open_log(part.path)
    if part.file_id:
        try:
            current_id = file_id(part.path)
        except SourceError:
            log.__exit__()
            raise
        if part.file_id != current_id:
            log.__exit__()
            raise SourceError(f"cannot read {part.path}: another file has replaced it")
    return log
