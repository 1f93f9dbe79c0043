"""Stream of a running quorum's metadata log, up to the high watermark."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

# Spark copies subclasses of its own class to workers, so this module needs pyspark to load.
from pyspark.sql.datasource import InputPartition

from kraftops.dump.scan.arrow import scan_batches
from kraftops.errors import UsageError
from kraftops.log.files import METADATA_TOPIC
from kraftops.records.internal_topics import METADATA
from kraftops.spark.source.options import SourceOptions
from kraftops.spark.source.partition_offsets import EARLIEST, LATEST
from kraftops.spark.source.schemas import arrow_columns
from kraftops.spark.source.shape import Shape
from kraftops.spark.stream.marks import UNREAD, Mark, Marks, OnLoss
from kraftops.spark.stream.options import StreamOptions
from kraftops.wire.quorum.fetch import FetchPosition, SnapshotId
from kraftops.wire.quorum.live_parts import live_parts
from kraftops.wire.quorum.log_slices import LogSlices, Restart
from kraftops.wire.rpc.endpoints import Endpoints

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = f"{METADATA_TOPIC}-0"
"""The name of the only log in offsets."""


@dataclass(frozen=True)
class LivePartition(InputPartition):
    """A snapshot, or the log from *start* up to the offset *stop*."""

    start: Restart
    stop: int


class QuorumStream:
    """The metadata log of a running quorum."""

    def __init__(
        self, target: Endpoints, options: SourceOptions, stream: StreamOptions, table: Shape
    ) -> None:
        """Read the columns of *table*; a connection is opened when it is needed."""
        self._target = target
        self._starts = stream.starts
        self._table = table
        self._query = replace(options.query, columns=frozenset(table.scanned.names))
        self._slices: LogSlices | None = None

    def close(self) -> None:
        if self._slices:
            self._slices.close()
        self._slices = None

    def first(self) -> Marks:
        """Return the newest snapshot, or the first offset; or the end.

        Raises:
            UsageError: starts have an offset, whose epoch is unknown.
        """
        starts = self._starts
        start = starts if isinstance(starts, str) else starts.get((METADATA_TOPIC, 0))
        if start not in (EARLIEST, LATEST):
            raise UsageError(
                "startingOffsets of a running quorum are earliest or latest",
                hint=(
                    "a controller serves an offset only to a client that knows the epoch before it"
                ),
            )
        log = self._log()
        return {_NAME: _mark(log.beginning() if start == EARLIEST else log.end())}

    def latest(self) -> Marks:
        return {_NAME: _mark(self._log().end())}

    def step(self, start: Marks, ends: Marks, most: int | None) -> Marks:
        """Return the end of the next batch; a snapshot is read whole."""
        first, end = start[_NAME], ends[_NAME]
        if not first.is_before(end):
            return ends if first != end and self._log().loss(_place(first)) else start
        place = _place(first)
        if isinstance(place, SnapshotId):
            after = _mark(FetchPosition(*place))  # it may be newer than the ends
            return ends if most is None and after.is_before(end) else {_NAME: after}
        if most is None or self._log().loss(place):
            return ends
        next_mark = _mark(self._log().cut(place, most))
        return {_NAME: next_mark} if next_mark.offset < end.offset else ends

    def partitions(self, start: Marks, end: Marks, on_loss: OnLoss) -> Sequence[LivePartition]:
        """Return the partitions between two offsets.

        A query that died in its first batch may begin with a snapshot after *end*: it is read, and
        the log from *end* on after it.

        Raises:
            SourceError: *on_loss* raises it.
            UsageError: *end* lies before *start*.
        """
        first, stop = start[_NAME], end[_NAME].offset
        place: Restart = _place(first)
        loss = self._log().loss(place)
        if loss:
            reason, place = loss
            if first.offset:
                on_loss(reason)
        elif stop < first.offset and not first.snapshot:
            raise UsageError(f"the high watermark has gone back from {first.offset} to {stop}")
        if not isinstance(place, SnapshotId):
            return [LivePartition(place, stop)] if place.offset < stop else []
        if place.end_offset > stop and first.offset and not first.snapshot:
            return []  # it is in the next batch, which ends after it
        after = FetchPosition(*place)
        log = [LivePartition(after, stop)] if after.offset < stop else []
        return [LivePartition(place, stop), *log]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, LivePartition)
        schema = arrow_columns(self._table.scanned)
        with LogSlices(self._target, note=_note) as log:
            if isinstance(partition.start, SnapshotId):
                events = log.snapshot(partition.start)
            else:
                events = log.log(partition.start, partition.stop)
            for live_part in live_parts(events):
                query = self._query.for_source(METADATA, live_part.part.path)
                rows = scan_batches(live_part.part, query, self._table.report(), schema)
                yield from self._table.batches(rows, live_part.part.path)

    def _log(self) -> LogSlices:
        """Return the log, over a connection that stays open."""
        if self._slices is None:
            self._slices = LogSlices(self._target, note=_note)
        return self._slices


def _note(line: str) -> None:
    sys.stderr.write(f"kraftops: note: {line}\n")


def _mark(place: Restart) -> Mark:
    offset, epoch = place
    return Mark(offset, epoch, snapshot=UNREAD if isinstance(place, SnapshotId) else "")


def _place(mark: Mark) -> Restart:
    kind = SnapshotId if mark.snapshot else FetchPosition
    return kind(mark.offset, mark.epoch)
