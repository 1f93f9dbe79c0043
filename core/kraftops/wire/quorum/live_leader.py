"""Who leads, for an image that began with a snapshot: what made it known came before that.

In files it is there still, before the end of the snapshot; controllers do not hand it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kraftops.errors import WireError
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.store import inflated_batch
from kraftops.log.batch import CONTROL, Batch, Record, batch_bytes
from kraftops.schema.compile import compiled
from kraftops.schema.tables.control import MESSAGES
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.connection import Connection

if TYPE_CHECKING:
    from kraftops.records.control_types import LeaderChangeMessage

_KEY = bytes([0, 0, 0, 2])  # of a leader change
_VERSION = 0


def put_leader(
    image: MetadataImage, name: str, end_offset: int, leader: int, epoch: int, voters: Iterable[int]
) -> None:
    """Have an image say who leads, by a record as the leader wrote it.

    Args:
        image: Which nothing has told so far.
        name: Of the source, which is the one that did.
        end_offset: Of the snapshot, from where on nothing did.
        leader: Its id.
        epoch: Since when it leads.
        voters: Whom it leads; only those of a static quorum are looked at.
    """
    listed = [{"voterId": voter} for voter in sorted(voters)]
    value = compiled(MESSAGES["LeaderChangeMessage"], _VERSION).write(
        {"version": _VERSION, "leaderId": leader, "voters": listed, "grantingVoters": []}
    )
    record = Record(0, image.provenance.timestamp, _KEY, value)
    data = batch_bytes([record], attributes=CONTROL, leader_epoch=epoch)
    batch = Batch(0, len(data), data)
    address = image.store.add(image.store.add_source(name, None, end_offset), batch)
    image.quorum.leader = address + inflated_batch(batch).start


def voters_of(endpoint: Address, settings: Settings, note: Callable[[str], None]) -> list[int]:
    """Return the ids of the voters that a leader names; none, and a *note* why, if it does not."""
    from kraftops.wire.rpc.cluster import describe_quorum

    try:
        with Connection(endpoint, settings, Deadline(settings.timeout)) as connection:
            return [voter.node_id for voter in describe_quorum(connection).voters]
    except WireError as error:
        note(f"the voters of the quorum are not known: {error.message}")
        return []


def voters_in(image: MetadataImage) -> list[int]:
    """Return the ids of the voters that the leader of an image named."""
    if image.quorum.leader is None:
        return []
    said: LeaderChangeMessage = image.read_control(image.quorum.leader)
    return [voter["voterId"] for voter in said["voters"]]
