"""Rows as Arrow record batches, for Parquet files and Spark; needs the extra `arrow`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from kraftops.dump.query import Query
from kraftops.dump.report import Report
from kraftops.dump.rowchunks import scan
from kraftops.dump.rows import COLUMNS, Row
from kraftops.dump.splitting import Found, Part
from kraftops.errors import SourceError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

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
    _require_pyarrow()
    import pyarrow as pa  # heavy: 100 ms and more

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


class ArrowParts:
    """Makes record batches of parts of files, and tells them as what is found besides output."""

    def __init__(self, query_of: Callable[[str], Query]) -> None:
        """Read each path as *query_of* says."""
        self._query_of = query_of

    def __call__(self, part: Part, tell: Callable[[Any], None]) -> tuple[()]:
        """Tell the batches of a part, and then what was found."""
        report = Report()
        try:
            for batch in arrow_batches(
                scan(part, self._query_of(part.path), report), arrow_schema()
            ):
                tell(batch)
        except (SourceError, UsageError) as error:
            report.refusal(error.message)
        tell(Found(part, report, None, None, 0 if part.stop is None else part.stop - part.start))
        return ()


class ParquetFile:
    """A Parquet file of rows, on a file descriptor that is not closed; a context manager.

    pyarrow, which starts a thread, is loaded when the first batch comes: processes may be forked
    before that.
    """

    def __init__(self, fd: int) -> None:
        """Begin a file.

        Raises:
            UsageError: pyarrow is not installed.
        """
        _require_pyarrow()
        self._fd = fd
        self._opened = ExitStack()
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with self._opened:
            if error[0] is None and not self._writer:
                self._open()  # no rows are a file, too

    def add(self, batch: pa.RecordBatch) -> None:
        """Write some rows.

        Raises:
            OSError: the file cannot be written.
        """
        (self._writer or self._open()).write_batch(batch)

    def _open(self) -> pq.ParquetWriter:
        import pyarrow.parquet as pq

        file = self._opened.enter_context(os.fdopen(self._fd, "wb", closefd=False))
        writer = pq.ParquetWriter(file, arrow_schema(), compression="zstd")
        self._writer = self._opened.enter_context(writer)
        return self._writer


def write_parquet(rows: Iterable[Row], fd: int) -> None:
    """Write a Parquet file of *rows*; errors as those of `ParquetFile`."""
    with ParquetFile(fd) as file:
        for batch in arrow_batches(rows, arrow_schema()):
            file.add(batch)


def _require_pyarrow() -> None:
    from importlib.util import find_spec

    if not find_spec("pyarrow"):
        raise UsageError(
            "Parquet needs pyarrow, which is not installed", hint="pip install 'kraftops[arrow]'"
        )
