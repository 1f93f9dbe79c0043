"""The metadata log of a running cluster: the newest snapshot, then the log, as it grows."""

import time
from collections.abc import Callable, Iterator
from struct import Struct
from typing import NamedTuple, Self

from kraftops.errors import SourceError, WireError
from kraftops.log.batch import LOG_OVERHEAD, SMALLEST_LENGTH, Batch
from kraftops.log.reader import LARGEST_BATCH
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import PAUSE, Deadline
from kraftops.wire.quorum.fetch import FetchPosition, FetchResult, SnapshotId
from kraftops.wire.quorum.leader_connection import LeaderConnection
from kraftops.wire.rpc.endpoints import Endpoints

_WAIT_MS = 500  # the leader appends a record as often
LOG_START = FetchPosition(0, 0)
# Before Kafka 4.0, a controller that has the log from offset 0 on serves it from there, even if it
# has a snapshot. A reader at offset 1 with epoch 0, before all snapshots, is sent to the latest.
SNAPSHOT_PROBE = FetchPosition(1, 0)


class Started(NamedTuple):
    """Start of a reading from nothing, which makes all earlier events void.

    It starts with the snapshot, or without one at the first offset of the log.
    """

    endpoint: Address
    snapshot: SnapshotId | None


class LiveBatch(NamedTuple):
    """A batch, with its position in the snapshot, or -1 in the log."""

    endpoint: Address
    batch: Batch
    is_of_snapshot: bool


class CaughtUp(NamedTuple):
    """End of the committed log: all before *offset* has been read."""

    endpoint: Address
    offset: int
    leader: int
    epoch: int


Event = Started | LiveBatch | CaughtUp


class LogGone(SourceError):
    """The log from the next offset on, or its snapshot, is gone."""


class LogReading:
    """A reading of the metadata log of the quorum's leader; a context manager.

    It changes nothing, and the quorum does not list the reader as an observer.
    """

    def __init__(self, target: Endpoints, *, note: Callable[[str], None] = lambda _: None) -> None:
        """Make one without connecting; *note* gets a line for each restart or lost leader."""
        self._timeout = target.settings.timeout
        self._connection = LeaderConnection(target, note)
        self._position = LOG_START

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; reading on opens another one."""
        self._connection.close()

    def newest_snapshot(self) -> SnapshotId | None:
        """Ask where the log begins; None if that is offset 0, so that no snapshot is needed."""
        for position in (LOG_START, SNAPSHOT_PROBE):
            if snapshot := self._connection.fetch(position, max_bytes=1).snapshot:
                return snapshot
        return None

    def _batches_of(self, snapshot: SnapshotId) -> Iterator[Started | LiveBatch]:
        """Yield `Started`, and the batches of a snapshot.

        Raises:
            LogGone: it is gone before all of it is read.
        """
        endpoint = self._leader()
        yield Started(endpoint, snapshot)
        parser = BatchParser(endpoint)
        for chunk in self._connection.snapshot_chunks(snapshot, self._position):
            if chunk is None:
                raise LogGone(
                    f"{endpoint}: the snapshot {snapshot} is gone before all of it is read"
                )
            position, data = chunk
            for batch in parser.batches(data, position):
                yield LiveBatch(endpoint, batch, is_of_snapshot=True)
        if parser.rest:
            raise WireError.at(
                endpoint, f"the snapshot {snapshot} ends within a batch", code="server-error"
            )

    def _why_gone(self, fetched: FetchResult, offset: int) -> str | None:
        """Return why the log does not go on from an offset, by an answer; None if it does."""
        if fetched.snapshot:
            part = f"log from offset {offset} on" if offset else "beginning of the log"
            reason = f"the {part} is gone; the snapshot {fetched.snapshot} replaces it"
        elif fetched.diverging:
            reason = f"the log has another history since offset {fetched.diverging.end_offset}"
        else:
            return None
        return f"{self._leader()}: {reason}"

    def _committed(
        self, fetched: FetchResult, start: int, stop: int
    ) -> Iterator[tuple[LiveBatch, FetchPosition]]:
        """Yield the whole batches of an answer between two offsets, each with the next position."""
        endpoint = self._leader()
        for batch in BatchParser(endpoint).batches(fetched.records, -1):
            after = FetchPosition(*next_offset_and_epoch(batch))
            if after.offset > stop:
                return
            if after.offset > start:
                start = after.offset
                yield LiveBatch(endpoint, batch, is_of_snapshot=False), after

    def _caught_up(self, offset: int) -> CaughtUp:
        return CaughtUp(self._leader(), offset, self._connection.leader, self._connection.epoch)

    def _leader(self) -> Address:
        return self._connection.connect(self._position).address


class LiveLog(LogReading):
    """The log from the newest snapshot on.

    *snapshot* and *offset* (of the next record) are the position of the reader. *has_caught_up*:
    the first `CaughtUp` has been taken, with all that was there at the start.
    """

    def __init__(self, target: Endpoints, *, note: Callable[[str], None] = lambda _: None) -> None:
        """Make one without connecting; *note* gets a line for each restart or lost leader."""
        super().__init__(target, note=note)
        self._note = note
        self._has_read = False
        self.has_caught_up = False
        self.snapshot: SnapshotId | None = None

    @property
    def offset(self) -> int:
        """The next offset to be read."""
        return self._position.offset

    @property
    def endpoint(self) -> Address | None:
        """The controller that is read from, if any."""
        return self._connection.endpoint

    def read(self, *, follow: bool = False) -> Iterator[Event]:
        """Yield events, `Started` first; end with the first `CaughtUp` unless *follow*.

        With *follow*, `CaughtUp` comes about twice a second, and `Started` again if the log from
        here on is gone. Batches come whole, once and in order between two `Started`.

        Raises:
            WireError: no controller leads, or none answers, within the timeout.
            AnswerError: it is not permitted to read.
        """
        restarts = Deadline(self._timeout)
        while True:
            self._has_read = False
            try:
                yield from self._start()
                yield from self._log(follow=follow)
            except LogGone as gone:
                reason = gone.message
            else:
                return
            self._note(reason)
            if self._has_read:
                restarts = Deadline(self._timeout)
            elif restarts.is_over:
                raise WireError(reason, hint="try again later")
            else:
                time.sleep(PAUSE)

    def _start(self) -> Iterator[Event]:
        """Yield `Started`, and the newest snapshot; the log goes on after it."""
        self._position = LOG_START
        self.snapshot = self.newest_snapshot()
        if self.snapshot is None:
            # The voters with which a dynamic quorum is formatted are in the log, too: Kafka does
            # not send the snapshot that has them.
            yield Started(self._leader(), None)
            return
        for event in self._batches_of(self.snapshot):
            self._has_read = isinstance(event, LiveBatch)
            yield event
        self._position = FetchPosition(*self.snapshot)

    def _log(self, *, follow: bool) -> Iterator[Event]:
        """Yield the log from here on: to the present high watermark, or without end."""
        end: int | None = None
        while True:
            wait_ms = _WAIT_MS if follow and end is not None else 0
            fetched = self._connection.fetch(self._position, wait_ms=wait_ms)
            if reason := self._why_gone(fetched, self.offset):
                raise LogGone(reason)
            for batch, after in self._committed(fetched, self.offset, fetched.high_watermark):
                self._position, self._has_read = after, True
                yield batch
            if fetched.high_watermark < 0:
                continue
            if end is None:
                end = fetched.high_watermark
            if self.offset >= (fetched.high_watermark if follow else end):
                yield self._caught_up(self.offset)
                self.has_caught_up = True
                if not follow:
                    return


_HEADER = Struct(">qii")  # base offset, length, leader epoch
_LAST_OFFSET_DELTA = Struct(">i")
_LAST_OFFSET_DELTA_AT = 23  # `DefaultRecordBatch.LAST_OFFSET_DELTA_OFFSET`
_HEADER_SIZE = 27  # up to the end of that field: the rest of the header is not looked at


class BatchParser:
    """Parser of one stream of bytes; *rest* is the begun batch at the end of the last part."""

    def __init__(self, endpoint: Address) -> None:
        """Begin with nothing; *endpoint* is for errors."""
        self._endpoint = endpoint
        self.rest = b""

    def batches(self, data: bytes, position: int) -> Iterator[Batch]:
        """Yield the batches that are complete now; *position* is the position of *data*, or -1.

        Raises:
            WireError: a batch has an impossible size.
        """
        pos = 0
        if self.rest:
            # Only the begun batch is joined: to join all of them would copy every byte.
            joined = self.rest + data[:_HEADER_SIZE]
            size = self._size(joined, 0) if len(joined) >= _HEADER_SIZE else len(joined) + 1
            pos = size - len(self.rest)
            if pos > len(data):
                self.rest += data
                return
            yield Batch(position - len(self.rest), size, self.rest + data[:pos])
        while pos + _HEADER_SIZE <= len(data):
            size = self._size(data, pos)
            if pos + size > len(data):
                break
            yield Batch(position + pos if position >= 0 else -1, size, data[pos : pos + size])
            pos += size
        self.rest = data[pos:]

    def _size(self, data: bytes, pos: int) -> int:
        size = LOG_OVERHEAD + int(_HEADER.unpack_from(data, pos)[1])
        if not LOG_OVERHEAD + SMALLEST_LENGTH < size <= LARGEST_BATCH:
            raise WireError.at(
                self._endpoint, f"a batch of {size} bytes, which none can have", code="server-error"
            )
        return size


def next_offset_and_epoch(batch: Batch) -> tuple[int, int]:
    """Unpack from a header of magic 2 the offset after a batch, and its leader epoch."""
    base_offset, _, epoch = _HEADER.unpack_from(batch.data)
    delta = _LAST_OFFSET_DELTA.unpack_from(batch.data, _LAST_OFFSET_DELTA_AT)[0]
    return base_offset + delta + 1, epoch
