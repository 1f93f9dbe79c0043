"""Stream of logs in directories and buckets, and where it starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.dump.sources.names import Source
from kraftops.errors import SourceError, UsageError
from kraftops.log.batch_search import indexed_position
from kraftops.log.files import FileKind, file_name
from kraftops.log.heads import Head, heads
from kraftops.log.indexes import TimeIndex
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange
from kraftops.memory import Budget
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.records.internal_topics import USER
from kraftops.spark.jobs.topic_ids import topic_ids_here
from kraftops.spark.source.committed import Isolation, isolation
from kraftops.spark.source.options import SourceOptions
from kraftops.spark.source.partition_offsets import EARLIEST, LATEST, Starts
from kraftops.spark.source.reader import Reader, SplitPartition, of_split
from kraftops.spark.source.shape import Shape
from kraftops.spark.stream.ends import End, Look, limited_end, looked
from kraftops.spark.stream.logs import StreamLog, snapshot_marks, stream_logs
from kraftops.spark.stream.marks import Mark, Marks, OnLoss, moved
from kraftops.spark.stream.options import StreamOptions
from kraftops.spark.stream.places import Loss, locate, resume_position
from kraftops.spark.stream.ranges import UnreadLog, batch_splits, unread

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.datasource import InputPartition


class DirectoryStream:
    """Logs in directories, which are listed once a batch."""

    def __init__(self, options: SourceOptions, stream: StreamOptions, table: Shape) -> None:
        """Read the columns of *table* from the logs of *options*."""
        self._options = options
        self._stream = stream
        self._rows = Reader(options, table, is_lenient=not stream.fails_on_loss)
        self._looks: dict[str, Look] = {}
        """The logs that were listed last, with their ends."""
        self._listed: Mapping[str, StreamLog] | None = None
        self._isolations: dict[str, tuple[StreamLog, Isolation]] = {}
        """The logs with what is withheld of them, if only committed records are asked for."""
        self._batches: dict[tuple[str, Mark], Head] = {}
        """The batches that end at marks, so that they are not looked for again."""

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def first(self) -> Marks:
        """Return where a new stream begins."""
        return _first_marks(self._options, self._stream, self._list())

    def latest(self) -> Marks:
        """Return the ends of logs; only those are opened that have changed."""
        self._listed = self._list()
        self._looks = {name: self._look(log) for name, log in self._listed.items()}
        ends = {name: look.end for name, look in self._looks.items()}
        self._remember(ends)
        return {name: end.mark for name, end in ends.items()}

    def _look(self, log: StreamLog) -> Look:
        earlier = self._looks.get(log.name)
        if earlier is None:
            return looked(log, End(log.beginning))
        end = earlier.end
        position = end.batch.end if end.batch else 0
        is_same = log == earlier.log and log.ends_at(end.mark, position)
        return earlier._replace(log=log) if is_same else looked(log, end)

    def step(self, start: Marks, ends: Marks, most: int | None) -> Marks:
        """Return the end of the next batch, of the logs that `latest` has just listed."""
        logs = self._logs()
        start = moved(start, logs)
        next_ends = next_marks(logs, self._ends_at(start), self._ends_at(ends), most)
        self._remember(next_ends)
        return {name: end.mark for name, end in next_ends.items()}

    def _remember(self, ends: Mapping[str, End]) -> None:
        self._batches |= {(name, end.mark): end.batch for name, end in ends.items() if end.batch}

    def _logs(self) -> Mapping[str, StreamLog]:
        if self._listed is None:
            self._listed = self._list()
        return self._listed

    def _list(self) -> Mapping[str, StreamLog]:
        """Return the logs as they are now, of committed records up to the last stable offset."""
        logs = stream_logs(self._options)
        if not self._options.is_committed:
            return logs
        earlier, self._isolations, budget = self._isolations, {}, self._rows.query.budget
        for name, log in logs.items():
            if name in earlier and earlier[name][0] == log:
                self._isolations[name] = earlier[name]
            else:
                paths = [segment.path for segment in log.segments]
                self._isolations[name] = log, isolation(paths, budget, log.high_watermark)
        return {name: log.up_to(self._isolations[name][1]) for name, log in logs.items()}

    def _ends_at(self, marks: Marks) -> dict[str, End]:
        batches = self._batches
        return {name: End(mark, batches.get((name, mark))) for name, mark in marks.items()}

    def partitions(self, start: Marks, end: Marks, on_loss: OnLoss) -> Sequence[SplitPartition]:
        """Return the splits of a batch.

        Raises:
            SourceError: a segment cannot be read, or *on_loss* raises it.
            UsageError: an end has gone back.
        """
        options, logs = self._options, self._logs()
        self._listed = None
        starts, ends = self._ends_at(moved(start, end)), self._ends_at(end)
        ranges = []
        for name in sorted({*starts, *ends}):
            first, last, log = starts.get(name), ends.get(name), logs.get(name)
            if first == last:
                continue
            if last is None or log is None:
                on_loss(f"{name}: the log is gone")
                continue
            look = self._looks.get(name)
            if look is not None and (look.log, look.end) != (log, last):
                look = None
            ranges.append(unread(log, first or End(log.beginning), last, on_loss, look))
        self._batches = {}
        self._remember(ends)
        by_path = {
            segment.path: withheld
            for log, withheld in self._isolations.values()
            for segment in log.segments
        }
        splits = batch_splits(self._matching(ranges), options.cores, options.split_bytes)
        query = self._rows.query
        ids = query.filter.topic_ids
        if splits and query.filter.topics:
            ids = topic_ids_here(options.sources(), query).topic_ids
        return [
            replace(part, topic_ids=ids, isolations=of_split(part.split, by_path))
            for part in splits
        ]

    def _matching(self, unread_logs: Sequence[UnreadLog]) -> Iterator[UnreadLog]:
        """Yield logs with their ranges of files that may have rows of the query."""
        sources = [
            Source(
                path=part.path,
                decoder=log.decoder,
                topic=log.topic,
                partition=log.partition,
                group=number,
            )
            for number, (log, _, parts) in enumerate(unread_logs)
            for part in parts
        ]
        kept = {source.path for source in self._rows.with_matching_rows(sources)}
        for unread_log in unread_logs:
            parts = [part for part in unread_log.ranges if part.path in kept]
            yield unread_log._replace(ranges=parts)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a split.

        Raises:
            SourceError: a file cannot be read, and the stream is to fail then.
        """
        assert isinstance(partition, SplitPartition)
        return self._rows.read(partition)


def next_marks(
    logs: Mapping[str, StreamLog],
    starts: Mapping[str, End],
    ends: Mapping[str, End],
    most: int | None,
) -> dict[str, End]:
    """Return the ends up to which the next batch reads.

    Logs share *most* bytes by what is left of each, and each reads at least one batch. A log that
    is gone is left out; one that has become shorter gets its end, which tells of the loss.

    Raises:
        SourceError: a segment cannot be read.
    """
    next_ends: dict[str, End] = {}
    unread: dict[str, int] = {}
    for name, log in logs.items():
        start, end = starts.get(name), ends.get(name)
        if end is None:
            next_ends |= {} if start is None else {name: start}
            continue
        start = start or End(log.beginning)
        if start.mark.is_unread_snapshot and end.mark.offset < start.mark.offset:
            next_ends[name] = limited_end(log, start, end, 0)  # it is newer than the ends
            continue
        is_unread = log.is_known_by_size and not start.mark.size  # or not: `_bytes_left` tells
        is_unread = is_unread or start.mark.is_before(end.mark)
        if is_unread and (most is not None or log.is_known_by_size):
            unread[name] = _bytes_left(log, start)
            is_unread = unread[name] > 0
        next_ends[name] = end if is_unread or name not in starts else _kept(log, start, end)
    total = sum(unread.values())
    if most is None or total <= most:
        return next_ends
    for name, size in unread.items():
        start = starts.get(name) or End(logs[name].beginning)
        next_ends[name] = limited_end(logs[name], start, next_ends[name], most * size // total)
    return next_ends


def _kept(log: StreamLog, start: End, end: End) -> End:
    """Return the end of a log that has nothing new: its last one, if that tells of a loss."""
    if start == end or not isinstance(locate(log, start.mark, start.batch), Loss):
        return start
    return end


def _bytes_left(log: StreamLog, start: End) -> int:
    place = resume_position(log, start.mark, start.batch)
    size = sum(file.size for file in place.files) - place.position
    return size if log.is_known_by_size else max(1, size)


def _first_marks(
    options: SourceOptions, stream: StreamOptions, logs: Mapping[str, StreamLog]
) -> Marks:
    """Return where the stream of each log begins.

    A log of metadata begins with its newest snapshot, as the table does.

    Raises:
        UsageError: a path holds no log; starts name no offset of a partition, or one that it does
            not have.
        SourceError: a segment cannot be read.
    """
    snapshots, starts = snapshot_marks(options), stream.starts
    if starts == LATEST:
        return {name: _latest_mark(log) for name, log in logs.items()}
    earliest = {name: log.beginning for name, log in logs.items()} | {
        name: mark for name, mark in snapshots.items() if name in logs
    }
    if isinstance(starts, str):
        return earliest
    _check_starts(starts, logs)
    budget = options.query.budget
    return {name: _first_mark(log, stream, earliest[name], budget) for name, log in logs.items()}


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


def _first_mark(log: StreamLog, stream: StreamOptions, earliest: Mark, budget: Budget) -> Mark:
    assert not isinstance(stream.starts, str)
    start: int | str | None = stream.starts[log.topic or "", log.partition or 0]
    if start == EARLIEST:
        return earliest
    if stream.are_times and isinstance(start, int):
        start = _offset_at(log, start, budget)
    return _mark_at(log, start) if isinstance(start, int) else _latest_mark(log)


def _latest_mark(log: StreamLog) -> Mark:
    return looked(log, End(log.beginning)).end.mark


def _offset_at(log: StreamLog, time: int, budget: Budget) -> int | None:
    """Return the offset of the first record that is not before a time; None without one."""
    columns = frozenset({"offset"})
    query = Query(decoder=USER, budget=budget, filter=Filter(since=time), columns=columns)
    for segment in log.segments:
        with LogFile(segment.path) as file:
            offset = _last_indexed_before(segment.path, time)
            begin = indexed_position(file, file.size, offset=offset)
        part = ByteRange(segment.path, begin, segment.size)
        for row in part_rows(part, query, Report()):
            if row.offset is not None:
                return row.offset
    return None


def _last_indexed_before(path: str, time: int) -> int:
    """Return an offset up to which all records of a segment are before a time, by its index."""
    name = file_name(path)
    assert name is not None
    with suppress(SourceError), LogFile(name.sibling(FileKind.TIME_INDEX)) as file:
        return TimeIndex(file, name.base_offset).last_before(time).offset
    return name.base_offset


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
    return Mark(offset, -1 if before is None else before.epoch)
