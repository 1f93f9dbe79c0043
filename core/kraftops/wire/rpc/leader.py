"""Requests to the leader of the quorum, by way of any node of the cluster."""

import time
from collections.abc import Callable
from typing import Self, TypeVar

from kraftops.display.sizes import many
from kraftops.errors import AnswerError, AuthError, WireError
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import PAUSE
from kraftops.wire.rpc.cluster import describe_cluster
from kraftops.wire.rpc.connection import Connection
from kraftops.wire.rpc.error_codes import NO_LEADER_CODES

T = TypeVar("T")
Connect = Callable[[Address], Connection]

_ELECTION_SECONDS = 5.0
"""Time in which a quorum elects another leader, if it can."""


class LeaderClient:
    """Requests to the leader of the quorum, over one connection; a context manager."""

    def __init__(self, connection: Connection, connect: Connect) -> None:
        """Make one without asking.

        Args:
            connection: To a controller, which is asked itself if it leads or nobody does; or to a
                broker, which forwards requests. Its deadline counts; it is not closed.
            connect: Makes a connection to another node.
        """
        self._node = connection
        self._connect = connect
        self._leader: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._forget()

    def ask(self, ask: Callable[[Connection], T]) -> T:
        """Ask the leader; return the answer.

        Nodes may name a former leader for a while: they are asked again.

        Args:
            ask: Asks; raises *AnswerError* if the node does not lead.

        Raises:
            WireError: the leader cannot be reached, or there is none.
        """
        election = self._node.deadline.within(_ELECTION_SECONDS)
        while True:
            try:
                leader = self._leader or _connect_to_leader(self._node, self._connect)
                if not isinstance(leader, WireError):
                    self._leader = leader
                    leader.deadline = self._node.deadline
                    return ask(leader)
                if election.left < PAUSE:
                    raise leader
            except AnswerError as error:
                if error.error_code not in NO_LEADER_CODES or self._node.deadline.left < PAUSE:
                    raise
                self._forget()
            except WireError:
                self._forget()
                raise
            time.sleep(PAUSE)

    def _forget(self) -> None:
        if self._leader is not None and self._leader is not self._node:
            self._leader.close()
        self._leader = None


def ask_leader(connection: Connection, connect: Connect, ask: Callable[[Connection], T]) -> T:
    """Ask the leader of the quorum once, as `LeaderClient` does; return the answer."""
    with LeaderClient(connection, connect) as leader:
        return leader.ask(ask)


def no_leader(answering: int, count: int) -> WireError:
    """Say that *answering* of *count* controllers run, but none leads: too few for a majority."""
    answer = "answers" if answering == 1 else "answer"
    return WireError(
        f"the quorum has no leader: {answering} of {many(count, 'controller')} {answer}",
        hint="start voters until most of them run; only a leader gives its log away, but kraftops"
        " changes DIR reads it on the host of a controller",
        code="no-leader",
    )


def _connect_to_leader(connection: Connection, connect: Connect) -> Connection | WireError:
    """Follow a node's word who leads; an error is returned, since others may know better.

    The node's own *connection* is returned if it names itself, or no leader.
    """
    cluster = describe_cluster(connection)
    for node in cluster.nodes:
        if node.node_id == cluster.leader and node.address != connection.address:
            try:
                return connect(node.address)
            except AuthError:
                raise
            except WireError as error:
                return error
    return connection
