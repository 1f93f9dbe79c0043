"""Rows as Arrow record batches, for Parquet files and Spark; needs the extra `arrow`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kraftops.dump.rows import COLUMNS, Row
from kraftops.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 16384
_BATCH_CHARACTERS = 32 << 20  # of keys and values
TYPES = {
    "int64": ("position", "baseOffset", "offset", "timestamp", "producerId"),
    "int32": ("leaderEpoch", "sequence", "keySize", "valueSize", "partitionId", "brokerId"),
    "int16": ("producerEpoch", "version"),
    "bool_": ("transactional", "control"),
}
"""Of the columns that are no strings, headers apart."""


def arrow_schema() -> pa.Schema:
    """Return the schema of the row.

    Raises:
        UsageError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # heavy: 100 ms and more
    except ImportError:
        raise UsageError(
            "Parquet needs pyarrow, which is not installed", hint="pip install 'kraftops[arrow]'"
        ) from None
    kinds = {column: getattr(pa, kind)() for kind, names in TYPES.items() for column in names}
    kinds["headers"] = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    return pa.schema([(column, kinds.get(column, pa.string())) for column in COLUMNS])


def arrow_batches(rows: Iterable[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield *rows* in record batches of up to 16384, or fewer where they are large.

    *schema* may be that of some columns only.
    """
    import pyarrow as pa

    wanted = [COLUMNS.index(name) for name in schema.names]
    headers_at = COLUMNS.index("headers")
    for some in _bounded(rows):
        every: list[tuple[Any, ...]] = list(zip(*some, strict=True))
        columns = [_headers(every[at]) if at == headers_at else every[at] for at in wanted]
        arrays = [
            pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _headers(column: Iterable[Any]) -> list[Any]:
    return [[{"key": key, "value": value} for key, value in headers] for headers in column]


def _bounded(rows: Iterable[Row]) -> Iterator[list[Row]]:
    some: list[Row] = []
    size = 0
    for row in rows:
        some.append(row)
        size += len(row.key or "") + len(row.value or "")
        if len(some) >= BATCH_ROWS or size >= _BATCH_CHARACTERS:
            yield some
            some, size = [], 0
    if some:
        yield some


def write_parquet(rows: Iterable[Row], fd: int) -> None:
    """Write a Parquet file to a file descriptor, which is not closed.

    Raises:
        UsageError: pyarrow is not installed.
        OSError: the file cannot be written.
    """
    schema = arrow_schema()
    import pyarrow.parquet as pq

    with (
        open(fd, "wb", closefd=False) as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        for batch in arrow_batches(rows, schema):
            writer.write_batch(batch)
