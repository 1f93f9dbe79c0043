"""The rows of selected records and of damage, as JSON, CSV or columns."""

from collections.abc import Iterator
from typing import Protocol

from kraftops.engine.columns import columns_of
from kraftops.engine.reference.batch_line import add_sequence
from kraftops.engine.reference.output import Output
from kraftops.engine.reference.records import records
from kraftops.engine.reference.selection import RowBuilder, check_batch
from kraftops.engine.scan_contract import MAX_ROWS, Outcome, Request
from kraftops.errors import DecodeError
from kraftops.log import batch as v2
from kraftops.log import legacy
from kraftops.log.batch import Batch, Header
from kraftops.memory import Meter
from kraftops.query.filters import Filter
from kraftops.query.formats import Format
from kraftops.query.query import Query
from kraftops.query.record_rows import Origin, damage_row, row_head
from kraftops.query.row import COLUMNS, Row
from kraftops.query.row_lines import lines_of
from kraftops.records.long_text import LongText

_MAX_BYTES = 8 << 20  # of columns, after which a call ends, as in the crate (`MAX_COLUMN_BYTES`)
_ROW_BYTES = 200  # of the columns besides key and value, about


class Writer(Protocol):
    """The writer of rows in a form."""

    @property
    def is_full(self) -> bool:
        """Whether the call should end."""

    def add(self, row: Row) -> Iterator[None] | None:
        """Write a row; a long one is written while the result is iterated over."""


class RowScan:
    """The scan of a file that makes rows."""

    first_offset: int | None = None
    last_offset: int | None = None

    def __init__(self, request: Request, output: Output, writer: Writer, meter: Meter) -> None:
        self._path, self._query = request.path, request.query
        self._out, self._meter = output, meter
        self._writer = writer
        self._rows = RowBuilder(request.path, request.query)

    def batch(self, batch: Batch) -> Iterator[None]:
        """Make the rows of a batch; pause when the call should end."""
        writer, query = self._writer, self._query
        is_valid = None
        try:
            if query.check or self._may_match(batch):
                is_valid = check_batch(batch, query, self._out)
                if not is_valid and query.skip_invalid:
                    return
            for row in self._batch_rows(batch, is_valid=bool(is_valid)):
                if query.check and row.error:
                    self._out.finding(batch.position, row.error)
                yield from writer.add(row) or ()
                if writer.is_full:
                    yield
        except (DecodeError, MemoryError) as error:
            reason = self._out.lost_batch(batch.position, error)
            base_offset = int.from_bytes(batch.data[:8], signed=True)
            place = f"position {batch.position}" if batch.position >= 0 else f"offset {base_offset}"
            detail = f"{place}, {batch.size} bytes: {reason}"
            row = damage_row(self._path, batch.position, detail)
            row = row._replace(base_offset=base_offset, crc_valid=is_valid)
            if query.filter.matches(row):
                yield from writer.add(row) or ()

    def _may_match(self, batch: Batch) -> bool:
        return batch.is_legacy or self._query.filter.may_match(batch.header)

    def _batch_rows(self, batch: Batch, *, is_valid: bool) -> Iterator[Row]:
        rows, query = self._rows, self._query
        if batch.is_legacy:
            head = legacy.header(batch)
            if head.magic < 0:
                raise DecodeError(f"magic {head.magic}")
            for message in legacy.records(batch, self._meter):
                if row := rows.legacy_row(batch, head, message):
                    yield row
            return
        if not self._may_match(batch):
            return
        header = batch.header
        header_rows = told_records(batch, header, query) if is_valid else None
        if header_rows is not None:
            kind = query.record_decoder.name
            yield from told_rows(rows.origin, batch, header, header_rows, kind)
            return
        for record in records(batch, header, self._meter):
            if row := rows.row(batch, header, record):
                yield row


class LineWriter:
    """The writer of rows as lines of a format."""

    def __init__(self, form: Format, output: Output) -> None:
        self._out = output
        self._line, self._pieces = lines_of(form)

    @property
    def is_full(self) -> bool:
        """Whether the call should end."""
        return self._out.is_full

    def add(self, row: Row) -> Iterator[None] | None:
        """Write a row; a long one is written while the result is iterated over."""
        if isinstance(row.value, LongText) or isinstance(row.key, LongText):
            return self._out.long_line(self._pieces(row))
        self._out.line(self._line(row))
        return None


class ColumnWriter:
    """The writer of rows as columns."""

    def __init__(self, names: frozenset[str] | None, output: Output) -> None:
        """Collect the columns *names*, or all; *output* counts the rows."""
        self._out = output
        self._names = [name for name in COLUMNS if names is None or name in names]
        self._rows: list[Row] = []
        self._size = 0
        self.has_views = False
        """Whether a row is a view of its batch, which it keeps in memory."""

    @property
    def is_full(self) -> bool:
        """Whether the call should end."""
        return len(self._rows) >= MAX_ROWS or self._size >= _MAX_BYTES

    @property
    def has_rows(self) -> bool:
        """Whether there are rows that were not taken."""
        return bool(self._rows)

    def add(self, row: Row) -> None:
        self._rows.append(row)
        self.has_views |= isinstance(row.key, LongText) or isinstance(row.value, LongText)
        self._out.count_row()
        self._size += (row.key_size or 0) + (row.value_size or 0) + _ROW_BYTES

    def take(self, outcome: Outcome) -> Outcome:
        rows, self._rows, self._size, self.has_views = self._rows, [], 0, False
        return outcome._replace(rows=len(rows), columns=columns_of(rows, self._names))


def row_scan(request: Request, output: Output, meter: Meter) -> tuple[RowScan, ColumnWriter | None]:
    form = request.query.output_format
    if form.is_columns:
        columns = ColumnWriter(request.query.columns, output)
        return RowScan(request, output, columns, meter), columns
    return RowScan(request, output, LineWriter(form, output), meter), None


_TOLD = frozenset(
    {
        *("file", "position", "baseOffset", "topic", "partition", "timestampType", "crcValid"),
        *("leaderEpoch", "producerId", "producerEpoch", "transactional", "control", "codec"),
    }
)
_LEAST_RECORD = 7  # bytes
_REST = Row("", None)[Row._fields.index("key_size") :]


def told_records(batch: Batch, header: Header, query: Query) -> range | None:
    """Return the numbers of the selected records, if the header of an intact batch suffices.

    It does not if it returns None: the records must be read.
    """
    columns, asked, count = query.columns, query.filter, header.record_count
    if columns is None or not query.output_format.is_columns or query.check or count <= 0:
        return None
    is_compressed = header.attributes & v2.CODEC_MASK
    size = batch.size - v2.HEADER_SIZE
    # A count of more records than compressed bytes is a wrong one, or worth a look at them.
    if count > (size if is_compressed else size // _LEAST_RECORD):
        return None
    has_all_offsets = header.last_offset - header.base_offset == count - 1
    has_all_offsets &= header.last_offset < 1 << 63
    if not columns <= _columns_of_header(header, has_all_offsets=has_all_offsets):
        return None
    if asked.is_empty:
        return range(count)
    limits = Filter(first_offset=asked.first_offset, last_offset=asked.last_offset)
    if asked != limits or not has_all_offsets:
        return None
    first = max(0, asked.first_offset - header.base_offset)
    return range(first, min(count, asked.last_offset - header.base_offset + 1))


def _columns_of_header(header: Header, *, has_all_offsets: bool) -> frozenset[str]:
    columns = set(_TOLD)
    if has_all_offsets:
        columns |= {"offset", "sequence"}
    if header.attributes & v2.LOG_APPEND_TIME:
        columns.add("timestamp")
    if not header.is_control:
        columns.add("kind")
    return frozenset(columns)


def told_rows(
    origin: Origin, batch: Batch, header: Header, numbers: range, kind: str
) -> Iterator[Row]:
    """Yield rows of some records, with the columns that the header tells."""
    head = row_head(origin, batch.position, header, is_valid=True)
    for number in numbers:
        sequence = header.base_sequence
        if sequence >= 0:
            sequence = add_sequence(sequence, number)
        yield Row._make(
            (
                *head.before_offset,
                header.base_offset + number,
                header.max_timestamp,
                *head.before_sequence,
                None if sequence < 0 else sequence,
                *head.after_sequence,
                *_REST,
            )
        )._replace(kind=kind)
