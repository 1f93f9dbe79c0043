"""Data source `kraftops`: logs as a table, in any session of PySpark.

    log = spark.read.format("kraftops").load("DIRECTORY")

Where this Python finds `pyspark_kraftops`, Spark knows the name by itself; elsewhere, as in a
release that is older than the session, `spark.dataSource.register(KraftopsDataSource)` tells it.
The columns are the fields of `kraftops.query.row.Row`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

# Spark calls subclasses of its own classes, so this module needs pyspark to load.
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import arrow_batches
from kraftops.errors import UsageError
from kraftops.query.query import Query
from kraftops.spark.jobs.planning import LabelledRange, Split, plan_splits
from kraftops.spark.jobs.range_process import range_batches, spooled
from kraftops.spark.jobs.topic_ids import topic_ids_here
from kraftops.spark.jobs.worker_crashes import crash_rows, is_last_try, is_try_before_last
from kraftops.spark.source.options import SourceOptions, source_options
from kraftops.spark.source.pushdown import pushed, pushed_text
from kraftops.spark.source.schemas import arrow_columns, checked_schema
from kraftops.spark.source.shape import Shape, shape, table_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.datasource import Filter as SparkFilter
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class SplitPartition(InputPartition):
    """Partition of the table: a split, or None where there is nothing to read.

    *topic_ids* belong to the topics that are asked for: Spark copies the reader to its workers
    before it asks for partitions, so that they cannot stay in it.
    """

    split: Split | None
    topic_ids: frozenset[str] = frozenset()


class KraftopsDataSource(DataSource):
    """Logs, snapshots and archives of them as a table, a row for each record.

    Options, their names in any case; those of `kafka-dump-log` mean the same:

    path, paths     a file, directory, pattern or URI; a JSON list of them (what `load` makes)
    decoder         metadata, offsets, transaction, remote, share or user; else by directory
    dialect, raw, fromStart, showSecrets, salvage, skipInvalid
    types, topics, keys, groups
                    lists, separated by commas
    offsets         A..B, A.., ..B or A
    since, until    times in ISO 8601, or as 2h
    where           a condition; several, which must all hold, as a JSON list
    columns         a list: only these are decoded, as of a shorter .schema(). Spark itself asks
                    for all of them, whatever a query selects; of offset, crcValid and others,
                    headers of batches tell
    record          a record type, as PARTITION_RECORD: only its records; `value` (of a
                    coordinator's topic also `key`) is a struct of its fields
    value           json (the default), or variant: metadata and other decoded values as VARIANT
    mode            PERMISSIVE (the default): damage is a row of kind `damage`, a record that
                    nobody can read has its `error`, `crcValid` tells of the batch;
                    DROPMALFORMED: without all these rows; FAILFAST: the first one ends the job
    pushdown        true: filters of Spark on type, offset and timestamp are evaluated while
                    reading (4.1 and later, with spark.sql.python.filterPushdown.enabled); the
                    log of the driver says which
    splitBytes, cores
                    the size of splits, or the number of tasks at a time
    tries           the number of tries of a task; the last one reports instead of reading
    """

    @classmethod
    def name(cls) -> str:
        """Return the name for `format`."""
        return "kraftops"

    def schema(self) -> StructType:
        """Return the columns of the row; the decoders of the sources choose types."""
        with _hints():
            return table_schema(source_options(self.options))

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader of the columns of *schema*."""
        with _hints():
            options = source_options(self.options)
            asked = checked_schema(schema, table_schema(options))
            kind = PushingReader if options.pushdown else Reader
            return kind(options, shape(options, asked))


@contextmanager
def _hints() -> Iterator[None]:
    """Let errors show their hints: Spark shows only the trace."""
    try:
        yield
    except UsageError as error:
        if error.hint:
            error.add_note(f"hint: {error.hint}")
        raise


class Reader(DataSourceReader):
    """Reader that plans splits on the driver and reads them in workers."""

    def __init__(self, options: SourceOptions, table: Shape) -> None:
        """Read the columns of *table* from the sources of *options*."""
        self._options = options
        self._table = table
        names = frozenset(table.scanned.names)
        self.query: Query = replace(options.query, columns=names)

    def partitions(self) -> list[SplitPartition]:
        """Return the splits."""
        options = self._options
        sources = options.sources()
        found = self.query.filter
        if found.topics:
            found = topic_ids_here(sources, self.query)
        splits = plan_splits(
            sources, options.cores, max_bytes=self.query.max_bytes, size=options.split_bytes
        )
        return [SplitPartition(split, found.topic_ids) for split in splits] or [
            SplitPartition(None)
        ]

    def read(self, partition: SplitPartition) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        """Yield the rows of a split in record batches.

        Raises:
            DecodeError: the mode is FAILFAST, and a row is malformed.
        """
        yield from self._table.batches(self._scanned(partition))

    def _scanned(self, partition: SplitPartition) -> Iterator[pa.RecordBatch]:
        split, tries = partition.split, self._options.tries
        if split is None:
            return
        schema = arrow_columns(self._table.scanned)
        asked = replace(self.query.filter, topic_ids=partition.topic_ids)
        query = replace(self.query, filter=asked)
        if len(split.ranges) > 1 and is_try_before_last(tries):
            for labelled in split.ranges:
                yield from self._in_process(labelled, query, schema)
        else:
            yield from self._batches(split, query, schema)

    def _batches(self, split: Split, query: Query, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        tries = self._options.tries
        is_last = is_last_try(tries)
        for labelled in split.ranges:
            query_here = query.for_source(labelled.decoder, labelled.range.path)
            if is_last:
                crashed = crash_rows(labelled.range, query_here, Report(), tries - 1)
                yield from arrow_batches(crashed, schema)
            else:
                yield from range_batches(labelled.range, query_here, schema, self._table.report())

    def _in_process(
        self, labelled: LabelledRange, query: Query, schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a byte range, read by another process, or the row about its crash."""
        import pyarrow as pa

        query = query.for_source(labelled.decoder, labelled.range.path)
        file = spooled(labelled.range, query, schema)
        if file is None:
            crashed = crash_rows(labelled.range, query, Report(), self._options.tries - 1)
            yield from arrow_batches(crashed, schema)
            return
        with file, pa.ipc.open_stream(file) as stream:
            yield from stream


class PushingReader(Reader):
    """Reader that takes over filters of Spark's."""

    def pushFilters(self, filters: list[SparkFilter]) -> Iterable[SparkFilter]:  # noqa: N802 - Spark's
        """Take the filters that the scan can answer; return the others to Spark."""
        left: list[Any] = []
        taken: list[Any] = []
        for one in filters:
            narrower, is_exact = pushed(self.query.filter, one)
            taken += [one] if is_exact or narrower != self.query.filter else []
            left += [] if is_exact else [one]
            self.query = replace(self.query, filter=narrower)
        sys.stderr.write(f"kraftops: {pushed_text(taken, left)}\n")  # Spark's plan does not tell
        return left
