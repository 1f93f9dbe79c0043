"""The text of Kafka's `DumpLogSegments` (4.3.1), file by file, in chunks.

Where that tool dies of one record, batch or file, the text goes on; `Report` has why. That of a log
can be made part by part, in several processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kraftops.dump.batchline import UndecodableBatch, batch_line, legacy_batch_line
from kraftops.dump.checking import RecordCheck, check_crc
from kraftops.dump.query import NO_LIMIT, Query
from kraftops.dump.recordlines import Means, RecordLines
from kraftops.dump.report import Report
from kraftops.dump.splitting import FileId, Found, Part, file_id, total_size
from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.javatext import path_text
from kraftops.log.files import RENAMED, FileKind, FileName, file_name
from kraftops.log.reader import EndReason, LogEnd, LogFile
from kraftops.log.streams import LogStream, open_log

_CHUNK_LINES = 4000  # about a megabyte of metadata records
_CHUNK_BYTES = 1 << 20  # of a log, whose lines may be long
_TOLD_BYTES = 8 << 20


def text_chunks(path: str, query: Query, report: Report) -> Iterator[str]:
    """Yield the text of a file; what is wrong with it goes to *report* as it is found."""
    return TextParts(query).chunks(Part(path_text(path)), report)


class TextParts:
    """Makes the text of parts of files; what it has learned of one it uses for the next.

    A call makes the text of a part, as `kraftops.dump.parallel.run_ordered` asks for it; what it
    tells is for `kraftops.dump.splitting.Findings`.
    """

    def __init__(self, query: Query, tool: str = "kafka-dump-log") -> None:
        """Make texts as *query* says, and reports of *tool*."""
        self._query = query
        self._tool = tool
        self._log: LogFile | LogStream | None = None  # of the last part, if more may follow
        self._log_id: FileId | None = None
        self._means: Means | None = None
        self._records: RecordLines | None = None
        self._position = 0

    def __call__(self, part: Part, tell: Callable[[Found], None]) -> Iterator[str]:
        """Yield the text of a part."""
        report = Report(self._tool)
        told = part.start
        for chunk in self.chunks(part, report):
            yield chunk
            if report.has_lines or self._position - told >= _TOLD_BYTES:
                tell(self._found(part, report, self._position - told))
                told = self._position
        end = total_size([part.path]) if part.stop is None else part.stop
        tell(self._found(part, report, end - told))

    def _found(self, part: Part, report: Report, size: int) -> Found:
        records = self._records
        first = records.first_offset if records else None
        return Found(part, report.take(), first, records.last_offset if records else None, size)

    def chunks(self, part: Part, report: Report) -> Iterator[str]:
        """Yield the text of a part; what is wrong with it goes to *report* as it is found."""
        path = part.path
        self._records, self._position = None, part.start
        is_first = not part.start
        if is_first:
            yield f"Dumping {path}\n"
        name = file_name(path)
        if name is None:
            report.ignored(path)
            return
        if name.renamed and is_first:
            report.remark(f"{path}: this file {RENAMED[name.renamed]}")
        try:
            if name.kind in (FileKind.LOG, FileKind.CHECKPOINT):
                if is_first and not name.is_stdin:
                    yield header_line(name, report)
                yield from self._batches(name, part, report)
            else:
                from kraftops.dump.indextext import index_lines

                yield from index_lines(name, self._query, report)
        except (SourceError, UsageError) as error:
            report.refusal(error.message)

    def _batches(self, name: FileName, part: Part, report: Report) -> Iterator[str]:
        is_kept = False
        try:
            yield from self._lines(self._opened(part), name, part, report)
            is_kept = part.file_id is not None and not part.is_last
        finally:
            if not is_kept:
                self._close()

    def _opened(self, part: Part) -> LogFile | LogStream:
        """Return the file of a part.

        Raises:
            SourceError: it cannot be read, or is not that of the part any more.
        """
        if self._log and (self._log.path, self._log_id) == (part.path, part.file_id):
            return self._log  # only kept where the part says which file it is
        self._close()
        self._log, self._log_id = open_log(part.path), part.file_id
        if part.file_id and part.file_id != file_id(part.path):
            raise SourceError(f"cannot read {part.path}: another file has replaced it")
        return self._log

    def _close(self) -> None:
        if self._log:
            self._log.__exit__()
            self._log = None

    def _lines(
        self, log: LogFile | LogStream, name: FileName, part: Part, report: Report
    ) -> Iterator[str]:
        query = self._query
        limit = None if query.max_bytes == NO_LIMIT else query.max_bytes
        start, stop = part.start, limit if part.stop is None else part.stop
        if log.size is not None:
            start, stop = min(start, log.size), log.size if stop is None else min(stop, log.size)
        batches = log.batches(start, stop)
        records = None
        if query.deep_iteration:
            records = RecordLines(name.path, query, report, self._means)
            self._records, self._means = records, records.means
        check_records = RecordCheck(name.path, query, report) if query.check else None
        out: list[str] = []
        append = out.append
        full = part.start + _CHUNK_BYTES
        is_headless = name.is_stdin and not part.start
        for batch in batches:
            if is_headless:
                is_headless = False
                append(f"Log starting offset: {int.from_bytes(batch.data[:8], signed=True)}\n")
            try:
                if batch.is_legacy:
                    append(legacy_batch_line(batch))
                    if check_records:
                        check_crc(name.path, batch, report)
                        check_records(batch)
                    if records:
                        for _ in records.add_legacy(batch, append):
                            yield "".join(out)
                            out.clear()
                else:
                    header = batch.header
                    append(batch_line(batch, header))
                    if check_records:
                        check_crc(name.path, batch, report)
                        check_records(batch)
                    if records:
                        for _ in records.add(batch, header, append):
                            yield "".join(out)
                            out.clear()
            except UndecodableBatch as error:
                append(f"{error.partial} <undecodable: {error.message}>\n")
                report.failure(name.path, batch.position, error.message)
            except DecodeError as error:
                report.failure(name.path, batch.position, error.message)
            except MemoryError:
                report.failure(
                    name.path, batch.position, "the batch needs more memory than there is"
                )
            if len(out) >= _CHUNK_LINES or batch.position >= full:
                self._position = batch.position
                full = batch.position + _CHUNK_BYTES
                yield "".join(out)
                out.clear()
        assert batches.end is not None
        if is_headless:
            append("Log starting offset: 0\n")
        if part.is_last and log.size is not None and log.size > NO_LIMIT:
            reason = "Kafka's tool reads no file that goes on from here"
            report.failure(name.path, NO_LIMIT, reason, is_damage=False)
        lost = batches.lost
        if part.stop is not None and stop is not None:
            lost += part.stop - max(stop, part.start)
        if lost:
            report.note(name.path, batches.end.position, f"the file lost {lost} bytes")
        _end(name, batches.end, query, report, append)
        yield "".join(out)


def header_line(name: FileName, report: Report) -> str:
    """Return the line about the name of a log or snapshot."""
    label = "Log starting offset:" if name.kind is FileKind.LOG else "Snapshot end offset:"
    if name.is_bootstrap:
        return "KRaft bootstrap snapshot\n"
    try:
        if name.kind is FileKind.LOG:
            return f"{label} {name.base_offset}\n"
        offset, epoch = name.snapshot_id
        return f"{label} {offset}, epoch: {epoch}\n"
    except UsageError as error:
        report.failure(name.path, 0, error.message, is_damage=False)
        return f"{label} <undecodable: {error.message}>\n"


def _end(
    name: FileName, end: LogEnd, query: Query, report: Report, append: Callable[[str], None]
) -> None:
    """Tell what lies behind the last batch."""
    if end.reason is EndReason.PADDING:
        report.note(name.path, end.position, end.detail)
    elif end.reason is EndReason.DAMAGED_ARCHIVE:
        report.failure(name.path, end.position, end.detail)
    elif end.reason is EndReason.BAD_LENGTH:
        report.failure(name.path, end.position, f"{end.detail}; {end.left} bytes are not read")
    elif end.reason is EndReason.PARTIAL and query.max_bytes == NO_LIMIT:
        if query.check:
            report.finding(name.path, end.position, f"{end.left} bytes that are no whole batch")
        append(f"Found {end.left} invalid bytes at the end of {name.path.rpartition('/')[2]}\n")
