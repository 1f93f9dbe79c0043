"""Where the stream of each log begins: at its beginning or end, an offset or a time."""

from collections.abc import Mapping
from contextlib import suppress

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.errors import SourceError, UsageError
from kraftops.log.files import FileKind, file_name
from kraftops.log.heads import heads
from kraftops.log.indexes import TimeIndex
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange
from kraftops.log.sought import indexed_position
from kraftops.memory import Budget
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.records.internal_topics import USER
from kraftops.spark.source.options import SourceOptions
from kraftops.spark.source.partition_offsets import EARLIEST, LATEST, Starts
from kraftops.spark.stream.ends import End, looked
from kraftops.spark.stream.logs import StreamLog, snapshot_marks
from kraftops.spark.stream.marks import Mark, Marks
from kraftops.spark.stream.options import StreamOptions


def first_marks(
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
