"""The text of the records that a filter chooses, or that salvage finds, as Kafka's tool has it.

The line of a batch is there if one of its records is. Without records in the text, the lines of
batches are chosen, by what their headers say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kraftops.dump.batchline import batch_line, legacy_batch_line
from kraftops.dump.query import Query
from kraftops.dump.recordlines import RecordLines
from kraftops.dump.report import Report
from kraftops.dump.rowchunks import walk
from kraftops.dump.scan import RowMaker, check_end, reason_of
from kraftops.dump.splitting import Found, Part
from kraftops.dump.text import header_line
from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.log.batch import Batch, read_record
from kraftops.log.files import FileKind, file_name
from kraftops.log.streams import open_log

_CHUNK_LINES = 1000


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
        out: list[str] = []
        try:
            if not part.start:
                yield _header(part.path, report)
            for unit in chosen_units(part, self._query, report):
                out.append(unit)
                if len(out) >= _CHUNK_LINES:
                    yield "".join(out)
                    out.clear()
        except (SourceError, UsageError) as error:
            report.refusal(error.message)
        yield "".join(out)
        size = 0 if part.stop is None else part.stop - part.start
        tell(Found(part, report.take(), None, None, size))


def _header(path: str, report: Report) -> str:
    name = file_name(path)
    if name is None:
        raise UsageError(f"{path}: its name is none that is known")
    if name.kind not in (FileKind.LOG, FileKind.CHECKPOINT):
        raise UsageError(f"{path}: only logs and snapshots have records to choose from")
    return "" if name.is_stdin else header_line(name, report)


def chosen_units(part: Part, query: Query, report: Report) -> Iterator[str]:
    """Yield the line of each record, or batch, that is asked for.

    That of the first record of a batch has the batch's line before it.

    Raises:
        SourceError: the file cannot be read.
    """
    with open_log(part.path) as log:
        chosen = _Chosen(part.path, query, report)
        for found in walk(log, part, query, report):
            if isinstance(found, Batch):
                try:
                    yield from chosen.units(found)
                except (DecodeError, MemoryError) as error:
                    report.failure(part.path, found.position, reason_of(error))


class _Chosen:
    def __init__(self, path: str, query: Query, report: Report) -> None:
        self._query = query
        self._rows = RowMaker(path, query, report)
        # Offsets that are not asked for are no gaps.
        self._lines = RecordLines(path, query, Report())

    def units(self, batch: Batch) -> Iterator[str]:
        if batch.is_legacy:
            yield from self._legacy_units(batch)
            return
        header = batch.header
        if not self._query.filter.may_match(header):
            return
        out = [batch_line(batch, header)]
        if not self._query.deep_iteration:
            yield out.pop()
            return
        buffer, pos = self._rows.buffer(batch, header)
        for _ in range(header.record_count):
            record, pos = read_record(buffer, pos, header.base_offset, header.base_timestamp)
            if self._rows.row(batch, header, record):
                self._lines.add_record(record, batch.position, header, out.append)
                yield "".join(out)
                out.clear()
        check_end(header, buffer, pos)

    def _legacy_units(self, batch: Batch) -> Iterator[str]:
        from kraftops.log import legacy

        head = legacy.header(batch)
        out = [legacy_batch_line(batch)]
        if not self._query.deep_iteration:
            yield out.pop()
            return
        for message in legacy.records(batch, self._query.max_inflated_bytes):
            if self._rows.legacy_row(batch, head, message):
                self._lines.add_message(message, batch.position, head.timestamp_type, out.append)
                yield "".join(out)
                out.clear()
