"""Questions to all controllers side by side: who leads, and who runs without a leader.

A controller answers a Fetch with the leader that it knows, and a leader that most voters do not
follow resigns (`KafkaRaftClient`, Kafka 3.7), so that an answer that lasts is true.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from threading import Event

from kraftops.errors import AuthError, ConfigError, WireError
from kraftops.parallel.background import BackgroundCall
from kraftops.recovery.live_controllers import Addresses, ControllerAnswer
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import PAUSE, Deadline
from kraftops.wire.quorum.fetch import WRONG_LEADER_CODES, FetchPosition, FetchRequest, fetch
from kraftops.wire.rpc.cluster import describe_quorum
from kraftops.wire.rpc.connection import Connection, NodeKind
from kraftops.wire.rpc.error_codes import INCONSISTENT_CLUSTER_ID

_GRACE = 0.5
"""Seconds in which a thread whose time is over still hands its answer in."""


def survey(
    addresses: Addresses, settings: Settings, cluster_id: str | None, seconds: float
) -> Sequence[ControllerAnswer]:
    """Ask all addresses at once, within *seconds*, and keep the answers of this cluster.

    Addresses that do not answer, and those of brokers or of other clusters, are left out.
    """
    end = Deadline(seconds)
    inquiry = _Inquiry(settings, cluster_id, end.within(seconds - _GRACE))
    calls = [
        BackgroundCall(partial(inquiry.ask, Address(host, port), node_id))
        for (host, port), node_id in addresses.items()
    ]
    # A name that is still looked up is an address that does not answer.
    answers = [call.result() for call in calls if call.wait(end.left)]
    return [answer for answer in answers if answer]


class _Inquiry:
    """The question to controllers of a cluster, asked in several threads."""

    def __init__(self, settings: Settings, cluster_id: str | None, deadline: Deadline) -> None:
        self._settings = settings
        self._cluster_id = cluster_id
        self._deadline = deadline
        self._has_leader = Event()

    def ask(self, address: Address, node_id: int | None) -> ControllerAnswer | None:
        """Ask a controller who leads; None if it does not answer, or belongs to another cluster.

        A server that answers at all, and not this, may lead: its refusal is an answer.
        """
        answer = ControllerAnswer(str(address), node_id)
        try:
            connection = Connection(address, self._settings, self._deadline)
        except (AuthError, ConfigError) as error:
            return replace(answer, refusal=error.message)
        except WireError:
            return None
        with connection:
            if connection.kind is NodeKind.BROKER:
                return None
            try:
                return self._answer_of(connection, answer)
            except WireError as error:
                is_other = error.known.get("kafkaErrorCode") == INCONSISTENT_CLUSTER_ID
                return None if is_other else replace(answer, refusal=error.message)

    def _answer_of(self, connection: Connection, answer: ControllerAnswer) -> ControllerAnswer:
        """Ask a follower until it has lost its leader, or another thread has found that."""
        epoch, leader = 0, -1
        while True:
            request = FetchRequest(
                position=FetchPosition(0, 0),
                leader_epoch=epoch,
                max_bytes=1,
                wait_ms=0,
                cluster_id=self._cluster_id,
            )
            try:
                reply = fetch(connection, request, self._deadline)
            except WireError:
                if leader < 0:
                    raise
                return replace(answer, leader=leader, epoch=epoch)  # its last word counts
            if reply.error not in WRONG_LEADER_CODES:
                self._has_leader.set()
                voters = _voters(connection)
                return replace(answer, leader=leader, epoch=epoch, voters=voters)
            is_new = reply.epoch > epoch
            epoch, leader = max(reply.epoch, epoch), reply.leader
            if is_new:
                continue
            if leader < 0:
                return replace(answer, epoch=epoch)
            if self._has_leader.is_set() or self._deadline.left <= PAUSE:
                return replace(answer, leader=leader, epoch=epoch)
            time.sleep(PAUSE)


def _voters(leader: Connection) -> tuple[str, ...]:
    """Ask for voters with their addresses; none where they may not be seen."""
    try:
        quorum = describe_quorum(leader)
    except WireError:
        return ()
    voters = []
    for voter in quorum.voters:
        listeners = quorum.listeners.get(voter.node_id)
        voters.append(f"{voter.node_id}@{listeners[0][1]}" if listeners else f"{voter.node_id}")
    return tuple(voters)
