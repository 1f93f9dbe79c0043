"""Connection to the leader of the quorum, which moves to another node with the leadership."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from kraftops.errors import AnswerError, WireError
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.quorum.fetch import (
    WRONG_LEADER_CODES,
    FetchPosition,
    FetchRequest,
    FetchResult,
    SnapshotChunk,
    SnapshotId,
    SnapshotRequest,
    fetch,
    receive_snapshot_chunk,
    send_snapshot_request,
)
from kraftops.wire.quorum.leadership import Leadership
from kraftops.wire.rpc.connection import Connection, PendingRequest
from kraftops.wire.rpc.endpoints import Endpoints

T = TypeVar("T")
MAX_BYTES = 2 << 20
"""Bytes of an answer: twice as many take longer."""


class LeaderConnection:
    """Fetches from the leader; it connects when it is asked, and again after `close`."""

    def __init__(self, target: Endpoints, note: Callable[[str], None]) -> None:
        """Make one without connecting; *note* is called when the leader is lost."""
        self._target = target
        self._timeout = target.settings.timeout
        self._note = note
        self._leadership = Leadership(target)
        self._connection: Connection | None = None

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None

    @property
    def endpoint(self) -> Address | None:
        return self._connection.address if self._connection else None

    @property
    def leader(self) -> int:
        """The node id of the leader, -1 if unknown."""
        return self._leadership.leader

    @property
    def epoch(self) -> int:
        return self._leadership.epoch

    def connect(self, position: FetchPosition, deadline: Deadline | None = None) -> Connection:
        """Find the leader if there is no connection to it yet, by a Fetch from *position*.

        Raises:
            WireError: no controller leads, or none answers.
        """
        if self._connection is None:
            deadline = deadline or Deadline(self._timeout)
            self._connection = self._leadership.connect(position, deadline)
        return self._connection

    def fetch(
        self, position: FetchPosition, *, max_bytes: int = MAX_BYTES, wait_ms: int = 0
    ) -> FetchResult:
        """Read on from a position, from another node if the leader changes meanwhile.

        Raises:
            WireError: no controller leads, or none answers, within the timeout.
            AnswerError: it is not permitted.
        """
        deadline = Deadline(self._timeout)
        while True:
            connection = self.connect(position, deadline)
            request = FetchRequest(
                position=position,
                leader_epoch=self.epoch,
                max_bytes=max_bytes,
                wait_ms=wait_ms,
                cluster_id=self._target.cluster_id,
            )
            connect_timeout = self._target.settings.connect_timeout
            try:
                fetched = fetch(
                    connection, request, deadline.within(connect_timeout + wait_ms / 1000)
                )
            except AnswerError:
                raise
            except WireError as error:
                self.close()
                if deadline.is_over:
                    raise
                self._note(f"{error.message}; looking for who leads")
                continue
            if fetched.error in WRONG_LEADER_CODES:
                self.close()
            elif fetched.error:
                raise connection.error_of(fetched.error, None)
            else:
                return fetched

    def snapshot_chunks(
        self, snapshot: SnapshotId, position: FetchPosition
    ) -> Iterator[tuple[int, bytes] | None]:
        """Yield the parts of a snapshot with their positions; None at last, if it is gone.

        While the caller works on a part, the next one is already asked for. *position* is for
        `connect`.
        """
        start = 0
        pending = self._send(snapshot, start, position)
        while True:
            chunk = self._receive(pending, start) if pending else None
            if chunk is None:
                yield None
                return
            end = start + len(chunk.data)
            if end < chunk.size:
                pending = self._send(snapshot, end, position)
            yield start, chunk.data
            if end >= chunk.size:
                return
            start = end

    def _send(
        self, snapshot: SnapshotId, start: int, position: FetchPosition
    ) -> PendingRequest | None:
        """Ask for a part of a snapshot; return None if the leader is gone."""

        def send() -> PendingRequest:
            leader, cluster_id = self.connect(position), self._target.cluster_id
            request = SnapshotRequest(
                snapshot=snapshot,
                leader_epoch=self.epoch,
                position=start,
                max_bytes=MAX_BYTES,
                cluster_id=cluster_id,
            )
            return send_snapshot_request(leader, request, Deadline(self._timeout))

        return self._unless_gone(send)

    def _receive(self, pending: PendingRequest, start: int) -> SnapshotChunk | None:
        """Receive a part of a snapshot; None if that is gone, or the leader."""
        if (leader := self._connection) is None:
            return None
        deadline = Deadline(self._timeout)
        return self._unless_gone(lambda: receive_snapshot_chunk(leader, pending, start, deadline))

    def _unless_gone(self, act: Callable[[], T]) -> T | None:
        """Act; return None if the leader is gone."""
        try:
            return act()
        except AnswerError:
            raise
        except WireError:
            self.close()
            return None
