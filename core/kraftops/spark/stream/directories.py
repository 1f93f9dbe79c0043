"""Stream of logs in directories and buckets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kraftops.dump.scan.arrow import has_bytes
from kraftops.errors import SourceError, UsageError
from kraftops.log.heads import heads
from kraftops.log.log_file import LogFile
from kraftops.spark.jobs.topic_ids import topic_ids_here
from kraftops.spark.source.options import SourceOptions
from kraftops.spark.source.reader import Reader, SplitPartition
from kraftops.spark.source.shape import Shape
from kraftops.spark.stream.ends import end_mark, limited_mark
from kraftops.spark.stream.followed import OnLoss
from kraftops.spark.stream.logs import StreamLog, snapshot_marks, stream_logs
from kraftops.spark.stream.marks import Mark, Marks, moved
from kraftops.spark.stream.options import EARLIEST, LATEST, Starts, StreamOptions
from kraftops.spark.stream.places import Loss, locate, resume_position
from kraftops.spark.stream.ranges import batch_splits, unread

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.datasource import InputPartition


class DirectoryStream:
    """Logs in directories, which are listed at each call."""

    def __init__(
        self,
        options: SourceOptions,
        stream: StreamOptions,
        table: Shape,
        decoders: frozenset[str],
    ) -> None:
        """Read the columns of *table* from the logs of *options*, which *decoders* read."""
        self._options = options
        self._starts = stream.starts
        self._rows = Reader(options, table, is_lenient=not stream.fails_on_loss)
        kinds = {field.name: field.dataType.typeName() for field in table.scanned}
        self._has_texts = "string" in (kinds.get("key"), kinds.get("value"))
        self._decoders = decoders
        self._ends: dict[str, tuple[StreamLog, Mark]] = {}
        """The logs that were listed last, each with its end."""
        self._listed: Mapping[str, StreamLog] | None = None

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def first(self) -> Marks:
        """Return where a new stream begins."""
        return first_marks(self._options, self._starts, stream_logs(self._options))

    def latest(self) -> Marks:
        """Return the ends of logs; only those are opened that have changed."""
        self._listed = stream_logs(self._options)
        self._ends = {name: (log, self._end(log)) for name, log in self._listed.items()}
        return {name: end for name, (_, end) in self._ends.items()}

    def _end(self, log: StreamLog) -> Mark:
        earlier_log, end = self._ends.get(log.name, (None, log.beginning))
        return end if log == earlier_log and log.ends_at(end) else end_mark(log, end)

    def step(self, start: Marks, ends: Marks, most: int | None) -> Marks:
        """Return the end of the next batch, of the logs that `latest` has just listed."""
        logs, self._listed = self._listed, None
        logs = stream_logs(self._options) if logs is None else logs
        return next_marks(logs, moved(start, logs), ends, most)

    def partitions(self, start: Marks, end: Marks, on_loss: OnLoss) -> Sequence[SplitPartition]:
        """Return the splits of a batch.

        Raises:
            SourceError: a segment cannot be read, or *on_loss* raises it.
            UsageError: a log of another kind has come, or an end has gone back.
        """
        options = self._options
        logs = stream_logs(options)
        start = moved(start, end)
        ranges = []
        for name in sorted({*start, *end}):
            first, last, log = start.get(name), end.get(name), logs.get(name)
            if first == last:
                continue
            if last is None or log is None:
                on_loss(f"{name}: the log is gone")
                continue
            self._check_decoder(log)
            first = first or log.beginning
            ranges.append((log, first, unread(log, first, last, on_loss)))
        splits = batch_splits(ranges, options.cores, options.split_bytes)
        query = self._rows.query
        ids = query.filter.topic_ids
        if splits and query.filter.topics:
            ids = topic_ids_here(options.sources(), query).topic_ids
        return [SplitPartition(part.split, ids, part.first_offset) for part in splits]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a split.

        Raises:
            SourceError: a file cannot be read, and the stream is to fail then.
        """
        assert isinstance(partition, SplitPartition)
        return self._rows.read(partition)

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


def first_marks(
    options: SourceOptions, starts: str | Starts, logs: Mapping[str, StreamLog]
) -> Marks:
    """Return where the stream of each log begins.

    A log of metadata begins with its newest snapshot, as the table does.

    Raises:
        UsageError: starts name no offset of a partition, or one that it does not have.
        SourceError: a segment cannot be read.
    """
    if starts == LATEST:
        return {name: end_mark(log, log.beginning) for name, log in logs.items()}
    earliest = {name: log.beginning for name, log in logs.items()} | {
        name: mark for name, mark in snapshot_marks(options).items() if name in logs
    }
    if isinstance(starts, str):
        return earliest
    _check_starts(starts, logs)
    return {name: _first_mark(log, starts, earliest[name]) for name, log in logs.items()}


def _check_starts(starts: Starts, logs: Mapping[str, StreamLog]) -> None:
    """Compare the partitions of starts with those of logs, which Spark's kafka source asks for.

    Raises:
        UsageError: they are others.
    """
    there = {(log.topic, log.partition) for log in logs.values()}
    for topic, partition in starts.keys() - there:
        raise UsageError(f"startingOffsets has {topic}-{partition}, which no directory here is")
    for log in logs.values():
        if (log.topic, log.partition) not in starts:
            raise UsageError(
                f"startingOffsets has no offset of {log.name}", hint="-2 is earliest, -1 latest"
            )


def _first_mark(log: StreamLog, starts: Starts, earliest: Mark) -> Mark:
    start = starts[log.topic or "", log.partition or 0]
    if start == EARLIEST:
        return earliest
    if start == LATEST:
        return end_mark(log, log.beginning)
    assert isinstance(start, int)
    return _mark_at(log, start)


def _mark_at(log: StreamLog, offset: int) -> Mark:
    """Return the mark before the batch with an offset, or with later ones."""
    if offset < log.segments[0].base_offset:
        raise SourceError(
            f"{log.name}: it begins at offset {log.segments[0].base_offset}, after {offset}"
        )
    index = max(index for index, part in enumerate(log.segments) if part.base_offset <= offset)
    segment = log.segments[index]
    end, before = segment.base_offset, None
    with LogFile(segment.path) as file:
        for head in heads(file, 0, min(segment.size, file.size)):
            if head.last_offset >= offset:
                break
            before, end = head, head.last_offset + 1
        else:
            if index == len(log.segments) - 1 and end < offset:
                raise SourceError(f"{log.name}: it ends at offset {end}, before {offset}")
    if before is None:
        return Mark(segment.name, 0, offset)
    return Mark(segment.name, before.end, offset, before.epoch, before.position, before.crc)


def next_marks(
    logs: Mapping[str, StreamLog], start: Marks, ends: Mapping[str, Mark], most: int | None
) -> Marks:
    """Return the marks up to which the next batch reads.

    Logs share *most* bytes by what is left of each, and each reads at least one batch. A log that
    is gone is left out; one that has become shorter gets its end, which tells of the loss.

    Raises:
        SourceError: a segment cannot be read.
    """
    marks: Marks = {}
    unread: dict[str, int] = {}
    for name, log in logs.items():
        first, end = start.get(name), ends.get(name)
        if end is None or (first is not None and not first.is_before(end)):
            kept = first if first is None or end is None else _kept(log, first, end)
            marks |= {} if kept is None else {name: kept}
            continue
        if first is not None and first.is_unread_snapshot and end.offset < first.offset:
            marks[name] = limited_mark(log, first, end, 0)  # it is newer than the ends
            continue
        marks[name] = end
        unread[name] = _bytes_left(log, first or log.beginning)
    total = sum(unread.values())
    if most is None or total <= most:
        return marks
    for name, size in unread.items():
        first = start.get(name) or logs[name].beginning
        marks[name] = limited_mark(logs[name], first, marks[name], most * size // total)
    return marks


def _kept(log: StreamLog, first: Mark, end: Mark) -> Mark:
    """Return the mark of a log that has nothing new: its end, if that tells of a loss."""
    if first == end or not isinstance(locate(log, first), Loss):
        return first
    return end


def _bytes_left(log: StreamLog, mark: Mark) -> int:
    place = resume_position(log, mark)
    return max(1, sum(file.size for file in place.files) - place.position)
