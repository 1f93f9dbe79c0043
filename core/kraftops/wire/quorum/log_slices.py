"""Slices of the metadata log: its end now, and the batches between two positions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Self

from kraftops.errors import SourceError, WireError
from kraftops.log.batch import Batch
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import PAUSE, Deadline
from kraftops.wire.quorum.batch_parser import BatchParser, next_offset_and_epoch
from kraftops.wire.quorum.fetch import FetchPosition, FetchResult, SnapshotId
from kraftops.wire.quorum.leader_connection import MAX_BYTES, LeaderConnection
from kraftops.wire.quorum.live_log import (
    LOG_START,
    SNAPSHOT_PROBE,
    CaughtUp,
    Event,
    LiveBatch,
    Started,
)
from kraftops.wire.rpc.endpoints import Endpoints

Restart = SnapshotId | FetchPosition
"""A snapshot to begin with again, or a position in the log."""


class LogSlices:
    """The metadata log of the quorum's leader, read in slices; a context manager.

    All methods raise `WireError` if no controller leads or answers within the timeout, and
    `AnswerError` if it is not permitted to read.
    """

    def __init__(self, target: Endpoints, *, note: Callable[[str], None] = lambda _: None) -> None:
        """Make one without connecting; *note* gets a line for each lost leader."""
        self._timeout = target.settings.timeout
        self._connection = LeaderConnection(target, note)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; reading on opens another one."""
        self._connection.close()

    def beginning(self) -> Restart:
        """Return the newest snapshot, or the first position if the log is whole."""
        for position in (LOG_START, SNAPSHOT_PROBE):
            fetched = self._connection.fetch(position, max_bytes=1)
            if fetched.snapshot:
                return fetched.snapshot
        return LOG_START

    def end(self) -> FetchPosition:
        """Return the high watermark, and the epoch of the batch before it.

        A leader knows it only once a record of its own epoch is committed.
        """
        fetched = self._with_high_watermark(LOG_START, 1)
        return FetchPosition(fetched.high_watermark, self._connection.epoch)

    def cut(self, position: FetchPosition, most: int) -> FetchPosition:
        """Return the position after about *most* bytes of committed batches, at least one.

        An answer of the leader is the most.
        """
        fetched = self._with_high_watermark(position, MAX_BYTES)
        end, taken = position, 0
        for batch in self._committed(fetched, position.offset, fetched.high_watermark):
            if taken and taken + batch.size > most:
                break
            end, taken = FetchPosition(*next_offset_and_epoch(batch)), taken + batch.size
        return end

    def loss(self, place: Restart) -> tuple[str, Restart] | None:
        """Return why the log does not go on from a place, and where it does; None if it does."""
        if isinstance(place, SnapshotId):
            if next(self._connection.snapshot_chunks(place, LOG_START), None) is not None:
                return None
            return f"{self._leader()}: the snapshot {place} is gone", self.beginning()
        fetched = self._connection.fetch(place, max_bytes=1)
        if fetched.snapshot and place.offset:
            reason = f"the log from offset {place.offset} on is gone"
        elif fetched.snapshot:
            reason = "the beginning of the log is gone"
        elif fetched.diverging:
            reason = f"the log has another history since offset {fetched.diverging.end_offset}"
            return f"{self._leader()}: {reason}", FetchPosition(*fetched.diverging)
        else:
            return None
        reason = f"{reason}; the snapshot {fetched.snapshot} replaces it"
        return f"{self._leader()}: {reason}", fetched.snapshot

    def snapshot(self, snapshot: SnapshotId) -> Iterator[Event]:
        """Yield the batches of a snapshot, and `CaughtUp`.

        Raises:
            SourceError: it is gone before all of it is read.
        """
        endpoint = self._leader()
        yield Started(endpoint, snapshot)
        parser = BatchParser(endpoint)
        for chunk in self._connection.snapshot_chunks(snapshot, LOG_START):
            if chunk is None:
                raise SourceError(f"{endpoint}: the snapshot {snapshot} is gone")
            position, data = chunk
            for batch in parser.batches(data, position):
                yield LiveBatch(endpoint, batch, is_of_snapshot=True)
        yield self._caught_up(snapshot.end_offset)

    def log(self, start: FetchPosition, stop: int) -> Iterator[Event]:
        """Yield the batches from a position up to the committed offset *stop*, and `CaughtUp`.

        Raises:
            SourceError: they are gone.
        """
        yield Started(self._leader(), None)
        position, deadline = start, Deadline(self._timeout)
        while position.offset < stop:
            fetched = self._connection.fetch(position)
            if fetched.snapshot or fetched.diverging:
                raise SourceError(
                    f"{self._leader()}: the log from offset {position.offset} on is gone"
                )
            before = position
            for batch in self._committed(fetched, position.offset, stop):
                position = FetchPosition(*next_offset_and_epoch(batch))
                yield LiveBatch(self._leader(), batch, is_of_snapshot=False)
            if position != before:
                deadline = Deadline(self._timeout)
            elif deadline.is_over:
                raise WireError.at(
                    self._leader(), f"no batch at offset {position.offset}, before {stop}"
                )
            else:
                time.sleep(PAUSE)  # a new leader is behind for a moment
        yield self._caught_up(position.offset)

    def _caught_up(self, offset: int) -> CaughtUp:
        return CaughtUp(self._leader(), offset, self._connection.leader, self._connection.epoch)

    def _committed(self, fetched: FetchResult, start: int, stop: int) -> Iterator[Batch]:
        """Yield the whole batches of an answer between two offsets."""
        for batch in BatchParser(self._leader()).batches(fetched.records, -1):
            next_offset, _ = next_offset_and_epoch(batch)
            if next_offset > stop:
                return
            if next_offset > start:
                yield batch

    def _with_high_watermark(self, position: FetchPosition, most: int) -> FetchResult:
        deadline = Deadline(self._timeout)
        while True:
            fetched = self._connection.fetch(position, max_bytes=most)
            if fetched.high_watermark >= 0:
                return fetched
            if deadline.is_over:
                raise WireError.at(
                    self._leader(), "the leader knows no high watermark yet", hint="try again later"
                )
            time.sleep(PAUSE)

    def _leader(self) -> Address:
        return self._connection.connect(LOG_START).address
