"""Requests to the leader of the quorum, by way of any node of the cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

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


def ask_leader(connection: Connection, connect: Connect, ask: Callable[[Connection], T]) -> T:
    """Ask the leader of the quorum; return the answer.

    Nodes may name a former leader for a while: they are asked again.

    Args:
        connection: To a controller, which is asked itself if it leads or nobody does; or to a
            broker, which forwards the request.
        connect: Makes a connection to another node.
        ask: Asks; raises *AnswerError* if the node does not lead.

    Raises:
        WireError: the leader cannot be reached, or there is none.
    """
    election = connection.deadline.within(_ELECTION_SECONDS)
    while True:
        try:
            leader = _connect_to_leader(connection, connect)
            if not isinstance(leader, WireError):
                return _ask_and_close(leader, connection, ask)
            if election.left < PAUSE:
                raise leader
        except AnswerError as error:
            if error.error_code not in NO_LEADER_CODES or connection.deadline.left < PAUSE:
                raise
        time.sleep(PAUSE)


def _ask_and_close(leader: Connection, known: Connection, ask: Callable[[Connection], T]) -> T:
    """Ask; close the connection, unless it is the one that was *known* before."""
    try:
        return ask(leader)
    finally:
        if leader is not known:
            leader.close()


def _connect_to_leader(connection: Connection, connect: Connect) -> Connection | WireError:
    """Return a connection to the leader that a node names, or why it cannot be reached.

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
