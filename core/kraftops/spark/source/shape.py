"""The table that is asked for: its columns, and what becomes of the rows of a scan in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import batch_of
from kraftops.errors import DecodeError
from kraftops.spark.source.committed import NEEDED as NEEDED_IF_COMMITTED
from kraftops.spark.source.committed import Isolation
from kraftops.spark.source.decoded import key_and_value
from kraftops.spark.source.options import FAILFAST, PERMISSIVE, SourceOptions
from kraftops.spark.source.schemas import arrow_columns, row_schema
from kraftops.spark.source.table_columns import (
    BROKER_ID,
    METADATA,
    NEEDED,
    file_value,
    made_column,
    made_kinds,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

_NEEDED_BY_MODE = {
    "PERMISSIVE": (),
    "DROPMALFORMED": ("crcValid", "error"),
    "FAILFAST": ("file", "crcValid", "error"),
}
_OF_FILES = (BROKER_ID, METADATA)


def table_schema(options: SourceOptions, decoders: Collection[str]) -> StructType:
    """Return the columns of a table without a schema of the user; *decoders* read its sources.

    Raises:
        UsageError: a record type of another topic is asked for.
    """
    from pyspark.sql import types

    kinds = {field.name: field.dataType for field in row_schema(decoders)}
    if not options.keeps_row:
        kinds |= made_kinds()
    if options.record:
        kinds |= key_and_value(options.record, decoders, options.query.dialect)
    return types.StructType([types.StructField(name, kinds[name]) for name in options.columns])


class _StrictReport(Report):
    """A report that ends the scan at damage, also at what a filter leaves out."""

    def failure(self, path: str, position: int, reason: str, *, is_damage: bool = True) -> None:
        del is_damage
        self.finding(path, position, reason)

    def finding(self, path: str, position: int, reason: str) -> None:
        raise DecodeError(f"{path}: position {position}: {reason}")


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns *asked*, those *scanned* for them, the mode, and whether rows are committed."""

    asked: StructType
    scanned: StructType
    mode: str = PERMISSIVE
    is_committed: bool = False

    def report(self) -> Report:
        """Return a report for a scan; of FAILFAST, it raises `DecodeError` at damage."""
        return _StrictReport() if self.mode == FAILFAST else Report()

    def batches(
        self, scanned: Iterable[pa.RecordBatch], path: str, isolation: Isolation | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a scan of a file as rows of the table.

        Raises:
            DecodeError: the mode is FAILFAST, and a row is malformed.
        """
        if self.is_committed and isolation is not None:
            scanned = map(isolation.committed, scanned)
        if self.asked == self.scanned and self.mode == PERMISSIVE:
            yield from scanned
            return
        schema = arrow_columns(self.asked)
        of_file = {name: file_value(name, path) for name in self.asked.names if name in _OF_FILES}
        for batch in scanned:
            kept = batch if self.mode == PERMISSIVE else self._checked(batch)
            if kept.num_rows:
                columns = [_column(kept, field, of_file, isolation) for field in schema]
                yield batch_of(columns, schema, kept.num_rows)

    def _checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Leave out malformed rows: damage, undecodable, or with a wrong CRC; FAILFAST raises."""
        import pyarrow.compute as pc

        error, crc = batch.column("error"), batch.column("crcValid")
        malformed = pc.or_(pc.is_valid(error), pc.invert(pc.fill_null(crc, fill_value=True)))
        if self.mode == FAILFAST and pc.any(malformed).as_py():
            row = batch.filter(malformed).slice(0, 1).to_pylist()[0]
            raise DecodeError(f"{row['file']}: {row['error'] or 'a CRC does not match'}")
        return batch.filter(pc.invert(malformed))


def _column(
    rows: pa.RecordBatch, field: pa.Field, of_file: dict[str, object], isolation: Isolation | None
) -> pa.Array:
    import pyarrow as pa

    if field.name in of_file:
        return pa.repeat(pa.scalar(of_file[field.name], field.type), rows.num_rows)
    if field.name in NEEDED:
        return made_column(rows, field.name, field.type, isolation)
    return rows.column(field.name)


def shape(options: SourceOptions, asked: StructType) -> Shape:
    """Return the table with the columns *asked*, and the columns to scan that they are made of."""
    from pyspark.sql.types import StructType

    if options.keeps_row:
        return Shape(asked, asked)
    needed = {name for column in asked.names for name in NEEDED.get(column, (column,))}
    needed |= {*_NEEDED_BY_MODE[options.mode]}
    needed |= {*NEEDED_IF_COMMITTED} if options.is_committed else set()
    whole = {field.name: field for field in row_schema(())}  # keys and values as bytes
    # In the order that is asked for, so that often nothing has to be done with the rows.
    names = sorted(needed, key=[*asked.names, *whole].index)
    scanned = StructType([whole[name] for name in names])
    return Shape(asked, scanned, options.mode, options.is_committed)
