"""Data source `kraftops`: logs as a table, in any session of PySpark.

    log = spark.read.format("kraftops").load("DIRECTORY")

Where this Python finds `pyspark_kraftops`, Spark knows the name by itself; elsewhere, as in a
release that is older than the session, `spark.dataSource.register(KraftopsDataSource)` tells it.
The columns are the fields of `kraftops.query.row.Row`, with others for keys and values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

# Spark calls subclasses of its own classes, so this module needs pyspark to load.
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader

from kraftops.dump.sources.missing import refuse_missing
from kraftops.spark.source.options import shown_hints, source_options
from kraftops.spark.source.partition_offsets import partition_limits
from kraftops.spark.source.reader import HAS_PUSHDOWN, Reader, pushing_reader, table_sources
from kraftops.spark.source.schemas import checked_schema
from kraftops.spark.source.shape import shape, table_schema
from kraftops.spark.stream.options import refuse_in_batch, stream_options
from kraftops.spark.stream.reader import stream_reader

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["HAS_PUSHDOWN", "JobDataSource", "KraftopsDataSource"]


class KraftopsDataSource(DataSource):
    """Logs, snapshots and archives of them as a table, a row for each record.

    `key` and `value` are the bytes of records that no decoder has read, as those of users; what one
    has read is JSON in `keyJson` and `valueJson`, of which parse_json makes a VARIANT.

    Options, their names in any case; those of `kafka-dump-log` mean the same:

    path, paths     a file, directory, pattern or URI; a JSON list of them (what `load` makes)
    decoder         metadata, offsets, transaction, remote, share or user; else by directory
    dialect, raw, fromStart, showSecrets, salvage, skipInvalid
    types, topics, keys, groups
                    lists, separated by commas
    offsets         A..B, A.., ..B or A
    since, until    times in ISO 8601, or as 2h
    where           a condition; several, which must all hold, as a JSON list
    pathGlobFilter  a pattern: only files with such a name are read, as 000*.log
    recursiveFileLookup
                    true: a directory stands for the partitions below it, at any depth
    startingOffsets, endingOffsets
                    as JSON `{"TOPIC":{"0":OFFSET}}`: what is read of partitions, without the
                    record at the end; others are read whole
    columns         a list: only these are decoded, as of a shorter .schema(). Spark itself asks
                    for all of them, whatever a query selects; of offset, crcValid and others,
                    headers of batches tell
    record          a record type, as PARTITION_RECORD: only its records; `value` (of a
                    coordinator's topic also `key`) is a struct of its fields
    isolationLevel  read_uncommitted (the default), or read_committed: what a consumer gets, no
                    aborted or open transactions and no control records; also kafka.isolation.level
    transactionState
                    true: a column with the state of each record's transaction, committed, aborted
                    or open
    replicas        one (the default): of partitions that several brokers' log directories have, the
                    copy with the newest leader epoch and end; all: each copy, with the id of its
                    broker in the column `broker`
    metadata        true: a column with file_path, file_size and file_modification_time
    mode            PERMISSIVE (the default): damage is a row of kind `damage`, a record that
                    nobody can read has its `error`, `crcValid` tells of the batch;
                    DROPMALFORMED: without all these rows; FAILFAST: the first one ends the job
    pushdown        true: filters of Spark on type, offset, timestamp, file, topic, partition,
                    topicId, partitionId and brokerId are evaluated while reading, and files in
                    which no row can match are not opened (4.1 and later, with
                    spark.sql.python.filterPushdown.enabled); the log of the driver says which
    splitBytes, cores
                    the size of splits, or the number of tasks at a time
    tries           the number of tries of a task; the last one reports instead of reading

    As a stream, `spark.readStream`, the logs of directories are followed as they grow: only whole
    batches, of a broker's directory only those below the high watermark that is written there. No
    server writes that of the metadata log: its end may be cut off yet.

    startingOffsets earliest (the default), latest, or as JSON `{"TOPIC":{"0":OFFSET}}`, in which
                    -2 is earliest and -1 latest; logs that come later are read from their start
    startingOffsetsByTimestamp
                    as JSON, too, with times in ms: of each log from the first record on that is not
                    before its time, else from its end on
    maxBytesPerTrigger
                    about how much a batch reads, as 64m (4.2 and later)
    failOnDataLoss  true (the default): records that were deleted before they were read, or a log
                    that was cut off and rewritten, end the stream; false: a line in the log of
                    the driver, and it goes on
    controllers     HOST:PORT,…: the metadata log of a running quorum, without a path
    commandConfig   a file of client properties, on the driver
    kafka.…         a client property, as kafka.security.protocol
    """

    @classmethod
    def name(cls) -> str:
        return "kraftops"

    def schema(self) -> StructType:
        with shown_hints():
            options = source_options(self.options)
            refuse_missing(options.names)
            return table_schema(options, options.decoders())

    def reader(self, schema: StructType) -> DataSourceReader:
        with shown_hints():
            refuse_in_batch(self.options)
            limits = partition_limits(self.options)
            options = replace(source_options(self.options), limits=limits)
            sources = table_sources(options)
            decoders = options.query.decoders(source.decoder for source in sources)
            asked = checked_schema(schema, table_schema(options, decoders))
            make = pushing_reader if options.pushdown else Reader
            return make(options, shape(options, asked), sources)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's
        with shown_hints():
            options = source_options(self.options)
            asked = checked_schema(schema, table_schema(options, options.decoders()))
            stream = stream_options(self.options, options)
            return stream_reader(options, stream, shape(options, asked))


class JobDataSource(KraftopsDataSource):
    """The same source for our own jobs, by a name that an installed `pyspark_kraftops` lacks.

    Spark 4.0 refuses to register a name that it knows, and that may be of another release of ours.
    """

    @classmethod
    def name(cls) -> str:
        return "kraftops-log"
