"""Connection to the leader of the quorum, which moves to another node with the leadership."""

import time
from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

from kraftops.errors import AnswerError, WireError
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import PAUSE, Deadline
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
from kraftops.wire.rpc.bootstrap import all_failed, answering
from kraftops.wire.rpc.connection import Connection, NodeKind, PendingRequest
from kraftops.wire.rpc.endpoints import Endpoints
from kraftops.wire.rpc.leader import no_leader

T = TypeVar("T")
MAX_BYTES = 2 << 20
"""Bytes of an answer: twice as many take longer."""
_MAX_EPOCH_CORRECTIONS = 4  # by answers of one controller: each takes another election


class LeaderConnection:
    """Fetches from the leader; it connects when it is asked, and again after `close`."""

    def __init__(self, target: Endpoints, note: Callable[[str], None]) -> None:
        """Make one without connecting; *note* is called when the leader is lost."""
        self._target = target
        self._timeout = target.settings.timeout
        self._note = note
        self._leadership = _Leadership(target)
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
        """Continue reading at a position, from another node if the leader changes.

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


class _Leadership:
    """The known leader and epoch, and all addresses of controllers that were named.

    The answer of any controller to a Fetch names the leader, and needs only the permission to
    read the log.
    """

    def __init__(self, target: Endpoints) -> None:
        """Begin with the addresses of *target*."""
        self.epoch = 0
        self.leader = -1
        self._has_answer = False
        self._target = target
        self._known = {bootstrap.address: None for bootstrap in target.bootstrap}  # in their order
        self._addresses = {
            bootstrap.node_id: bootstrap.address
            for bootstrap in target.bootstrap
            if bootstrap.node_id is not None
        }

    def connect(self, position: FetchPosition, deadline: Deadline) -> Connection:
        """Ask one controller after another for a Fetch from *position*; only the leader answers.

        Once a controller has answered, the others are tried again until the deadline.

        Raises:
            WireError: no controller leads by then, or none answers; the message has the reasons.
            AuthError: a controller refuses the login.
        """
        failed: dict[Address, WireError] = {}
        followers: set[Address] = set()  # of all rounds: the deadline may cut the last one short
        while True:
            for connection in answering(
                self._addresses_besides(failed), self._target.settings, deadline, failed
            ):
                if self._is_leader(connection, position, deadline, failed):
                    return connection
                if self._addresses.get(self.leader, connection.address) not in failed:
                    break  # the leader that it names has a head start then
            else:
                followers |= {
                    address for address, error in failed.items() if error.code == "no-leader"
                }
                if deadline.left < PAUSE or not self._has_answer:
                    if followers and self.leader < 0:
                        raise no_leader(len(followers), len(followers | failed.keys()))
                    raise all_failed([*failed.values()], len(failed))
                time.sleep(PAUSE)
                failed = {}

    def _addresses_besides(self, failed: Collection[Address]) -> list[Address]:
        """Order the addresses that have not *failed*: the named leader comes first."""
        named = self._addresses.get(self.leader)
        addresses = dict.fromkeys([named] if named else []) | self._known
        return [address for address in addresses if address not in failed]

    def _is_leader(
        self,
        connection: Connection,
        position: FetchPosition,
        deadline: Deadline,
        failed: dict[Address, WireError],
    ) -> bool:
        """Tell whether the leader answers there; otherwise close it, and put the reason there."""
        address = connection.address
        try:
            if connection.kind is NodeKind.BROKER:
                failed[address] = WireError.at(
                    address,
                    "a broker answers there, not a controller",
                    hint="the metadata log is read from controllers only",
                    code="wrong-node",
                )
            else:
                leads = self._leads(connection, position, deadline)
                self._has_answer = True
                if leads:
                    return True
                failed[address] = WireError.at(
                    address,
                    f"it does not lead the quorum: controller {self.leader} leads, it says",
                    hint="give the addresses of all controllers",
                    code="no-leader",
                )
        except AnswerError:
            connection.close()
            raise  # it refuses, and so would the others
        except WireError as error:
            failed[address] = error
        connection.close()
        return False

    def _leads(self, connection: Connection, position: FetchPosition, deadline: Deadline) -> bool:
        """Tell whether a controller leads; otherwise take leader and epoch from its answer."""
        for _ in range(_MAX_EPOCH_CORRECTIONS):
            request = FetchRequest(
                position=position,
                leader_epoch=self.epoch,
                max_bytes=1,
                wait_ms=0,
                cluster_id=self._target.cluster_id,
            )
            fetched = fetch(connection, request, deadline)
            if fetched.error not in WRONG_LEADER_CODES:
                if fetched.error:
                    raise connection.error_of(fetched.error, None)
                self._known.setdefault(connection.address)
                return True
            is_new = fetched.epoch > self.epoch
            self.epoch = max(fetched.epoch, self.epoch)
            self.leader = fetched.leader
            if fetched.leader >= 0 and fetched.leader_address:
                self._addresses[fetched.leader] = fetched.leader_address
                self._known.setdefault(fetched.leader_address)
            if not is_new:
                return False
        return False
