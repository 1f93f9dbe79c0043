"""Requests that change the voters of the quorum (KIP-853): to its leader, or by any broker."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from kraftops.errors import RefusedError
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.codec import Answer
from kraftops.wire.rpc.connection import Connection, refuse_error
from kraftops.wire.rpc.error_codes import UNSUPPORTED_VERSION

Listener = tuple[str, Address]
"""The name and the address of a listener."""
STATIC_HINT = (
    "from Kafka 4.1 on, kafka-features upgrade --feature kraft.version=1 makes it dynamic; without"
    " that, a controller gets another disk under its own id: format it with the id of the cluster,"
    " and start it"
)


class NewVoter(NamedTuple):
    """A controller that is to vote: its id, the id of its metadata directory, its listeners."""

    node_id: int
    directory_id: bytes
    listeners: Sequence[Listener]


def add_voter(connection: Connection, voter: NewVoter) -> None:
    """Add a voter; the answer comes when the new set of voters is committed.

    Raises:
        AnswerError: it is refused: 126 if the id votes already, 7 if the leader could not do it in
            its time.
        RefusedError: the voters are static.
        UnknownOutcomeError: there is no answer.
    """
    answer = connection.change(
        "AddRaftVoter",
        cluster_id=None,
        timeout_ms=round(connection.deadline.left * 1000),
        voter_id=voter.node_id,
        voter_directory_id=UUID(bytes=voter.directory_id),
        listeners=[
            {"name": name, "host": address.host, "port": address.port}
            for name, address in voter.listeners
        ],
    )
    _check(connection, answer)


def remove_voter(connection: Connection, node_id: int, directory_id: bytes) -> None:
    """Remove a voter; errors as `add_voter`, 127 if it does not vote."""
    answer = connection.change(
        "RemoveRaftVoter",
        cluster_id=None,
        voter_id=node_id,
        voter_directory_id=UUID(bytes=directory_id),
    )
    _check(connection, answer)


def _check(connection: Connection, answer: Answer) -> None:
    if answer.error_code == UNSUPPORTED_VERSION:
        # AddVoterHandler and RemoveVoterHandler, while kraft.version is 0.
        raise RefusedError(
            f"{connection.address}: the voters are static: {answer.error_message}",
            STATIC_HINT,
            code="static-quorum",
        )
    refuse_error(connection, answer, "ALTER")
