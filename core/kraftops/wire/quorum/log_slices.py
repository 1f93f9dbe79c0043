"""Slices of the metadata log: its end now, and the batches between two positions."""

import time
from collections.abc import Iterator

from kraftops.errors import WireError
from kraftops.wire.net.deadline import PAUSE, Deadline
from kraftops.wire.quorum.fetch import FetchPosition, FetchResult, SnapshotId
from kraftops.wire.quorum.leader_connection import MAX_BYTES
from kraftops.wire.quorum.live_log import LOG_START, Event, LogGone, LogReading, Started

Restart = SnapshotId | FetchPosition
"""A snapshot to begin with again, or a position in the log."""


class LogSlices(LogReading):
    """The log read in slices.

    All methods raise `WireError` if no controller leads or answers within the timeout, and
    `AnswerError` if it is not permitted to read.
    """

    def beginning(self) -> Restart:
        """Start at the newest snapshot, or at offset 0 if the leader still has that."""
        return self.newest_snapshot() or LOG_START

    def end(self) -> FetchPosition:
        """Ask for the high watermark, and the epoch of the batch before it.

        A leader knows it only once a record of its own epoch is committed.
        """
        fetched = self._with_high_watermark(LOG_START, 1)
        return FetchPosition(fetched.high_watermark, self._connection.epoch)

    def cut(self, position: FetchPosition, most: int) -> FetchPosition:
        """Take whole committed batches of about *most* bytes, at least one; return where they end.

        An answer of the leader is the most.
        """
        fetched = self._with_high_watermark(position, MAX_BYTES)
        end, taken = position, 0
        for event, after in self._committed(fetched, position.offset, fetched.high_watermark):
            if taken and taken + event.batch.size > most:
                break
            end, taken = after, taken + event.batch.size
        return end

    def loss(self, place: Restart) -> tuple[str, Restart] | None:
        """Return why the log does not go on from a place, and where it does; None if it does."""
        if isinstance(place, SnapshotId):
            if next(self._connection.snapshot_chunks(place, LOG_START), None) is not None:
                return None
            return f"{self._leader()}: the snapshot {place} is gone", self.beginning()
        fetched = self._connection.fetch(place, max_bytes=1)
        reason = self._why_gone(fetched, place.offset)
        if reason is None:
            return None
        if fetched.snapshot:
            return reason, fetched.snapshot
        assert fetched.diverging
        return reason, FetchPosition(*fetched.diverging)

    def snapshot(self, snapshot: SnapshotId) -> Iterator[Event]:
        """Yield the batches of a snapshot, and `CaughtUp`.

        Raises:
            LogGone: it is gone before all of it is read.
        """
        yield from self._batches_of(snapshot)
        yield self._caught_up(snapshot.end_offset)

    def log(self, start: FetchPosition, stop: int) -> Iterator[Event]:
        """Yield the batches from a position up to the committed offset *stop*, and `CaughtUp`.

        Raises:
            LogGone: they are gone.
        """
        yield Started(self._leader(), None)
        position, deadline = start, Deadline(self._timeout)
        while position.offset < stop:
            fetched = self._connection.fetch(position)
            if reason := self._why_gone(fetched, position.offset):
                raise LogGone(reason)
            before = position
            for batch, after in self._committed(fetched, position.offset, stop):
                position = after
                yield batch
            if position != before:
                deadline = Deadline(self._timeout)
            elif deadline.is_over:
                raise WireError.at(
                    self._leader(), f"no batch at offset {position.offset}, before {stop}"
                )
            else:
                time.sleep(PAUSE)  # a new leader is behind for a moment
        yield self._caught_up(position.offset)

    def _with_high_watermark(self, position: FetchPosition, most: int) -> FetchResult:
        for _ in Deadline(self._timeout).attempts():
            fetched = self._connection.fetch(position, max_bytes=most)
            if fetched.high_watermark >= 0:
                return fetched
        raise WireError.at(
            self._leader(), "the leader knows no high watermark yet", hint="try again later"
        )
