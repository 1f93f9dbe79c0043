"""Kafka's text of byte ranges, or the lines of their rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain

from kraftops.dump.report import Report
from kraftops.dump.scan.outcomes import add_notes, open_part, part_outcomes, require_records
from kraftops.dump.sources.parts import PartResult, total_size
from kraftops.engine.scan_contract import Request
from kraftops.engine.scanning import EngineScan, open_scan
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.mounts import exists
from kraftops.java.text import path_text
from kraftops.log.batch import Batch
from kraftops.log.files import RENAMED, FileKind, FileName, file_name
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange, FileId
from kraftops.log.reader import EndReason, LogEnd, LogReader
from kraftops.log.streams import LogStream
from kraftops.memory import ALONE, MOST_RATIO, Turn
from kraftops.query.query import NO_LIMIT, Query

_EMITTED_BYTES = 8 << 20  # between two steps of the progress, also inside a large file


class PartPrinter:
    """Prints byte ranges as text, JSON or CSV, the ranges of a file in order; to be closed.

    A call is a task of `parallel.ordered.run_ordered`; its results are for
    `dump.sources.parts.ReportMerger`.
    """

    def __init__(self, query: Query, turn: Turn = ALONE) -> None:
        """Print as *query* asks, in a thread with this *turn*, without the head of the format."""
        self._query, self._turn = query, turn
        self._log: LogFile | LogStream | None = None  # of the last part, if more may follow
        self._log_id: FileId | None = None
        self._size: int | None = None  # of the log that was opened for this part
        self._scan: EngineScan | None = None

    def __call__(self, part: ByteRange, emit: Callable[[PartResult], None]) -> Iterator[bytes]:
        report = Report()
        done, self._size = part.start, None
        for chunk in self.chunks(part, report):
            yield chunk
            position = max(done, self._scan.position if self._scan else 0)
            if report.has_lines or position - done >= _EMITTED_BYTES:
                emit(self._result(part, report, position - done))
                done = position
        end = part.stop
        if end is None:  # a stream does not know how many bytes its file has
            end = total_size([part.path]) if self._size is None else self._size
        emit(self._result(part, report, end - done))

    def _result(self, part: ByteRange, report: Report, size: int) -> PartResult:
        first = last = None
        if self._scan:
            first, last = self._scan.first_offset, self._scan.last_offset
        return PartResult(
            part=part, report=report.take(), first_offset=first, last_offset=last, size=size
        )

    def chunks(self, part: ByteRange, report: Report) -> Iterator[bytes]:
        """Yield the output of a byte range, and add damage to *report*."""
        self._scan = None
        query = self._query
        try:
            if not query.output_format.is_text:
                yield from self._selected(part, report)
            elif Request(part.path, query).is_chosen:
                if not part.start:
                    yield file_head(part, query, report)
                yield from self._selected(part, report)
            else:
                yield from self._kafkas_text(part, report)
        except (SourceError, UsageError) as error:
            report.refusal(error)

    def _selected(self, part: ByteRange, report: Report) -> Iterator[bytes]:
        require_records(part)
        request = Request(part.path, self._query, turn=self._turn)
        with self._open(part) as log:
            self._scan = scan = open_scan(request)
            stop = log.size if part.stop is None else part.stop
            written = 0
            cut_position: int | None = None
            for outcome in part_outcomes(log, part, scan, request, report):
                if cut_position is not None and outcome.out:
                    report.failure(part.path, cut_position, self._too_many_rows)
                    return
                add_notes(outcome.notes, part.path, report)
                written += len(outcome.out)
                # The size of a stream is not known before its end.
                size = (scan.position if stop is None else stop) - part.start
                is_text = self._query.output_format.is_text
                if is_text or written <= self._query.budget.most_rows(size):
                    yield outcome.out
                    continue
                end = outcome.out.rfind(b"\n") + 1
                yield outcome.out[:end] or outcome.out
                if end:  # else a row is not at its end
                    cut_position = scan.position
                if cut_position is not None and end < len(outcome.out):
                    report.failure(part.path, cut_position, self._too_many_rows)
                    return

    @property
    def _too_many_rows(self) -> str:
        return (
            f"the rows up to here take more than {MOST_RATIO} times the size of their bytes and"
            f" {self._query.budget.output} bytes; --max-output allows more"
        )

    def _kafkas_text(self, part: ByteRange, report: Report) -> Iterator[bytes]:
        """Yield Kafka's text of a byte range with all its batches."""
        path, is_first = part.path, not part.start
        head = _dumping_line(path, self._query) if is_first else b""
        name = file_name(path)
        if name is None:
            yield head
            report.ignored(path)
            if not exists(path):
                report.note(path or "an empty name", -1, "No such file or directory")
            return
        if name.renamed and is_first:
            report.remark(f"{path}: this file {RENAMED[name.renamed]}")
        if not name.has_records:
            yield head
            from kraftops.dump.index_text import index_lines

            for chunk in index_lines(name, self._query, report):
                yield chunk.encode("utf-8", "surrogateescape")
            return
        if is_first and not name.is_stdin:
            head += _name_line(name, report)
        yield head
        with self._open(part) as log:
            yield from self._batches(log, name, part, report)

    def _batches(
        self, log: LogFile | LogStream, name: FileName, part: ByteRange, report: Report
    ) -> Iterator[bytes]:
        query = self._query
        limit = None if query.max_bytes == NO_LIMIT else query.max_bytes
        start, stop = part.start, limit if part.stop is None else part.stop
        if log.size is not None:
            start, stop = min(start, log.size), log.size if stop is None else min(stop, log.size)
        self._scan = scan = open_scan(Request(part.path, query, turn=self._turn))
        reader = log.batches(start, stop, scan.meter)
        batch = None
        if name.is_stdin and not part.start:
            offset, batch = _first_offset(reader)
            yield f"Log starting offset: {offset}\n".encode()
        for outcome in chain(scan.batch(batch) if batch else (), scan.outcomes(reader)):
            add_notes(outcome.notes, part.path, report)
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
        if line := _end(name, reader.end, query, report):
            yield line

    @contextmanager
    def _open(self, part: ByteRange) -> Iterator[LogFile | LogStream]:
        """Give the log of a byte range; it stays open if another range of it may follow.

        Raises:
            SourceError: it cannot be read, or another file has replaced it.
        """
        if not self._log or (self._log.path, self._log_id) != (part.path, part.file_id):
            self.close()
            self._log, self._log_id = open_part(part), part.file_id
        self._size = self._log.size
        stays_open = False
        try:
            yield self._log
            stays_open = part.file_id is not None and not part.is_last
        finally:
            if not stays_open:
                self.close()

    def close(self) -> None:
        """Close the file that is still open, if any."""
        if self._log:
            self._log.__exit__()
            self._log = None


def _dumping_line(path: str, query: Query) -> bytes:
    return f"Dumping {query.shown(path)}\n".encode("utf-8", "surrogateescape")


def file_head(part: ByteRange, query: Query, report: Report) -> bytes:
    """Return the lines about a file, before its batches."""
    first = _dumping_line(part.path, query)
    name = file_name(part.path)
    if name is None or not name.has_records or name.is_stdin:
        return first
    return first + _name_line(name, Report() if part.start else report)


def text_chunks(path: str, query: Query, report: Report) -> Iterator[bytes]:
    """Yield the output of a whole file, and add damage to *report*."""
    return PartPrinter(query).chunks(ByteRange(path_text(path)), report)


def _first_offset(reader: LogReader) -> tuple[int, Batch | None]:
    """Return the offset of the first batch, and that batch if it is not in the reader's window."""
    if window := reader.window():
        data, pos, _ = window
        return int.from_bytes(data[pos : pos + 8], signed=True), None
    batch = reader.next_batch()
    return int.from_bytes(batch.data[:8], signed=True) if batch else 0, batch


def _name_line(name: FileName, report: Report) -> bytes:
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
    """Report the bytes after the last batch, and return Kafka's line about them."""
    if end.reason is EndReason.PADDING:
        report.note(name.path, end.position, end.detail)
    elif end.reason is EndReason.DAMAGED_ARCHIVE:
        report.failure(name.path, end.position, end.detail)
    elif end.reason is EndReason.SPENT:
        report.is_cut_short = True
    elif end.reason is EndReason.BAD_LENGTH:
        report.failure(name.path, end.position, f"{end.detail}; {end.left} bytes are not read")
    elif end.reason is EndReason.PARTIAL and query.max_bytes == NO_LIMIT:
        if query.check:
            report.finding(name.path, end.position, f"{end.left} bytes that are not a whole batch")
        file = name.path.rpartition("/")[2]
        line = f"Found {end.left} invalid bytes at the end of {file}\n"
        return line.encode("utf-8", "surrogateescape")
    return b""
