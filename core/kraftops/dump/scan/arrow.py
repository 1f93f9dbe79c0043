"""Rows as Arrow record batches, for Parquet files and Spark; needs the extra `arrow`."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from kraftops.answers.types import BOOLEAN, LIST, NUMBER, TEXT, TIME
from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import add_row_notes, column_outcomes
from kraftops.dump.sources.parts import PartResult
from kraftops.engine.columns import HEADER_KEYS, HEADER_VALUES, HEADERS, columns_of
from kraftops.engine.scan_contract import MAX_ROWS, Columns
from kraftops.errors import SourceError, UsageError
from kraftops.log.ranges import ByteRange
from kraftops.memory import ALONE, Turn
from kraftops.origin import extra_remedy
from kraftops.query.query import Query
from kraftops.query.row import COLUMNS, TYPES, Row
from kraftops.records.internal_topics import USER

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from kraftops.answers.fields import Field

LEAST_MS, MOST_MS = -(1 << 63) // 1000 + 1, (1 << 63) // 1000
"""The range of times in ms that int64 has in microseconds."""
_GROUP_BYTES = 8 << 20  # of a row group in memory: by rows alone, 8 KB of log could take gigabytes
MERGED_ROWS, _MERGED_BYTES = 8 * MAX_ROWS, 2 << 20
"""The most rows, and bytes, of record batches that are merged."""
GROUP_ROWS = MAX_ROWS
"""The most rows of a record batch that is made of rows."""
_MOST_BATCHES = 256  # of a row group before they are merged: one of a single row takes 17 KB

_VARIED = frozenset({"position", "baseOffset", "offset", "timestamp", "value"})
"""Columns whose values seldom repeat: dictionaries of them take a tenth of the time, and space."""
_LONG = frozenset({"key", "value", HEADERS})
"""Columns without least and greatest values: of long ones these take as much memory."""
_OF_HEADERS = (f"{HEADERS}.list.element.key", f"{HEADERS}.list.element.value")


def has_bytes(decoders: Collection[str]) -> bool:
    """Tell whether keys and values of rows by these decoders are bytes, and not JSON text.

    They are bytes of user records, and in tables of several decoders: JSON is in UTF-8 there.
    """
    return len(decoders) != 1 or USER in decoders


def arrow_schema(decoders: Collection[str]) -> pa.Schema:
    """Return the schema of rows that these decoders read.

    Raises:
        UsageError: pyarrow is not installed.
    """
    _require_pyarrow()
    import pyarrow as pa  # heavy: 100 ms and more

    kinds = {column: getattr(pa, kind)() for kind, names in TYPES.items() for column in names}
    kinds["timestamp"] = pa.timestamp("ms", "UTC")
    if has_bytes(decoders):
        kinds["key"] = kinds["value"] = pa.binary()
    kinds["headers"] = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    return pa.schema([(column, kinds.get(column, pa.string())) for column in COLUMNS])


def scan_batches(
    part: ByteRange, query: Query, report: Report, schema: pa.Schema, turn: Turn = ALONE
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a byte range in record batches; damage is a row too.

    *schema* may have only some of the columns.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is not a log.
    """
    for outcome in column_outcomes(part, query, report, turn):
        add_row_notes(outcome, outcome.rows + 1, part.path, report)
        if outcome.rows:
            yield record_batch(outcome.columns or {}, outcome.rows, schema)
        del outcome  # not to be held beside the next one, as below and by the engine


def first_batches(
    part: ByteRange, query: Query, report: Report, most: int, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the first *most* rows of a byte range; damage after them is not reported.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it is not a log.
    """
    if not most:
        return
    for outcome in column_outcomes(part, query, report):
        count = min(most, outcome.rows)
        most -= count
        add_row_notes(outcome, count if not most else outcome.rows + 1, part.path, report)
        if count:
            yield record_batch(outcome.columns or {}, outcome.rows, schema).slice(0, count)
        if not most:
            return


def merged(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Merge small record batches: Spark pays for each that it is handed."""
    kept: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if kept and (rows + batch.num_rows > MERGED_ROWS or size + batch.nbytes > _MERGED_BYTES):
            yield _one_of(kept, schema, rows)
            kept, rows, size = [], 0, 0
        kept.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
    if kept:
        yield _one_of(kept, schema, rows)


def _one_of(batches: list[pa.RecordBatch], schema: pa.Schema, rows: int) -> pa.RecordBatch:
    import pyarrow as pa

    if len(batches) == 1:
        return batches[0]
    if not schema.names:
        return batch_of((), schema, rows)
    columns = zip(*(batch.columns for batch in batches), strict=True)
    return batch_of([pa.concat_arrays(list(parts)) for parts in columns], schema, rows)


def arrow_batches(rows: Iterable[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield *rows* in record batches; *schema* may have only some of the columns."""
    remaining = iter(rows)
    while group := list(islice(remaining, GROUP_ROWS)):
        yield record_batch(columns_of(group, schema.names), len(group), schema)


def table_of_rows(rows: Iterable[Row], decoders: Collection[str]) -> pa.Table:
    """Return rows that these decoders have read as a table.

    Raises:
        UsageError: pyarrow is not installed.
    """
    schema = arrow_schema(decoders)
    import pyarrow as pa

    return pa.Table.from_batches(arrow_batches(rows, schema), schema)


def table_of_objects(objects: list[dict[str, object]], fields: Iterable[Field]) -> pa.Table:
    """Return objects as a table with the types of their fields; errors as above.

    So lists that are empty, and columns that are null, can be read by Spark.
    """
    _require_pyarrow()
    import pyarrow as pa

    return pa.table({
        field.name: pa.array([thing.get(field.name) for thing in objects], _type_of(field))
        for field in fields
    })  # fmt: skip


def _type_of(field: Field) -> pa.DataType | None:
    """Return the type of a column; None for objects whose fields are not declared."""
    import pyarrow as pa

    if field.fields:
        inner = [(part.name, _type_of(part)) for part in field.fields]
        struct = None if any(kind is None for _, kind in inner) else pa.struct(inner)
    else:
        (kind,) = (field.type.items or field.type).kinds
        struct = {
            BOOLEAN: pa.bool_(),
            NUMBER: pa.float64() if field.numeral == "decimal" else pa.int64(),
            TEXT: pa.string(),
            TIME: pa.timestamp("ms", "UTC"),
        }.get(kind)
    is_list = LIST in field.type.kinds
    return pa.list_(struct) if is_list and struct is not None else struct


def record_batch(columns: Columns, count: int, schema: pa.Schema) -> pa.RecordBatch:
    """Return columns of *count* rows as a record batch, without a copy."""
    arrays = [_array(columns, field.name, count, field.type) for field in schema]
    return batch_of(arrays, schema, count)


def batch_of(arrays: Sequence[pa.Array], schema: pa.Schema, count: int) -> pa.RecordBatch:
    """Return arrays of *count* rows as a record batch, also if there are none."""
    import pyarrow as pa

    if not arrays:
        rows = pa.Array.from_buffers(pa.struct([]), count, [None], children=[])
        return pa.RecordBatch.from_struct_array(rows)
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(columns: Columns, name: str, count: int, kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    column = columns[name]
    valid, offsets, data = (
        None if part is None else pa.py_buffer(part)
        for part in (column.valid, column.offsets, column.data)
    )
    if pa.types.is_timestamp(kind) and kind.unit == "us":
        ms = pa.timestamp("ms", kind.tz)
        return _microseconds(pa.Array.from_buffers(ms, count, [valid, data]), kind)
    if name != HEADERS:
        buffers = [valid, data] if offsets is None else [valid, offsets, data]
        return pa.Array.from_buffers(kind, count, buffers)
    pair = kind.value_type
    keys = len(columns[HEADER_KEYS].offsets or b"") // 4 - 1
    parts = [
        _array(columns, inner, keys, pair.field(index).type)
        for index, inner in enumerate((HEADER_KEYS, HEADER_VALUES))
    ]
    pairs = pa.Array.from_buffers(pair, keys, [None], children=parts)
    return pa.Array.from_buffers(kind, count, [valid, offsets], children=[pairs])


def _microseconds(times: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return times in microseconds, as Spark has them; null if one is beyond their range."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return times.cast(kind)
    except pa.ArrowInvalid:
        numbers = times.cast(pa.int64())
        is_in_range = pc.and_(pc.greater_equal(numbers, LEAST_MS), pc.less_equal(numbers, MOST_MS))
        kept = pc.if_else(is_in_range, numbers, pa.scalar(None, pa.int64()))
        return kept.cast(times.type).cast(kind)


class ArrowReader:
    """A task of `kraftops.parallel.ordered`: emits the record batches of byte ranges as results."""

    def __init__(self, query_of: Callable[[str], Query], schema: pa.Schema, turn: Turn) -> None:
        """Read each path by the query that *query_of* returns, in a thread with this *turn*."""
        self._query_of, self._turn = query_of, turn
        self._schema = schema

    def __call__(self, part: ByteRange, emit: Callable[[Any], None]) -> tuple[()]:
        """Emit the record batches of a byte range, and then its report."""
        report = Report()
        try:
            query = self._query_of(part.path)
            for batch in scan_batches(part, query, report, self._schema, self._turn):
                emit(batch)
                del batch
        except (SourceError, UsageError) as error:
            report.refusal(error)
        size = 0 if part.stop is None else part.stop - part.start
        emit(PartResult(part=part, report=report, first_offset=None, last_offset=None, size=size))
        return ()


class ParquetFile:
    """A Parquet file of rows, as a context manager; its target is not closed."""

    def __init__(self, target: int | BinaryIO, schema: pa.Schema) -> None:
        """Begin a file with these columns in *target*."""
        self._target, self._schema = target, schema
        self._opened = ExitStack()
        self._writer: pq.ParquetWriter | None = None
        self._batches: list[pa.RecordBatch] = []  # to be written together
        self._rows = self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with self._opened:
            if error[0] is None:
                self._write()  # a file without rows is written too

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows, and write a row group once there are enough.

        Raises:
            OSError: the file cannot be written.
        """
        if len(self._batches) == _MOST_BATCHES:
            self._batches = [_one_of(self._batches, self._schema, self._rows)]
        self._batches.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._bytes >= _GROUP_BYTES:
            self._write()

    def _write(self) -> None:
        writer = self._writer or self._open()
        if self._batches:
            import pyarrow as pa

            writer.write_table(pa.Table.from_batches(self._batches))
            self._batches, self._rows, self._bytes = [], 0, 0

    def _open(self) -> pq.ParquetWriter:
        import pyarrow.parquet as pq

        file = self._target
        if isinstance(file, int):
            file = self._opened.enter_context(os.fdopen(file, "wb", closefd=False))
        repeated = [field.name for field in self._schema if _is_repeated(field)]
        measured = [name for name in self._schema.names if name not in _LONG]
        writer = pq.ParquetWriter(
            file,
            self._schema,
            compression="zstd",
            use_dictionary=[*repeated, *_OF_HEADERS],
            write_statistics=measured,
            write_batch_size=MAX_ROWS,  # 1,024 by default: 3 % more time, and 1 % larger files
            data_page_version="2.0",  # a page of 1.0 is copied once more before it is compressed
        )
        self._writer = self._opened.enter_context(writer)
        return self._writer


def _is_repeated(field: pa.Field) -> bool:
    """Tell whether a column has a dictionary of its values.

    Keys of users can be of any length, and a dictionary is a copy; those of Kafka are short texts.
    """
    import pyarrow as pa

    is_of_users = field.name == "key" and pa.types.is_binary(field.type)
    return field.name not in _VARIED and not is_of_users


def write_parquet(batches: Iterable[pa.RecordBatch], fd: int, schema: pa.Schema) -> None:
    """Write a Parquet file of record batches; it raises the errors of `ParquetFile`."""
    with ParquetFile(fd, schema) as file:
        for batch in batches:
            file.add(batch)


def last_rows(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    """Yield the last *most* rows of record batches, after reading all."""
    kept: deque[pa.RecordBatch] = deque()
    rows = 0
    for batch in batches:
        kept.append(batch)
        rows += batch.num_rows
        while kept and rows - kept[0].num_rows >= most:
            rows -= kept.popleft().num_rows
    if kept and rows > most:
        kept[0] = kept[0].slice(rows - most)
    yield from kept


_INSTEAD = "DuckDB, Polars and pandas also read CSV (--format csv), which needs no package"


def _require_pyarrow() -> None:
    from importlib.util import find_spec

    if not find_spec("pyarrow"):
        raise UsageError(
            "Parquet needs pyarrow, which is not installed",
            hint=f"{extra_remedy('arrow')}; {_INSTEAD}",
            code="missing-package",
        )
    # Its own allocators keep what was freed, twice the longest value and more.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
