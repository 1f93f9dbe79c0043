"""The text of Kafka's `DumpLogSegments` (4.3.1), file by file, in chunks.

Where that tool dies of one record, batch or file, the text goes on; `Report` has why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kraftops.dump.batchline import UndecodableBatch, batch_line, legacy_batch_line
from kraftops.dump.query import NO_LIMIT, Query
from kraftops.dump.recordlines import RecordLines
from kraftops.dump.report import Report
from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.javatext import path_text
from kraftops.log.files import RENAMED, FileKind, FileName, file_name
from kraftops.log.reader import EndReason, LogEnd, LogFile

_CHUNK_LINES = 4000  # about a megabyte of metadata records


def text_chunks(path: str, query: Query, report: Report) -> Iterator[str]:
    """Yield the text of a file; what is wrong with it goes to *report* as it is found."""
    path = path_text(path)
    yield f"Dumping {path}\n"
    name = file_name(path)
    if name is None:
        report.remark(f"Ignoring unknown file {path}")
        return
    if name.renamed:
        report.remark(f"{path}: this file {RENAMED[name.renamed]}")
    try:
        if name.kind in (FileKind.LOG, FileKind.CHECKPOINT):
            yield from _log(name, query, report)
        else:
            from kraftops.dump.indextext import index_lines

            yield from index_lines(name, query, report)
    except (SourceError, UsageError) as error:
        report.refusal(error.message)


def _log(name: FileName, query: Query, report: Report) -> Iterator[str]:
    yield _header_line(name, report)
    with LogFile(name.path) as log:
        batches = log.batches(stop=None if query.max_bytes == NO_LIMIT else query.max_bytes)
        out: list[str] = []
        append = out.append
        records = RecordLines(name.path, query, report) if query.deep_iteration else None
        for batch in batches:
            try:
                if batch.is_legacy:
                    append(legacy_batch_line(batch))
                    if records:
                        for _ in records.add_legacy(batch, append):
                            yield "".join(out)
                            out.clear()
                else:
                    header = batch.header
                    append(batch_line(batch, header))
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
            if len(out) >= _CHUNK_LINES:
                yield "".join(out)
                out.clear()
        assert batches.end is not None
        if log.size > NO_LIMIT:
            report.failure(name.path, NO_LIMIT, "Kafka's tool reads no file that goes on from here")
        if batches.lost:
            report.note(name.path, batches.end.position, f"the file lost {batches.lost} bytes")
        _end(name, batches.end, query, report, append)
        yield "".join(out)


def _header_line(name: FileName, report: Report) -> str:
    label = "Log starting offset:" if name.kind is FileKind.LOG else "Snapshot end offset:"
    if name.is_bootstrap:
        return "KRaft bootstrap snapshot\n"
    try:
        if name.kind is FileKind.LOG:
            return f"{label} {name.base_offset}\n"
        offset, epoch = name.snapshot_id
        return f"{label} {offset}, epoch: {epoch}\n"
    except UsageError as error:
        report.failure(name.path, 0, error.message)
        return f"{label} <undecodable: {error.message}>\n"


def _end(
    name: FileName, end: LogEnd, query: Query, report: Report, append: Callable[[str], None]
) -> None:
    """Tell what lies behind the last batch."""
    if end.reason is EndReason.PADDING:
        report.note(name.path, end.position, end.detail)
    elif end.reason is EndReason.BAD_LENGTH:
        report.failure(name.path, end.position, f"{end.detail}; {end.left} bytes are not read")
    elif end.reason is EndReason.PARTIAL and query.max_bytes == NO_LIMIT:
        append(f"Found {end.left} invalid bytes at the end of {name.path.rpartition('/')[2]}\n")
