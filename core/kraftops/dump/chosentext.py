"""The text of the records that a filter chooses, or that salvage finds, as Kafka's tool has it.

The line of a batch is there if one of its records is. Without records in the text, the lines of
batches are chosen, by what their headers say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from kraftops.dump.batchline import UndecodableBatch, batch_line, legacy_batch_line
from kraftops.dump.checking import RecordCheck, check_crc
from kraftops.dump.query import Query
from kraftops.dump.recordlines import RecordLines
from kraftops.dump.report import Report
from kraftops.dump.rowchunks import opened, walk
from kraftops.dump.runs import PAUSE, UNFIT_RECORDS, FastLines, Run
from kraftops.dump.scan import RowMaker, check_end, reason_of
from kraftops.dump.splitting import Found, Part
from kraftops.dump.text import header_line
from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.log.batch import Batch, Header, Record
from kraftops.log.files import file_name

_CHUNK_LINES = 1000


class Unit(NamedTuple):
    """The line of a record with the lines that belong before it, or of a batch with no *line*.

    Units of one file, or batch, share the same strings.
    """

    file: str
    batch: str
    line: str


class ChosenText:
    """Makes the text of parts of files, as `kraftops.dump.text.TextParts` does."""

    def __init__(self, query: Query, tool: str = "kafka-dump-log") -> None:
        """Make texts as *query* says, and reports of *tool*."""
        self._query = query
        self._tool = tool

    def __call__(self, part: Part, tell: Callable[[Found], None]) -> Iterator[str]:
        """Yield the text of a part."""
        report = Report(self._tool)
        if not part.start:
            yield f"Dumping {part.path}\n"
        try:
            head = _header(part, report)
            if not part.start:
                yield head
            yield from _joined(chosen_units(part, self._query, report, head))
        except (SourceError, UsageError) as error:
            report.refusal(error.message)
        size = 0 if part.stop is None else part.stop - part.start
        tell(Found(part, report.take(), None, None, size))


def _joined(units: Iterable[Unit]) -> Iterator[str]:
    """Yield the text of the units of a file, but for the lines about the file."""
    out: list[str] = []
    last = ""
    try:
        for _, batch, line in units:
            if batch is not last:
                out.append(batch)
                last = batch
            out.append(line)
            if len(out) >= _CHUNK_LINES:
                yield "".join(out)
                out.clear()
    except (SourceError, UsageError):
        yield "".join(out)
        raise
    yield "".join(out)


def text_units(part: Part, query: Query, report: Report) -> Iterator[Unit]:
    """Yield what is asked for of a whole file, with the lines about the file.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is none that has records.
    """
    yield from chosen_units(part, query, report, file_head(part, report))


def file_head(part: Part, report: Report) -> str:
    """Return the lines about the file of a part."""
    return f"Dumping {part.path}\n{_header(part, report)}"


def chosen_units(part: Part, query: Query, report: Report, head: str = "") -> Iterator[Unit]:
    """Yield the line of each record, or batch, that is asked for.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is none that has records.
    """
    with opened(part) as log:
        chosen = _Chosen(part.path, query, report, head)
        for found in walk(log, part, query, report):
            if isinstance(found, Batch):
                yield from chosen.units(found)


def _header(part: Part, report: Report) -> str:
    name = file_name(part.path)
    if name is None or not name.has_records or name.is_stdin:
        return ""
    return header_line(name, Report() if part.start else report)


class _Chosen:
    def __init__(self, path: str, query: Query, report: Report, head: str) -> None:
        self._path = path
        self._query = query
        self._report = report
        self._head = head
        # What is found in records, their lines say; that of one that is not asked for, nobody.
        self._rows = RowMaker(path, replace(query, check=False), report)
        self._lines = RecordLines(path, query, report)
        self._fast = _fast_lines(query, self._lines)
        self._check_records = RecordCheck(path, query, report)

    def units(self, batch: Batch) -> Iterator[Unit]:
        """Yield what is asked for of a batch."""
        try:
            if self._query.check:
                check_crc(self._path, batch, self._report)
            if batch.is_legacy:
                yield from self._legacy_units(batch)
            elif self._query.filter.may_match(batch.header):
                yield from self._units(batch, batch.header)
        except UndecodableBatch as error:
            self._report.failure(self._path, batch.position, error.message)
            if self._query.filter.is_empty:
                line = f"{error.partial} <undecodable: {error.message}>\n"
                yield Unit(self._head, line, "")
        except (DecodeError, MemoryError) as error:
            self._report.failure(self._path, batch.position, reason_of(error))

    def _units(self, batch: Batch, header: Header) -> Iterator[Unit]:
        if not self._query.deep_iteration:
            if header.base_timestamp < self._query.filter.until:
                yield Unit(self._head, batch_line(batch, header), "")
                self._check_records(batch)
            return
        first = ""
        if self._query.filter.is_empty:
            first = batch_line(batch, header)
            yield Unit(self._head, first, "")
        for line in self._record_lines(batch, header):
            first = first or batch_line(batch, header)
            yield Unit(self._head, first, line)

    def _record_lines(self, batch: Batch, header: Header) -> Iterator[str]:
        rows, query = self._rows, self._query
        buffer, pos = rows.buffer(batch, header)
        lines: list[str] = []
        fast = self._fast if query.filter.holds_for_all(header) else None
        places = None if fast else rows.places(header, buffer, pos)
        if places is not None:
            for done, at in places:
                record, _ = rows.next_record(header, buffer, at, done)
                self._add(batch, header, record, lines.append)
                yield from lines
                lines.clear()
            return
        count, done, unfit = header.record_count, 0, 0
        while done < count:
            if fast:
                run = Run(buffer, pos, done, min(done + PAUSE, count), header)
                pos, printed = fast.add(run, lines.append)
                if printed > done:
                    done = printed
                    yield from filter(None, lines)
                    lines.clear()
                    continue
            record, pos = rows.next_record(header, buffer, pos, done)
            self._add(batch, header, record, lines.append)
            yield from lines
            lines.clear()
            done += 1
            unfit += 1
            if unfit > UNFIT_RECORDS:
                fast = None
        check_end(header, buffer, pos)

    def _add(
        self, batch: Batch, header: Header, record: Record, append: Callable[[str], None]
    ) -> None:
        """Append the line of a record, if it is asked for."""
        if self._rows.row(batch, header, record):
            self._lines.last_offset = None  # offsets that are not asked for are no gaps
            self._lines.add_record(record, batch.position, header, append)

    def _legacy_units(self, batch: Batch) -> Iterator[Unit]:
        from kraftops.log import legacy

        head = legacy.header(batch)
        first = legacy_batch_line(batch)
        if not self._query.deep_iteration:
            if self._query.filter.fits_place(head.offset, head.timestamp if head.magic else None):
                yield Unit(self._head, first, "")
                self._check_records(batch)
            return
        lines: list[str] = []
        for message in legacy.records(batch, self._query.max_inflated_bytes):
            if self._rows.legacy_row(batch, head, message):
                self._lines.last_offset = None
                self._lines.add_message(message, batch.position, head.timestamp_type, lines.append)
                yield Unit(self._head, first, lines.pop())


def _fast_lines(query: Query, lines: RecordLines) -> FastLines | None:
    asked, fast = query.filter, lines.means.fast
    if query.decoder != "metadata" and (asked.types or asked.has_since):
        return None  # it knows neither types nor records that are earlier than the first
    if not asked.needs_rows:
        return fast
    if not fast or not asked.where:
        return None
    from kraftops.dump.rowlines import fast_json_lines
    from kraftops.dump.wherelines import WhereLines, is_told_by_json

    rows = fast_json_lines(query) if is_told_by_json(query, in_text=True) else None
    return WhereLines(rows, fast, asked) if rows else None
