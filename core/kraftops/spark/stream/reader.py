"""Readers of streams: the offsets on the driver, and the rows in workers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

# Spark calls subclasses of its own classes, so this module needs pyspark to load.
from pyspark.sql.datasource import DataSourceStreamReader

from kraftops.dump.scan.arrow import has_bytes
from kraftops.errors import SourceError, UsageError
from kraftops.spark.jobs.topic_ids import topic_ids_here
from kraftops.spark.source.hints import shown_hints
from kraftops.spark.source.options import SourceOptions
from kraftops.spark.source.reader import Reader, SplitPartition
from kraftops.spark.source.shape import Shape
from kraftops.spark.stream.ends import end_mark
from kraftops.spark.stream.logs import StreamLog, stream_logs
from kraftops.spark.stream.marks import Mark, Marks, marks_from_json, marks_to_json
from kraftops.spark.stream.options import HAS_LIMITS, StreamOptions
from kraftops.spark.stream.ranges import batch_splits, unread
from kraftops.spark.stream.starts import first_marks
from kraftops.spark.stream.steps import next_marks

if TYPE_CHECKING:
    import pyarrow as pa

Offset = dict[str, dict[str, Any]]
"""The end of each log, in JSON; see `kraftops.spark.stream.marks.Mark`."""


class StreamReader(DataSourceStreamReader):
    """Reader that follows logs in directories."""

    def __init__(self, options: SourceOptions, stream: StreamOptions, table: Shape) -> None:
        """Read the columns of *table* from the logs of *options* as they grow."""
        self._options = options
        self._stream = stream
        self._rows = Reader(options, table, is_lenient=not stream.fails_on_loss)
        kinds = {field.name: field.dataType.typeName() for field in table.scanned}
        self._has_texts = "string" in (kinds.get("key"), kinds.get("value"))
        self._decoders = options.decoders()
        self._ends: Marks = {}

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's
        """Return where a new stream begins."""
        with shown_hints():
            logs = stream_logs(self._options)
            return marks_to_json(first_marks(self._options, self._stream.starts, logs))

    def latestOffset(self) -> Offset:  # type: ignore[override]  # noqa: N802 - before 4.2
        """Return the ends of the logs."""
        with shown_hints():
            return marks_to_json(self._latest(stream_logs(self._options)))

    def partitions(
        self, start: Mapping[str, Any], end: Mapping[str, Any]
    ) -> Sequence[SplitPartition]:
        """Return the splits between two offsets.

        Raises:
            SourceError: records between them are gone, and the stream is to fail then.
        """
        with shown_hints():
            return self._partitions(marks_from_json(start), marks_from_json(end))

    def read(self, partition: SplitPartition) -> Iterator[pa.RecordBatch]:  # type: ignore[override]
        """Yield the rows of a split in record batches.

        Raises:
            DecodeError: the mode is FAILFAST, and a row is malformed.
            SourceError: a file cannot be read, and the stream is to fail then.
        """
        return self._rows.read(partition)

    def _latest(self, logs: Mapping[str, StreamLog]) -> Marks:
        """Return the ends of logs; those that were found last save a way."""
        self._ends = {
            name: end_mark(log, self._ends.get(name, log.beginning)) for name, log in logs.items()
        }
        return self._ends

    def _partitions(self, start: Marks, end: Marks) -> list[SplitPartition]:
        options = self._options
        logs = stream_logs(options)
        ranges = []
        for name in sorted({*start, *end}):
            first, last, log = start.get(name), end.get(name), logs.get(name)
            if first == last:
                continue
            if last is None or log is None:
                self._lose(f"{name}: the log is gone")
                continue
            self._check_decoder(log)
            first = first or log.beginning
            ranges.append((log, first, unread(log, first, last, self._lose)))
        found = batch_splits(ranges, options.cores, options.split_bytes)
        query = self._rows.query
        ids = query.filter.topic_ids
        if found and query.filter.topics:
            ids = topic_ids_here(options.sources(), query).topic_ids
        return [SplitPartition(one.split, ids, one.first_offset) for one in found]

    def _lose(self, reason: str) -> None:
        """Report a loss of data.

        Raises:
            SourceError: the stream is to fail then.
        """
        if self._stream.fails_on_loss:
            raise SourceError(reason, hint="failOnDataLoss=false goes on with what is there")
        sys.stderr.write(f"kraftops: {reason}; the stream goes on with what is there\n")

    def _check_decoder(self, log: StreamLog) -> None:
        """Refuse a log of another decoder, if keys and values of the stream are texts.

        Raises:
            UsageError: it is one.
        """
        decoders = self._decoders | self._options.query.decoders([log.decoder])
        if self._has_texts and has_bytes(decoders):
            raise UsageError(
                f"{log.name}: a log of another kind, and keys and values of the stream are texts",
                hint="start the query again, into another table; or name other directories",
            )


if HAS_LIMITS:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxBytes,
        SupportsTriggerAvailableNow,
    )

    class LimitedStreamReader(StreamReader, SupportsTriggerAvailableNow):
        """Reader that Spark asks for a part of what is there."""

        _target: Marks | None = None

        def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's
            """Return the limit of the options."""
            most = self._stream.max_bytes
            return ReadAllAvailable() if most is None else ReadMaxBytes(most)

        def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's
            """Read no further than to the present ends."""
            with shown_hints():
                self._target = self._latest(stream_logs(self._options))

        def latestOffset(self, start: Mapping[str, Any], limit: ReadLimit) -> Offset:  # type: ignore[override]  # noqa: N802 - Spark's
            """Return the ends of the next batch."""
            with shown_hints():
                logs = stream_logs(self._options)
                ends: Mapping[str, Mark] = self._target or self._latest(logs)
                most = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
                return marks_to_json(next_marks(logs, marks_from_json(start), ends, most))

        def reportLatestOffset(self) -> Offset:  # noqa: N802 - Spark's
            """Return the present ends, for the progress of the query."""
            with shown_hints():
                return marks_to_json(self._latest(stream_logs(self._options)))


def stream_reader(options: SourceOptions, stream: StreamOptions, table: Shape) -> StreamReader:
    """Return the reader of a stream for this release of Spark."""
    kind = LimitedStreamReader if HAS_LIMITS else StreamReader
    return kind(options, stream, table)
