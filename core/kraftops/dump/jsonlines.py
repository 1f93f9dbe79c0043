"""A log's rows as lines of JSON, as many as can straight from the bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kraftops.dump.checking import check_crc
from kraftops.dump.jsonrows import json_head, json_middle, row_json
from kraftops.dump.query import Query
from kraftops.dump.report import Report
from kraftops.dump.rows import file_text
from kraftops.dump.runs import PAUSE, FastRows
from kraftops.dump.scan import RowMaker, reason_of
from kraftops.errors import DecodeError
from kraftops.log.batch import Batch
from kraftops.records.user import DEFAULT_DECODER


class JsonLines:
    """Prints the rows of one file's batches."""

    def __init__(self, path: str, query: Query, report: Report) -> None:
        """Print rows of the file *path* as *query* asks for; damage goes to *report* too."""
        self._path = path
        self._file = file_text(path)
        self._query = query
        self._report = report
        self._rows = RowMaker(path, query, report)
        self._fast = _fast_rows(query)

    def add(self, batch: Batch, append: Callable[[str], None]) -> Iterator[None]:
        """Append the lines of a batch; pause now and then."""
        rows, asked = self._rows, self._query.filter
        if batch.is_legacy or not self._fast:
            for number, row in enumerate(rows.rows(batch), 1):
                append(row_json(row))
                if not number % PAUSE:
                    yield
            return
        try:
            header = batch.header
            if self._query.check:
                check_crc(self._path, batch, self._report)
            if asked.may_match(header):
                buffer, pos = rows.buffer(batch, header)
                yield from rows.spread(
                    batch,
                    header,
                    buffer,
                    pos,
                    append,
                    lambda row: append(row_json(row)),
                    fast=self._fast,
                    head=json_head(self._file, batch.position, header),
                    middle=json_middle(header),
                )
        except (DecodeError, MemoryError) as error:
            for row in rows.damage(batch, reason_of(error)):
                append(row_json(row))


def _fast_rows(query: Query) -> FastRows | None:
    if not query.filter.needs_rows:
        return fast_rows(query)
    if not query.filter.where:
        return None
    from kraftops.dump.wherelines import WhereRows, is_told_by_json

    rows = fast_rows(query) if is_told_by_json(query) else None
    return WhereRows(rows, query.filter) if rows else None


def fast_rows(query: Query) -> FastRows | None:
    """Return what quickly prints the rows of a query, those that other fields rule out too."""
    if query.decoder == "metadata":
        from kraftops.dump.metadatalines import json_lines

        return json_lines(query)
    is_text = query.key_decoder == query.value_decoder == DEFAULT_DECODER
    if query.decoder in (None, "user") and is_text and not query.filter.types:
        from kraftops.dump.textrows import TextRows

        return TextRows(in_order=query.filter.has_since)
    return None
