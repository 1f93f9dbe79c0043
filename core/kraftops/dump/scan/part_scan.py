"""What is made of parts of files: Kafka's text, rows in a form of ours, or columns.

Where Kafka's tool dies of one record, batch or file, this goes on; `Report` has why. A log can be
made part by part, in several threads.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from kraftops.dump.report import Report
from kraftops.dump.sources.parts import Found, total_size
from kraftops.engine.columns import columns_of, rows_of
from kraftops.engine.scan_contract import Note, NoteKind, Outcome, Request, Why
from kraftops.engine.scanning import EngineScan, open_scan
from kraftops.errors import SourceError, UsageError
from kraftops.java.text import path_text
from kraftops.log.batch import Batch
from kraftops.log.files import RENAMED, FileKind, FileName, file_name
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange, FileId, file_id
from kraftops.log.reader import EndReason, LogEnd, LogReader
from kraftops.log.streams import LogStream, open_log
from kraftops.query.query import NO_LIMIT, Query
from kraftops.query.row import COLUMNS, Row, damage_row, file_text

if TYPE_CHECKING:
    from kraftops.log.salvage import Gap

_TOLD_BYTES = 8 << 20


class PartMaker:
    """Makes text, JSON or CSV of parts of files, which should come to it in order; to be closed.

    A call makes that of a part, as `parallel.ordered.run_ordered` asks for it; what it tells is for
    `dump.sources.parts.Findings`.
    """

    def __init__(self, query: Query, tool: str = "kafka-dump-log") -> None:
        """Make what *query* says, CSV without the line of the names, and reports of *tool*."""
        self._query = query
        self._tool = tool
        self._log: LogFile | LogStream | None = None  # of the last part, if more may follow
        self._log_id: FileId | None = None
        self._scan: EngineScan | None = None

    def __call__(self, part: ByteRange, tell: Callable[[Found], None]) -> Iterator[bytes]:
        """Yield the text of a part."""
        report = Report(self._tool)
        told = part.start
        for chunk in self.chunks(part, report):
            yield chunk
            position = max(told, self._scan.position if self._scan else 0)
            if report.has_lines or position - told >= _TOLD_BYTES:
                tell(self._found(part, report, position - told))
                told = position
        end = total_size([part.path]) if part.stop is None else part.stop
        tell(self._found(part, report, end - told))

    def _found(self, part: ByteRange, report: Report, size: int) -> Found:
        first = last = None
        if self._scan:
            first, last = self._scan.first_offset, self._scan.last_offset
        return Found(part, report.take(), first, last, size)

    def chunks(self, part: ByteRange, report: Report) -> Iterator[bytes]:
        """Yield the text of a part; what is wrong with it goes to *report* as it is found."""
        self._scan = None
        query = self._query
        try:
            if not query.format.is_text:
                yield from self._chosen(part, report)
            elif Request(part.path, query).is_chosen:
                if not part.start:
                    yield f"Dumping {part.path}\n".encode("utf-8", "surrogateescape")
                    yield _header(part, report)
                yield from self._chosen(part, report)
            else:
                yield from self._whole(part, report)
        except (SourceError, UsageError) as error:
            report.refusal(error.message)

    def _chosen(self, part: ByteRange, report: Report) -> Iterator[bytes]:
        _require_records(part)
        request = Request(part.path, self._query)
        with self._opened(part) as log:
            self._scan = scan = open_scan(request)
            for outcome in _walk(log, part, scan, request, report):
                _note(outcome.notes, part.path, report)
                yield outcome.out

    def _whole(self, part: ByteRange, report: Report) -> Iterator[bytes]:
        """Yield the text of a part as Kafka's tool prints a file."""
        path, is_first = part.path, not part.start
        if is_first:
            yield f"Dumping {path}\n".encode("utf-8", "surrogateescape")
        name = file_name(path)
        if name is None:
            report.ignored(path)
            return
        if name.renamed and is_first:
            report.remark(f"{path}: this file {RENAMED[name.renamed]}")
        if not name.has_records:
            from kraftops.dump.index_text import index_lines

            for chunk in index_lines(name, self._query, report):
                yield chunk.encode("utf-8", "surrogateescape")
            return
        if is_first and not name.is_stdin:
            yield _header_line(name, report)
        with self._opened(part) as log:
            yield from self._batches(log, name, part, report)

    def _batches(
        self, log: LogFile | LogStream, name: FileName, part: ByteRange, report: Report
    ) -> Iterator[bytes]:
        query = self._query
        limit = None if query.max_bytes == NO_LIMIT else query.max_bytes
        start, stop = part.start, limit if part.stop is None else part.stop
        if log.size is not None:
            start, stop = min(start, log.size), log.size if stop is None else min(stop, log.size)
        reader = log.batches(start, stop)
        self._scan = scan = open_scan(Request(part.path, query))
        batch = None
        if name.is_stdin and not part.start:
            offset, batch = _first_offset(reader)
            yield f"Log starting offset: {offset}\n".encode()
        for outcome in chain(scan.batch(batch) if batch else (), scan.outcomes(reader)):
            _note(outcome.notes, part.path, report)
            report.gaps(part.path, outcome.gaps)
            yield outcome.out
        assert reader.end is not None
        if part.is_last and log.size is not None and log.size > NO_LIMIT:
            reason = "Kafka's tool reads no file that goes on from here"
            report.failure(part.path, NO_LIMIT, reason, is_damage=False)
        lost = reader.lost
        if part.stop is not None and stop is not None:
            lost += part.stop - max(stop, part.start)
        if lost:
            report.note(part.path, reader.end.position, f"the file lost {lost} bytes")
        yield _end(name, reader.end, query, report)

    @contextmanager
    def _opened(self, part: ByteRange) -> Iterator[LogFile | LogStream]:
        """Give the file of a part, which is left open where more of it may follow.

        Raises:
            SourceError: it cannot be read, or is not that of the part any more.
        """
        if not self._log or (self._log.path, self._log_id) != (part.path, part.file_id):
            self.close()
            self._log, self._log_id = _opened(part), part.file_id
        is_kept = False  # only where the part says which file it is
        try:
            yield self._log
            is_kept = part.file_id is not None and not part.is_last
        finally:
            if not is_kept:
                self.close()

    def close(self) -> None:
        """Close the file that was left open, if one was."""
        if self._log:
            self._log.__exit__()
            self._log = None


class Unit(NamedTuple):
    """The line of a record with the lines that belong before it, or of a batch without records.

    Units of one file, or batch, share the same bytes.
    """

    file: bytes
    batch: bytes
    line: bytes


def units(part: ByteRange, query: Query, report: Report, head: bytes = b"") -> Iterator[Unit]:
    """Yield the line of each record, or batch, that is asked for, with *head* as the file's lines.

    What is wrong goes to *report* where the lines are that it is about.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is none that has records.
    """
    batch = b""
    for outcome in _made(part, query, report, marks=True):
        notes, start = deque(outcome.notes), 0
        for mark in array("i", outcome.marks):
            end = abs(mark)
            while notes and notes[0].at < end:
                _note([notes.popleft()], part.path, report)
            line, start = outcome.out[start:end], end
            if mark < 0:
                batch = line
            else:
                yield Unit(head, batch, line)
        _note(notes, part.path, report)


def scan(part: ByteRange, query: Query, report: Report) -> Iterator[Row]:
    """Yield the rows of a part; what is damaged is a row too, and goes to *report*.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is none that has records.
    """
    for outcome in column_outcomes(part, query, report):
        _note(outcome.notes, part.path, report)
        yield from rows_of(outcome.columns or {}, outcome.rows)


def column_outcomes(part: ByteRange, query: Query, report: Report) -> Iterator[Outcome]:
    """Yield the columns of a part; what is no batch goes to *report*, the notes are the caller's.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is none that has records.
    """
    return _made(part, replace(query, form="parquet"), report)


def note_rows(outcome: Outcome, rows: int, path: str, report: Report) -> None:
    """Give *report* what was found of a file up to so many *rows* of columns."""
    _note((note for note in outcome.notes if note.at < rows), path, report)


def file_head(part: ByteRange, report: Report) -> bytes:
    """Return the lines about the file of a part."""
    first = f"Dumping {part.path}\n".encode("utf-8", "surrogateescape")
    return first + _header(part, report)


def _made(
    part: ByteRange, query: Query, report: Report, *, marks: bool = False
) -> Iterator[Outcome]:
    _require_records(part)
    request = Request(part.path, query, marks)
    with _opened(part) as log:
        yield from _walk(log, part, open_scan(request), request, report)


def _note(notes: Iterable[Note], path: str, report: Report) -> None:
    for kind, position, reason, _ in notes:
        if kind == NoteKind.FAILURE:
            report.failure(path, position, reason)
        else:
            report.finding(path, position, reason)


def _require_records(part: ByteRange) -> None:
    name = file_name(part.path)
    if name is None:
        raise UsageError(f"{part.path}: its name is that of no log or snapshot")
    if not name.has_records:
        raise UsageError(f"{part.path}: only logs and snapshots have records")


def _opened(part: ByteRange) -> LogFile | LogStream:
    log = open_log(part.path)
    if part.file_id:
        try:
            found = file_id(part.path)
        except SourceError:
            log.__exit__()
            raise
        if part.file_id != found:
            log.__exit__()
            raise SourceError(f"cannot read {part.path}: another file has replaced it")
    return log


def _first_offset(reader: LogReader) -> tuple[int, Batch | None]:
    """Return the offset of the first batch, and that batch if it is not in the reader's window."""
    if window := reader.window():
        data, pos, _ = window
        return int.from_bytes(data[pos : pos + 8], signed=True), None
    batch = reader.next_batch()
    return int.from_bytes(batch.data[:8], signed=True) if batch else 0, batch


def _header(part: ByteRange, report: Report) -> bytes:
    name = file_name(part.path)
    if name is None or not name.has_records or name.is_stdin:
        return b""
    return _header_line(name, Report() if part.start else report)


def _header_line(name: FileName, report: Report) -> bytes:
    """Return the line about the name of a log or snapshot."""
    label = "Log starting offset:" if name.kind is FileKind.LOG else "Snapshot end offset:"
    if name.is_bootstrap:
        return b"KRaft bootstrap snapshot\n"
    try:
        if name.kind is FileKind.LOG:
            return f"{label} {name.base_offset}\n".encode()
        offset, epoch = name.snapshot_id
        return f"{label} {offset}, epoch: {epoch}\n".encode()
    except UsageError as error:
        report.failure(name.path, 0, error.message, is_damage=False)
        return f"{label} <undecodable: {error.message}>\n".encode("utf-8", "surrogateescape")


def _end(name: FileName, end: LogEnd, query: Query, report: Report) -> bytes:
    """Tell what lies behind the last batch; return what Kafka's tool prints of it."""
    if end.reason is EndReason.PADDING:
        report.note(name.path, end.position, end.detail)
    elif end.reason is EndReason.DAMAGED_ARCHIVE:
        report.failure(name.path, end.position, end.detail)
    elif end.reason is EndReason.BAD_LENGTH:
        report.failure(name.path, end.position, f"{end.detail}; {end.left} bytes are not read")
    elif end.reason is EndReason.PARTIAL and query.max_bytes == NO_LIMIT:
        if query.check:
            report.finding(name.path, end.position, f"{end.left} bytes that are no whole batch")
        shown = name.path.rpartition("/")[2]
        line = f"Found {end.left} invalid bytes at the end of {shown}\n"
        return line.encode("utf-8", "surrogateescape")
    return b""


def _walk(
    log: LogFile | LogStream, part: ByteRange, scan: EngineScan, request: Request, report: Report
) -> Iterator[Outcome]:
    """Yield what is made of the batches of a part, and rows of what is none of them."""
    query = request.query
    is_limited = query.max_bytes != NO_LIMIT
    stop = part.stop
    if is_limited:
        stop = query.max_bytes if stop is None else min(stop, query.max_bytes)
    if query.salvage:
        yield from _salvaged(log, part, stop, scan, request, report)
        return
    reader = log.batches(part.start, stop)
    yield from scan.outcomes(reader)
    assert reader.end
    end: LogEnd = reader.end
    if reader.lost:
        report.note(part.path, end.position, f"the file lost {reader.lost} bytes")
    if end.reason is EndReason.PADDING:
        report.note(part.path, end.position, end.detail)
    elif end.reason is EndReason.BAD_LENGTH:
        detail = f"{end.detail}; {end.left} bytes are not read"
        yield from _damage(request, end.position, detail, report)
    elif end.reason is EndReason.PARTIAL and is_limited:
        return
    elif end.reason is EndReason.PARTIAL and part.is_last:
        detail = f"{end.left} bytes that are no whole batch"
        yield from _damage(request, end.position, detail, report, is_fatal=False)
    elif end.reason is not EndReason.END and part.is_last:
        yield from _damage(request, end.position, end.detail, report)


def _salvaged(
    log: LogFile | LogStream,
    part: ByteRange,
    stop: int | None,
    scan: EngineScan,
    request: Request,
    report: Report,
) -> Iterator[Outcome]:
    if isinstance(log, LogStream):
        with log.spooled() as spooled:
            yield from _salvaged(spooled, part, stop, scan, request, report)
            if spooled.damage:
                yield from _damage(request, spooled.size, spooled.damage, report)
        return
    from kraftops.log.salvage import Gap, salvaged

    for found in salvaged(log, part.start, stop):
        if isinstance(found, Gap):
            yield from _damage(request, found.position, _gap_text(found), report)
        else:
            yield from scan.batch(found)


def _gap_text(gap: Gap) -> str:
    """Return what a gap is, in words."""
    missing = gap.missing
    offsets = "" if missing is None else f", {missing} offsets are missing"
    return f"{gap.size} bytes could not be salvaged{offsets}: {gap.reason}"


def _damage(
    request: Request, position: int, detail: str, report: Report, *, is_fatal: bool = True
) -> Iterator[Outcome]:
    """Report damage, of which Kafka's tool dies if *is_fatal*, and yield its row."""
    note = report.failure if is_fatal else report.finding
    note(request.path, position, detail)
    row = damage_row(file_text(request.path), position, None, f"position {position}: {detail}")
    query = request.query
    if not query.format.is_text and query.filter.matches(row):
        yield _row_outcome(row, query)


def _row_outcome(row: Row, query: Query) -> Outcome:
    """Return a row in the form of a query, as an engine would make it."""
    if query.format.is_columns:
        names = [name for name in COLUMNS if query.columns is None or name in query.columns]
        return Outcome(b"", 0, Why.MORE, [], rows=1, columns=columns_of([row], names))
    from kraftops.query.row_lines import lines_of

    out = lines_of(query.format).line(row).encode()
    return Outcome(out, 0, Why.MORE, [], marks=array("i", [len(out)]).tobytes())


def text_chunks(path: str, query: Query, report: Report) -> Iterator[bytes]:
    """Yield what is made of a file; what is wrong with it goes to *report* as it is found."""
    return PartMaker(query).chunks(ByteRange(path_text(path)), report)
