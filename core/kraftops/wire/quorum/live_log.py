"""The metadata log of a running cluster: the newest snapshot, then the log, and how it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from typing import NamedTuple, Self

from kraftops.errors import AnswerError, WireError
from kraftops.log.batch import LOG_OVERHEAD, SMALLEST_LENGTH, Batch
from kraftops.log.reader import LARGEST_BATCH
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import PAUSE, Deadline
from kraftops.wire.quorum.fetching import (
    WRONG_LEADER,
    Chunk,
    Fetched,
    Place,
    SnapshotId,
    ask_for_snapshot,
    fetch,
    snapshot_chunk,
)
from kraftops.wire.quorum.leadership import Leadership
from kraftops.wire.rpc.connection import Connection, Sent

_MOST = 2 << 20  # bytes of an answer: twice as many take longer
_WAIT_MS = 500  # the leader appends something as often
_BEGINNING = Place(0, 0)
# Before Kafka 4.0 a log that goes back to offset 0 is given from there on, but not to readers of
# epoch 0, before all snapshots, beyond its first record: they are told of the latest snapshot.
_PROBE = Place(1, 0)
_HEAD = Struct(">qii")  # base offset, length, leader epoch
_DELTA = Struct(">i")
_DELTA_AT = 23
_WHOLE_HEAD = 27


class Begins(NamedTuple):
    """Reading begins, from nothing: all that was read before is void.

    It begins with the snapshot, or, if that is None, with the first offset of the log.
    """

    endpoint: Address
    snapshot: SnapshotId | None


class LiveBatch(NamedTuple):
    """A batch; its position is that in the snapshot, or -1 if it is of the log."""

    endpoint: Address
    batch: Batch
    is_of_snapshot: bool


class CaughtUp(NamedTuple):
    """All that is committed has been read, up to the offset before this one."""

    endpoint: Address
    offset: int
    leader: int
    epoch: int


Event = Begins | LiveBatch | CaughtUp


class LiveLog:
    """The metadata log as its quorum's leader has it; a context manager.

    Reading changes nothing, and shows among no observers. *snapshot*, *offset* (of the next
    record) and *endpoint* tell where it is.
    """

    def __init__(
        self,
        bootstrap: Sequence[Bootstrap],
        settings: Settings,
        *,
        cluster_id: str | None = None,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Make one; nothing is asked yet.

        Args:
            bootstrap: Controllers to begin with.
            settings: How to reach them; its timeout is how long nothing may come.
            cluster_id: The one that is expected, if any.
            note: Gets a line for each thing that readers may want to know.
        """
        self._settings = settings
        self._cluster_id = cluster_id
        self._note = note
        self._leadership = Leadership(bootstrap, settings, cluster_id)
        self._connection: Connection | None = None
        self._place = _BEGINNING
        self._has_read = False
        self.snapshot: SnapshotId | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; reading on opens another one."""
        if self._connection:
            self._connection.close()
        self._connection = None

    @property
    def offset(self) -> int:
        """The next offset to be read."""
        return self._place.offset

    @property
    def endpoint(self) -> Address | None:
        """The controller that is read from, if any."""
        return self._connection.address if self._connection else None

    def read(self, *, follow: bool = False) -> Iterator[Event]:
        """Yield what there is, `Begins` first; end with the first `CaughtUp` unless *follow*.

        Following, `CaughtUp` comes about twice a second, and `Begins` again where the log from
        here on is gone. Batches come whole, once and in order, unless `Begins` is between them.

        Raises:
            WireError: for as long as the timeout nobody leads, or answers.
            AnswerError: it is not permitted to read.
        """
        restarts = Deadline(self._settings.timeout)
        while True:
            self._has_read = False
            try:
                yield from self._begin()
                yield from self._log(follow=follow)
                return
            except _Gone as gone:
                reason = gone.reason
            self._note(reason)
            if self._has_read:
                restarts = Deadline(self._settings.timeout)
            elif restarts.is_over:
                raise WireError(reason, hint="try again later")
            else:
                time.sleep(PAUSE)

    def _begin(self) -> Iterator[Event]:
        """Yield the newest snapshot."""
        self._place = _BEGINNING
        found = self._fetched(_BEGINNING, most=1, wait_ms=0)
        if not found.snapshot:
            found = self._fetched(_PROBE, most=1, wait_ms=0)
        if found.snapshot:
            yield from self._load(found.snapshot)
        else:
            # What a dynamic quorum is formatted with, its voters, is in the log too: Kafka does
            # not hand out the snapshot of that.
            self.snapshot = None
            yield Begins(self._leader().address, None)

    def _load(self, snapshot: SnapshotId) -> Iterator[Event]:
        """Yield a snapshot; the log goes on behind it."""
        endpoint = self._leader().address
        self.snapshot = snapshot
        yield Begins(endpoint, snapshot)
        parser = _Batches(endpoint)
        for position, data in self._chunks(snapshot, endpoint):
            for batch in parser.batches(data, position):
                self._has_read = True
                yield LiveBatch(endpoint, batch, is_of_snapshot=True)
        if parser.rest:
            raise WireError(f"{endpoint}: the snapshot {snapshot} ends within a batch")
        self._place = Place(*snapshot)

    def _chunks(self, snapshot: SnapshotId, endpoint: Address) -> Iterator[tuple[int, bytes]]:
        """Yield the parts of a snapshot with their positions.

        While one is looked at, the controller has been asked for the next already.
        """
        position = 0
        asked = self._ask_for(snapshot, position)
        while True:
            chunk = self._chunk(asked, position) if asked else None
            if chunk is None:
                raise _Gone(f"{endpoint}: the snapshot {snapshot} is gone before all of it is read")
            begin, position = position, position + len(chunk.data)
            if position < chunk.size:
                asked = self._ask_for(snapshot, position)
            yield begin, chunk.data
            if position >= chunk.size:
                return

    def _ask_for(self, snapshot: SnapshotId, position: int) -> Sent | None:
        """Ask for a part of a snapshot; None if the leader is gone."""
        try:
            return ask_for_snapshot(
                self._leader(),
                snapshot,
                self._leadership.epoch,
                position,
                most=_MOST,
                cluster_id=self._cluster_id,
                deadline=Deadline(self._settings.timeout),
            )
        except AnswerError:
            raise
        except WireError:
            self.close()
            return None

    def _chunk(self, asked: Sent, position: int) -> Chunk | None:
        """Return the part of a snapshot that was asked for; None if it is gone, or the leader."""
        if self._connection is None:
            return None
        try:
            deadline = Deadline(self._settings.timeout)
            return snapshot_chunk(self._connection, asked, position, deadline)
        except AnswerError:
            raise
        except WireError:
            self.close()
            return None

    def _log(self, *, follow: bool) -> Iterator[Event]:
        """Yield the log from here on, to the high watermark of now or for ever."""
        end: int | None = None
        while True:
            wait_ms = _WAIT_MS if follow and end is not None else 0
            found = self._fetched(self._place, most=_MOST, wait_ms=wait_ms)
            endpoint = self._leader().address
            if found.snapshot:
                raise _Gone(
                    f"{endpoint}: the log from offset {self.offset} on is gone;"
                    f" the snapshot {found.snapshot} replaces it"
                )
            if found.diverging:
                raise _Gone(
                    f"{endpoint}: the log has another history since offset"
                    f" {found.diverging.end_offset}"
                )
            yield from self._committed(found, endpoint)
            if found.high_watermark < 0:
                continue
            if end is None:
                end = found.high_watermark
            if self.offset >= (found.high_watermark if follow else end):
                yield CaughtUp(
                    endpoint, self.offset, self._leadership.leader, self._leadership.epoch
                )
                if not follow:
                    return

    def _committed(self, found: Fetched, endpoint: Address) -> Iterator[Event]:
        """Yield the whole batches of an answer below its high watermark."""
        for batch in _Batches(endpoint).batches(found.records, -1):
            base, _, epoch = _HEAD.unpack_from(batch.data)
            behind = base + _DELTA.unpack_from(batch.data, _DELTA_AT)[0] + 1
            if behind > found.high_watermark:
                return
            if behind > self.offset:
                self._place = Place(behind, epoch)
                self._has_read = True
                yield LiveBatch(endpoint, batch, is_of_snapshot=False)

    def _fetched(self, place: Place, *, most: int, wait_ms: int) -> Fetched:
        """Return the answer of the leader, whoever that is meanwhile."""
        deadline = Deadline(self._settings.timeout)
        while True:
            connection = self._leader(deadline)
            patience = deadline.within(self._settings.connect_timeout + wait_ms / 1000)
            try:
                found = fetch(
                    connection,
                    place,
                    self._leadership.epoch,
                    most=most,
                    wait_ms=wait_ms,
                    cluster_id=self._cluster_id,
                    deadline=patience,
                )
            except AnswerError:
                raise
            except WireError as error:
                self.close()
                if deadline.is_over:
                    raise
                self._note(f"{error.message}; looking for who leads")
                continue
            if found.error in WRONG_LEADER:
                self.close()
            elif found.error:
                raise connection.fail(found.error, None)
            else:
                return found

    def _leader(self, deadline: Deadline | None = None) -> Connection:
        if self._connection is None:
            self._connection = self._leadership.connect(
                self._place, deadline or Deadline(self._settings.timeout)
            )
        return self._connection


class _Gone(Exception):
    """What was being read is there no more: begin again."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Batches:
    """Whole batches out of bytes that come in parts; *rest* is what is left of the last part."""

    def __init__(self, endpoint: Address) -> None:
        self._endpoint = endpoint
        self.rest = b""

    def batches(self, data: bytes, position: int) -> Iterator[Batch]:
        """Yield the batches that are whole now; *position* is that of *data*, -1 if none."""
        pos = 0
        if self.rest:
            # Only the batch that the last part has begun is put together: the others are many.
            joined = self.rest + data[:_WHOLE_HEAD]
            size = self._size(joined, 0) if len(joined) >= _WHOLE_HEAD else len(joined) + 1
            pos = size - len(self.rest)
            if pos > len(data):
                self.rest += data
                return
            yield Batch(position - len(self.rest), size, self.rest + data[:pos])
        while pos + _WHOLE_HEAD <= len(data):
            size = self._size(data, pos)
            if pos + size > len(data):
                break
            yield Batch(position + pos if position >= 0 else -1, size, data[pos : pos + size])
            pos += size
        self.rest = data[pos:]

    def _size(self, data: bytes, pos: int) -> int:
        size = LOG_OVERHEAD + int(_HEAD.unpack_from(data, pos)[1])
        if not LOG_OVERHEAD + SMALLEST_LENGTH < size <= LARGEST_BATCH:
            raise WireError(f"{self._endpoint}: a batch of {size} bytes, which none can have")
        return size
