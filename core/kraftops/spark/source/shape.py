"""The table that is asked for: its columns, and what becomes of the rows of a scan in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import batch_of
from kraftops.errors import DecodeError
from kraftops.spark.source.committed import NEEDED
from kraftops.spark.source.decoded import decoded, key_and_value
from kraftops.spark.source.options import FAILFAST, PERMISSIVE, SourceOptions
from kraftops.spark.source.schemas import arrow_columns, row_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

_NEEDED = {
    "PERMISSIVE": (),
    "DROPMALFORMED": ("crcValid", "error"),
    "FAILFAST": ("file", "crcValid", "error"),
}
"""The columns that a mode looks at."""
_ENCODINGS = {"key": "keyEncoding", "value": "valueEncoding"}


def table_schema(options: SourceOptions, decoders: Collection[str]) -> StructType:
    """Return the columns of a table without a schema of the user; *decoders* read its sources.

    Raises:
        UsageError: a record type of another topic is asked for.
    """
    from pyspark.sql import types

    whole = row_schema(decoders)
    kinds = _decoded_kinds(options, decoders)
    types_by_name = {field.name: kinds.get(field.name, field.dataType) for field in whole}
    names = options.columns or types_by_name
    return types.StructType([types.StructField(name, types_by_name[name]) for name in names])


def _decoded_kinds(options: SourceOptions, decoders: Collection[str]) -> dict[str, Any]:
    """Return the types of key and value, if they are not texts."""
    if options.record:
        return key_and_value(options.record, decoders, options.query.dialect)
    return {}


class _StrictReport(Report):
    """A report that ends the scan at damage, also at what a filter leaves out."""

    def failure(self, path: str, position: int, reason: str, *, is_damage: bool = True) -> None:
        del is_damage
        self.finding(path, position, reason)

    def finding(self, path: str, position: int, reason: str) -> None:
        raise DecodeError(f"{path}: position {position}: {reason}")


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns *asked*, those *scanned* for them, and the mode."""

    asked: StructType
    scanned: StructType
    mode: str

    def report(self) -> Report:
        """Return a report for a scan; of FAILFAST, it raises `DecodeError` at damage."""
        return _StrictReport() if self.mode == FAILFAST else Report()

    def batches(self, scanned: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a scan as rows of the table.

        Raises:
            DecodeError: the mode is FAILFAST, and a row is malformed.
        """
        if self.asked == self.scanned and self.mode == PERMISSIVE:
            yield from scanned
            return
        schema = arrow_columns(self.asked)
        for batch in scanned:
            kept = batch if self.mode == PERMISSIVE else self._checked(batch)
            if kept.num_rows:
                yield _with_columns(kept, schema)

    def _checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that are not malformed."""
        import pyarrow.compute as pc

        error, crc = batch.column("error"), batch.column("crcValid")
        malformed = pc.or_(pc.is_valid(error), pc.invert(pc.fill_null(crc, fill_value=True)))
        if self.mode == FAILFAST and pc.any(malformed).as_py():
            row = batch.filter(malformed).slice(0, 1).to_pylist()[0]
            raise DecodeError(f"{row['file']}: {row['error'] or 'a CRC does not match'}")
        return batch.filter(pc.invert(malformed))


def shape(options: SourceOptions, asked: StructType, decoders: Collection[str]) -> Shape:
    """Return the table with the columns *asked*, all of the table's or some."""
    from pyspark.sql.types import StructType

    decoded = _decoded_kinds(options, decoders)
    encodings = [_ENCODINGS[name] for name in asked.names if name in decoded]
    needed = {*asked.names, *encodings, *_NEEDED[options.mode]}
    needed |= {*NEEDED} if options.is_committed else set()
    # In the order that is asked for, so that often nothing has to be done with the rows.
    whole = {field.name: field for field in row_schema(decoders)}
    names = [*asked.names, *(name for name in whole if name in needed - {*asked.names})]
    return Shape(asked, StructType([whole[name] for name in names]), options.mode)


def _with_columns(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = []
    for field in schema:
        column = batch.column(field.name)
        if column.type != field.type:
            column = decoded(column, batch.column(_ENCODINGS[field.name]), field.type)
        columns.append(column)
    return batch_of(columns, schema, batch.num_rows)
