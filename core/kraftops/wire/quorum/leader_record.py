"""Leader change record for an image that began with a snapshot from a controller.

The record of the present leader may be older than the snapshot: a file of the log still has it, but
controllers do not send it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kraftops.errors import WireError
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.store import inflated_batch
from kraftops.log.batch import CONTROL, Batch, Record, batch_bytes
from kraftops.memory import Budget
from kraftops.schema.compile import compiled
from kraftops.schema.tables import messages
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.cluster import describe_quorum
from kraftops.wire.rpc.connection import Connection

if TYPE_CHECKING:
    from kraftops.records.control_types import LeaderChangeMessage

_KEY = bytes([0, 0, 0, 2])  # of a leader change
_VERSION = 0  # without the directory ids of version 1 (KIP-853)


class Leader(NamedTuple):
    """The leader of a quorum, its epoch, and the voters of a static quorum."""

    node_id: int
    epoch: int
    voters: Sequence[int]


def put_leader(image: MetadataImage, source: str, end_offset: int, leader: Leader) -> None:
    """Add a leader change record, as the leader wrote it, to an image that has none.

    Args:
        image: The image.
        source: Name of the source in the record's address.
        end_offset: End offset of the snapshot.
        leader: The leader.
    """
    listed = [{"voterId": voter} for voter in sorted(leader.voters)]
    value = compiled(messages("control")["LeaderChangeMessage"], _VERSION).write(
        {"version": _VERSION, "leaderId": leader.node_id, "voters": listed, "grantingVoters": []}
    )
    record = Record(0, image.provenance.timestamp, _KEY, value)
    data = batch_bytes([record], attributes=CONTROL, leader_epoch=leader.epoch)
    batch = Batch(0, len(data), data)
    inflated = inflated_batch(batch, Budget().meter())
    address = image.store.add(image.store.add_source(source, None, end_offset), batch, inflated)
    image.quorum.leader = address + inflated.start


def ask_voters(endpoint: Address, settings: Settings, note: Callable[[str], None]) -> list[int]:
    """Ask the leader for the ids of the voters; on an error, call *note* and return none."""
    try:
        with Connection(endpoint, settings, Deadline(settings.timeout)) as connection:
            return [voter.node_id for voter in describe_quorum(connection).voters]
    except WireError as error:
        note(f"the voters of the quorum are not known: {error.message}")
        return []


def voters_of(image: MetadataImage) -> list[int]:
    if image.quorum.leader is None:
        return []
    message: LeaderChangeMessage = image.read_control(image.quorum.leader)
    return [voter["voterId"] for voter in message["voters"]]
