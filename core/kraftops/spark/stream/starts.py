"""The beginning of a new stream."""

from __future__ import annotations

from collections.abc import Mapping

from kraftops.errors import SourceError, UsageError
from kraftops.log.heads import heads
from kraftops.log.log_file import LogFile
from kraftops.spark.source.options import SourceOptions
from kraftops.spark.stream.ends import end_mark
from kraftops.spark.stream.logs import StreamLog, snapshot_marks
from kraftops.spark.stream.marks import Mark, Marks
from kraftops.spark.stream.options import EARLIEST, LATEST, Starts


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
    _check_names(starts, logs)
    return {name: _first_mark(log, starts, earliest[name]) for name, log in logs.items()}


def _check_names(starts: Starts, logs: Mapping[str, StreamLog]) -> None:
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
