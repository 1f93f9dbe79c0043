"""Fetch and FetchSnapshot of the metadata log, as an observer that nobody sees (KIP-595, 630).

The replica id is always -1: any other would be listed among the quorum's observers.
"""

from __future__ import annotations

from typing import NamedTuple

from kraftops.errors import AnswerError, WireError
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.codec import Answer
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.cluster import METADATA_TOPIC, describe_cluster, refusal
from kraftops.wire.rpc.connection import Connection, Sent

NOT_LEADER, SHUTTING_DOWN, FENCED_EPOCH, UNKNOWN_EPOCH = 6, 8, 74, 75
WRONG_LEADER = (NOT_LEADER, SHUTTING_DOWN, FENCED_EPOCH, UNKNOWN_EPOCH)
"""Partition errors of a controller that does not lead, or not for long any more."""

_TOPIC_ID = (0, 1)  # halves of the id that the metadata log has in every cluster
_IDS_SINCE = 13  # the versions of Fetch before name topics, which controllers refuse
_OTHER_CLUSTER = 104
_NOT_NOW = -1
_PERMISSION = "CLUSTER_ACTION"


class SnapshotId(NamedTuple):
    """A snapshot: the offset behind the last that it holds, and the epoch of that one."""

    end_offset: int
    epoch: int

    def __str__(self) -> str:
        return f"{self.end_offset:020}-{self.epoch:010}"


class Place(NamedTuple):
    """Where to read on: the next offset, and the epoch of the batch before it."""

    offset: int
    epoch: int


class Fetched(NamedTuple):
    """What a controller answers: records, or who leads, or where to read instead.

    *high_watermark* is -1 where a leader does not know it yet; *leader* too.
    """

    error: int
    leader: int
    epoch: int
    leader_address: Address | None
    high_watermark: int
    records: bytes
    snapshot: SnapshotId | None
    diverging: SnapshotId | None


class Chunk(NamedTuple):
    """A part of a snapshot, and the size of the whole."""

    size: int
    data: bytes


def fetch(
    connection: Connection,
    place: Place,
    leader_epoch: int,
    *,
    most: int,
    wait_ms: int,
    cluster_id: str | None,
    deadline: Deadline,
) -> Fetched:
    """Ask for the log from a place on; *most* bytes, but one batch at least.

    Raises:
        AnswerError: it is not permitted.
        WireError: it is another cluster, or there is no answer.
    """
    from uuid import UUID

    high, low = _TOPIC_ID
    partition = {
        "partition": 0,
        "current_leader_epoch": leader_epoch,
        "fetch_offset": place.offset,
        "last_fetched_epoch": place.epoch,
        "log_start_offset": -1,
        "partition_max_bytes": most,
    }
    answer = connection.ask(
        "Fetch",
        lowest=_IDS_SINCE,
        deadline=deadline,
        max_wait_ms=wait_ms,
        min_bytes=1,
        max_bytes=most,
        cluster_id=cluster_id,
        session_epoch=-1,
        topics=[{"topic_id": UUID(int=high << 64 | low), "partitions": [partition]}],
    )
    if answer.error_code == _OTHER_CLUSTER:
        raise _other_cluster(connection, cluster_id)
    if answer.error_code:
        raise refusal(connection, answer.error_code, None, _PERMISSION)
    if not answer.responses or not answer.responses[0].partitions:
        raise WireError(f"{connection.address}: an answer without the metadata log")
    found = answer.responses[0].partitions[0]
    leader = found.current_leader
    named = leader.leader_id if leader else -1
    addresses = {
        node.node_id: Address(node.host, node.port) for node in answer.node_endpoints or ()
    }
    return Fetched(
        found.error_code,
        named,
        leader.leader_epoch if leader else -1,
        addresses.get(named),
        found.high_watermark,
        found.records or b"",
        _snapshot_id(found.snapshot_id),
        _snapshot_id(found.diverging_epoch),
    )


def _other_cluster(connection: Connection, expected: str | None) -> AnswerError:
    """Return the error of a cluster that is another, with its id where that may be known."""
    try:
        said = f"{describe_cluster(connection).cluster_id}, not {expected}"
    except WireError:
        said = f"not {expected}"
    return AnswerError(
        f"{connection.address}: its cluster id is {said}",
        hint="check the address and --expect-cluster-id",
        code=_OTHER_CLUSTER,
    )


def _snapshot_id(found: Answer) -> SnapshotId | None:
    if found is None or found.end_offset < 0:
        return None
    return SnapshotId(found.end_offset, found.epoch)


def ask_for_snapshot(
    connection: Connection,
    snapshot: SnapshotId,
    leader_epoch: int,
    position: int,
    *,
    most: int,
    cluster_id: str | None,
    deadline: Deadline,
) -> Sent:
    """Ask for a part of a snapshot, up to *most* bytes, which `snapshot_chunk` then returns.

    Raises:
        WireError: the request cannot be sent.
    """
    partition = {
        "partition": 0,
        "current_leader_epoch": leader_epoch,
        "snapshot_id": {"end_offset": snapshot.end_offset, "epoch": snapshot.epoch},
        "position": position,
    }
    return connection.send(
        "FetchSnapshot",
        deadline=deadline,
        cluster_id=cluster_id,
        max_bytes=most,
        topics=[{"name": METADATA_TOPIC, "partitions": [partition]}],
    )


def snapshot_chunk(
    connection: Connection, asked: Sent, position: int, deadline: Deadline
) -> Chunk | None:
    """Return the part that was asked for; None if this controller has it no more, or leads no more.

    Raises:
        AnswerError: it is not permitted.
        WireError: there is no answer, or one that leads nowhere.
    """
    answer = connection.receive(asked, deadline)
    if answer.error_code == _NOT_NOW:
        return None  # all errors of the partition look like this (4.3.1)
    if answer.error_code:
        raise refusal(connection, answer.error_code, None, _PERMISSION)
    if not answer.topics or not answer.topics[0].partitions:
        raise WireError(f"{connection.address}: an answer without the metadata log")
    found = answer.topics[0].partitions[0]
    if found.error_code:
        return None
    data = found.unaligned_records or b""
    if found.position != position or not data or position + len(data) > found.size:
        raise AnswerError(
            f"{connection.address}: {len(data)} bytes from {found.position} of a snapshot"
            f" of {found.size}, where those from {position} were asked for"
        )
    return Chunk(found.size, data)
