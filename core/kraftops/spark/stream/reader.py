"""Readers of streams, as Spark asks them: the offsets on the driver, the rows in workers."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

# Spark calls subclasses of its own classes, so this module needs pyspark to load.
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from kraftops.errors import SourceError
from kraftops.spark.source.options import SourceOptions, shown_hints
from kraftops.spark.source.shape import Shape
from kraftops.spark.stream.directories import DirectoryStream
from kraftops.spark.stream.live import QuorumStream
from kraftops.spark.stream.marks import Marks, marks_from_json, marks_to_json
from kraftops.spark.stream.options import HAS_LIMITS, StreamOptions

if TYPE_CHECKING:
    import pyarrow as pa

Followed = DirectoryStream | QuorumStream
"""Logs that grow: where they begin and end, and the partitions and rows between two marks."""
Offset = dict[str, Any]
"""The marks of logs as JSON, and where the *first* batch begins.

Spark asks for the beginning again when a query died in its first batch, and by then there may be
other logs and records. So the end of that batch has the marks where it begins; a beginning itself
has true.
"""
_LOGS, _FIRST = "logs", "first"
_PAUSE = 0.2  # seconds: Spark asks a hundred times a second while nothing comes


@contextmanager
def _answering() -> Iterator[None]:
    """Show hints of errors, and look for no cycles: none are made, and 10,000 logs are objects.

    Looking for them took a fifth of the driver's time for a batch of so many logs.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with shown_hints():
            yield
    finally:
        if was_enabled:
            gc.enable()


class StreamReader(DataSourceStreamReader):
    """Reader of logs that grow, for every release of Spark."""

    def __init__(self, followed: Followed, *, fails_on_loss: bool) -> None:
        """Read what is *followed*; a loss ends the stream, or is a line."""
        self._followed = followed
        self._fails_on_loss = fails_on_loss
        self._last: Marks | None = None
        self._first_look: tuple[Marks, Marks] | None = None

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's
        with _answering():
            return {_LOGS: marks_to_json(self._followed.first()), _FIRST: True}

    def latestOffset(self) -> Offset:  # type: ignore[override]  # noqa: N802 - before 4.2
        """Return the ends of the logs.

        Those releases do not tell whether the first batch is about to begin: the first look may.
        """
        with _answering():
            if self._first_look is None:
                self._first_look = self._followed.first(), self._followed.latest()
            beginning, first_ends = self._first_look
            marks = self._looked()
            first = {_FIRST: marks_to_json(beginning)} if marks == first_ends else {}
            return {_LOGS: marks_to_json(marks), **first}

    def partitions(
        self, start: Mapping[str, Any], end: Mapping[str, Any]
    ) -> Sequence[InputPartition]:
        """Return the partitions between two offsets.

        Raises:
            SourceError: records between them are gone, and the stream is to fail then.
        """
        with _answering():
            return self._followed.partitions(_begin(start, end), _marks(end), self._lose)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition in record batches.

        Raises:
            DecodeError: the mode is FAILFAST, and a row is malformed.
            SourceError: the records cannot be read, and the stream is to fail then.
        """
        return self._followed.read(partition)

    def stop(self) -> None:
        """Close connections."""
        self._followed.close()

    def _looked(self) -> Marks:
        """Return the ends of the logs; if they are as before, after a pause as long as the look."""
        begun = time.monotonic()
        marks = self._followed.latest()
        if marks == self._last:
            time.sleep(max(_PAUSE, time.monotonic() - begun))
        self._last = marks
        return marks

    def _lose(self, reason: str) -> None:
        """Report a loss of data.

        Raises:
            SourceError: the stream is to fail then.
        """
        if self._fails_on_loss:
            raise SourceError(reason, hint="failOnDataLoss=false goes on with what is there")
        sys.stderr.write(f"kraftops: {reason}; the stream goes on with what is there\n")


if HAS_LIMITS:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxBytes,
        SupportsTriggerAvailableNow,
    )

    class LimitedStreamReader(StreamReader, SupportsTriggerAvailableNow):
        """Reader that Spark asks for a part of what is there."""

        def __init__(
            self, followed: Followed, *, fails_on_loss: bool, max_bytes: int | None
        ) -> None:
            """Read what is *followed*, about *max_bytes* a batch."""
            super().__init__(followed, fails_on_loss=fails_on_loss)
            self._max_bytes = max_bytes
            self._target: Marks | None = None

        def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's
            return ReadAllAvailable() if self._max_bytes is None else ReadMaxBytes(self._max_bytes)

        def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's
            """Stop the query at the present ends (`Trigger.AvailableNow`)."""
            with _answering():
                self._target = self._followed.latest()

        def latestOffset(self, start: Mapping[str, Any], limit: ReadLimit) -> Offset:  # type: ignore[override]  # noqa: N802 - Spark's
            """Return the ends of the next batch."""
            with _answering():
                target = self._target
                ends = self._looked() if target is None else target
                most = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
                marks = _marks(start)
                next_marks = self._followed.step(marks, ends, most)
                if next_marks == marks:
                    return dict(start)
                is_first = start.get(_FIRST) is True
                first = {_FIRST: marks_to_json(marks)} if is_first else {}
                return {_LOGS: marks_to_json(next_marks), **first}

        def reportLatestOffset(self) -> Offset:  # noqa: N802 - Spark's
            """Return the ends of the last look, for the progress of the query."""
            with _answering():
                marks = self._followed.latest() if self._last is None else self._last
                return {_LOGS: marks_to_json(marks)}


def _marks(offset: Mapping[str, Any]) -> Marks:
    """Return the marks of an offset; those of 0.2 have them by the names of logs."""
    logs = offset.get(_LOGS)
    return marks_from_json(offset if logs is None or "file" in logs else logs)


def _begin(start: Mapping[str, Any], end: Mapping[str, Any]) -> Marks:
    """Return where a batch begins, also if it is the first one, and is read again.

    A snapshot that was not read then may be gone: the present one is in its place.
    """
    first, marks = end.get(_FIRST), _marks(start)
    if start.get(_FIRST) is not True or first is None:
        return marks
    if first is True:
        return _marks(end)
    return {
        name: marks.get(name, mark) if mark.is_unread_snapshot else mark
        for name, mark in marks_from_json(first).items()
    }


def stream_reader(options: SourceOptions, stream: StreamOptions, table: Shape) -> StreamReader:
    followed: Followed = (
        DirectoryStream(options, stream, table)
        if stream.quorum is None
        else QuorumStream(stream.quorum, options, stream, table)
    )
    fails = stream.fails_on_loss
    if not HAS_LIMITS:
        return StreamReader(followed, fails_on_loss=fails)
    return LimitedStreamReader(followed, fails_on_loss=fails, max_bytes=stream.max_bytes)
