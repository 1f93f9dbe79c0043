"""The data source `kraftops`: logs as a table, in any session of PySpark.

    from kraftops.spark.datasource import KraftopsDataSource

    spark.dataSource.register(KraftopsDataSource)
    log = spark.read.format("kraftops").load("DIRECTORY")

The columns are those of `kraftops.query.row.Row`, rows of damage are among them. A shorter
`.schema()` leaves out columns, which are not decoded then. The options are those of
`kraftops.spark.sql.options`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

# A class that Spark calls must be derived from its own, hence nothing else may import this module.
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from kraftops.dump.report import Report
from kraftops.errors import UsageError
from kraftops.query.query import Query
from kraftops.spark.jobs.lost import is_last_try, is_try_before_last, lost_rows
from kraftops.spark.jobs.piece_process import piece_batches, spooled
from kraftops.spark.jobs.planning import Piece, Split, plan, query_of
from kraftops.spark.sql.options import SourceOptions, source_options
from kraftops.spark.sql.pushdown import pushed
from kraftops.spark.sql.schemas import checked_schema, row_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.datasource import Filter as SparkFilter
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class SplitPartition(InputPartition):
    """A partition of the table: a split, none where there is nothing to read."""

    split: Split | None


class KraftopsDataSource(DataSource):
    """Logs, snapshots and archives of them as a table."""

    @classmethod
    def name(cls) -> str:
        """Return the name for `format`."""
        return "kraftops"

    def schema(self) -> StructType:
        """Return the columns of the row."""
        return row_schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what reads the columns of *schema*."""
        try:
            options = source_options(self.options)
            columns = checked_schema(schema)
        except UsageError as error:
            if error.hint:
                error.add_note(f"hint: {error.hint}")  # a trace is all that Spark shows of it
            raise
        kind = PushingReader if options.pushdown else Reader
        return kind(options, columns)


class Reader(DataSourceReader):
    """Plans splits on the driver's node, and reads them in workers."""

    def __init__(self, asked: SourceOptions, schema: StructType) -> None:
        """Read what *asked* says, and of it the columns of *schema*."""
        self._asked = asked
        self._schema = schema
        names = frozenset(schema.names)
        self.query: Query = replace(asked.query, columns=names)

    def partitions(self) -> list[SplitPartition]:
        """Return the splits."""
        asked = self._asked
        sources = asked.sources()
        if self.query.filter.topics and not self.query.filter.topic_ids:
            from kraftops.spark.jobs.topic_ids import topic_ids_here

            found = topic_ids_here(sources, self.query)
            self.query = replace(self.query, filter=found)
        splits = plan(sources, asked.cores, max_bytes=self.query.max_bytes, size=asked.split_bytes)
        return list(map(SplitPartition, splits)) or [SplitPartition(None)]

    def read(self, partition: SplitPartition) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        """Yield the rows of a split in record batches."""
        from pyspark.sql.pandas.types import to_arrow_schema

        split, tries = partition.split, self._asked.tries
        if split is None:
            return
        schema = to_arrow_schema(self._schema)
        if len(split.pieces) > 1 and is_try_before_last(tries):
            for piece in split.pieces:
                yield from self._alone(piece, schema)
        else:
            yield from self._batches(split, schema)

    def _batches(self, split: Split, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        from kraftops.dump.scan.arrow import arrow_batches

        tries = self._asked.tries
        is_lost = is_last_try(tries)
        for piece in split.pieces:
            query = query_of(self.query, piece.decoder)
            if is_lost:
                lost = lost_rows(piece.part, query, Report(), tries - 1)
                yield from arrow_batches(lost, schema)
            else:
                yield from piece_batches(piece.part, query, schema)

    def _alone(self, piece: Piece, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a piece, or if that kills who reads it, the row that says so."""
        import pyarrow as pa

        from kraftops.dump.scan.arrow import arrow_batches

        query = query_of(self.query, piece.decoder)
        file = spooled(piece.part, query, schema)
        if file is None:
            lost = lost_rows(piece.part, query, Report(), self._asked.tries - 1)
            yield from arrow_batches(lost, schema)
            return
        with file, pa.ipc.open_stream(file) as stream:
            yield from stream


class PushingReader(Reader):
    """One that takes over filters, where Spark's setting lets it."""

    def pushFilters(self, filters: list[SparkFilter]) -> Iterable[SparkFilter]:  # noqa: N802 - Spark's
        """Take the filters that can be answered while reading; return what is left to Spark."""
        left: list[Any] = []
        for one in filters:
            narrower, is_exact = pushed(self.query.filter, one)
            self.query = replace(self.query, filter=narrower)
            if not is_exact:
                left.append(one)
        return left
