"""A log's rows as lines of JSON or CSV, as many as can straight from the bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kraftops.dump.checking import check_crc
from kraftops.dump.jsonrows import json_head, json_middle, row_json
from kraftops.dump.query import Query
from kraftops.dump.report import Report
from kraftops.dump.rows import Row, file_text
from kraftops.dump.runs import PAUSE, FastRows
from kraftops.dump.scan import RowMaker, reason_of
from kraftops.errors import DecodeError
from kraftops.log.batch import Batch, Header
from kraftops.records.user import DEFAULT_DECODER


class RowForm(NamedTuple):
    """How rows are written: one of them, and what those of a batch have in common."""

    text: Callable[[Row], str]
    head: Callable[[str, int, Header], str]
    """Of a file's name, a batch's position and its header: what comes before the offset."""
    middle: Callable[[Header], str]
    """What comes between timestamp and sizes, where there is no sequence."""
    fast: Callable[[Query], FastRows | None]


class RowLines:
    """Prints the rows of one file's batches."""

    def __init__(self, path: str, query: Query, report: Report) -> None:
        """Print rows of the file *path* as *query* asks for; damage goes to *report* too."""
        self._path = path
        self._file = file_text(path)
        self._query = query
        self._report = report
        self._form = row_form(query.form)
        self._rows = RowMaker(path, query, report, fast_rows(query))
        self._fast = self._form.fast(query)

    def add(self, batch: Batch, append: Callable[[str], None]) -> Iterator[None]:
        """Append the lines of a batch; pause now and then."""
        rows, asked, text = self._rows, self._query.filter, self._form.text
        if batch.is_legacy or not self._fast:
            for number, row in enumerate(rows.rows(batch), 1):
                append(text(row))
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
                    lambda row: append(text(row)),
                    fast=self._fast,
                    head=self._form.head(self._file, batch.position, header),
                    middle=self._form.middle(header),
                )
        except (DecodeError, MemoryError) as error:
            for row in rows.damage(batch, reason_of(error)):
                append(text(row))


def row_form(name: str) -> RowForm:
    """Return how `csv` is written, or else JSON."""
    if name == "csv":
        from kraftops.dump.csvrows import csv_head, csv_middle, row_csv

        return RowForm(row_csv, csv_head, csv_middle, _fast_csv)
    return RowForm(row_json, json_head, json_middle, _fast_json)


def fast_rows(query: Query) -> FastRows | None:
    """Return what quickly makes the rows of a query, those that other fields rule out too."""
    if query.decoder != "metadata":
        return None
    from kraftops.dump.metadatarows import metadata_rows

    return metadata_rows(query)


def fast_json_lines(query: Query) -> FastRows | None:
    """Return what quickly prints the rows of a query as JSON, as `fast_rows` makes them."""
    if query.decoder == "metadata":
        from kraftops.dump.metadatalines import json_lines

        return json_lines(query)
    is_text = query.key_decoder == query.value_decoder == DEFAULT_DECODER
    if query.decoder in (None, "user") and is_text and not query.filter.types:
        from kraftops.dump.textrows import TextRows

        return TextRows(in_order=query.filter.has_since)
    return None


def _fast_json(query: Query) -> FastRows | None:
    if not query.filter.needs_rows:
        return fast_json_lines(query)
    if not query.filter.where:
        return None
    from kraftops.dump.wherelines import WhereRows, is_told_by_json

    lines = fast_json_lines(query) if is_told_by_json(query) else None
    return WhereRows(lines, query.filter) if lines else None


def _fast_csv(query: Query) -> FastRows | None:
    if query.decoder != "metadata" or query.filter.needs_rows:
        return None
    from kraftops.dump.metadatarows import csv_lines

    return csv_lines(query)
