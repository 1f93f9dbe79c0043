"""Fetch and FetchSnapshot of the metadata log, as an unregistered observer (KIP-595, KIP-630).

The replica id is always -1: any other would be listed among the quorum's observers.
"""

from dataclasses import dataclass
from typing import NamedTuple

from kraftops.errors import AnswerError, WireError
from kraftops.log.files import METADATA_TOPIC
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.codec import Answer
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc import error_codes
from kraftops.wire.rpc.cluster import describe_cluster, metadata_partition
from kraftops.wire.rpc.connection import Connection, PendingRequest, refuse_error
from kraftops.wire.rpc.endpoints import other_cluster

WRONG_LEADER_CODES = (
    error_codes.NOT_LEADER_OR_FOLLOWER,
    error_codes.BROKER_NOT_AVAILABLE,
    error_codes.FENCED_LEADER_EPOCH,
    error_codes.UNKNOWN_LEADER_EPOCH,
)
"""Partition errors of a controller that does not lead, or is about to stop."""

_TOPIC_ID = 1  # of the metadata log, as an integer, in every cluster
_IDS_SINCE = 13  # controllers refuse earlier versions of Fetch, which have topic names
_PARTITION_ERROR = -1  # `Errors.UNKNOWN_SERVER_ERROR`
_PERMISSION = "CLUSTER_ACTION"


class SnapshotId(NamedTuple):
    """A snapshot: the offset after its last record, and the epoch of that record."""

    end_offset: int
    epoch: int

    def __str__(self) -> str:
        return f"{self.end_offset:020}-{self.epoch:010}"


class FetchPosition(NamedTuple):
    """The next offset to read, and the epoch of the batch before it."""

    offset: int
    epoch: int


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """Arguments of a Fetch: at most *max_bytes*, but at least one batch."""

    position: FetchPosition
    leader_epoch: int
    max_bytes: int
    wait_ms: int
    cluster_id: str | None


@dataclass(frozen=True, slots=True)
class SnapshotRequest:
    """Arguments of a FetchSnapshot: at most *max_bytes* from the byte *position* on."""

    snapshot: SnapshotId
    leader_epoch: int
    position: int
    max_bytes: int
    cluster_id: str | None


class FetchResult(NamedTuple):
    """A controller's answer: records, or the leader, or another position to read from.

    *leader* is -1 if none is known, *high_watermark* is -1 if the leader does not know it yet.
    """

    error: int
    leader: int
    epoch: int
    leader_address: Address | None
    high_watermark: int
    records: bytes
    snapshot: SnapshotId | None
    diverging: SnapshotId | None


class SnapshotChunk(NamedTuple):
    """A part of a snapshot; *size* is the size of the whole."""

    size: int
    data: bytes


def fetch(connection: Connection, request: FetchRequest, deadline: Deadline) -> FetchResult:
    """Ask for the log from a position on.

    Raises:
        AnswerError: it is not permitted.
        WireError: the cluster is another one, or there is no answer.
    """
    from uuid import UUID

    partition = {
        "partition": 0,
        "current_leader_epoch": request.leader_epoch,
        "fetch_offset": request.position.offset,
        "last_fetched_epoch": request.position.epoch,
        "log_start_offset": -1,
        "partition_max_bytes": request.max_bytes,
    }
    answer = connection.ask(
        "Fetch",
        lowest=_IDS_SINCE,
        deadline=deadline,
        max_wait_ms=request.wait_ms,
        min_bytes=1,
        max_bytes=request.max_bytes,
        cluster_id=request.cluster_id,
        session_epoch=-1,
        topics=[{"topic_id": UUID(int=_TOPIC_ID), "partitions": [partition]}],
    )
    if answer.error_code == error_codes.INCONSISTENT_CLUSTER_ID:
        raise other_cluster(connection.address, _cluster_id(connection), request.cluster_id)
    refuse_error(connection, answer, _PERMISSION)
    partition = metadata_partition(connection, answer.responses)
    leader = partition.current_leader
    leader_id = leader.leader_id if leader else -1
    addresses = {
        node.node_id: Address(node.host, node.port) for node in answer.node_endpoints or ()
    }
    return FetchResult(
        error=partition.error_code,
        leader=leader_id,
        epoch=leader.leader_epoch if leader else -1,
        leader_address=addresses.get(leader_id),
        high_watermark=partition.high_watermark,
        records=partition.records or b"",
        snapshot=_snapshot_id(partition.snapshot_id),
        diverging=_snapshot_id(partition.diverging_epoch),
    )


def _cluster_id(connection: Connection) -> str | None:
    """Ask for the id; None if it may not be seen, or without an answer."""
    try:
        return describe_cluster(connection).cluster_id
    except WireError:
        return None


def _snapshot_id(field: Answer) -> SnapshotId | None:
    if field is None or field.end_offset < 0:
        return None
    return SnapshotId(field.end_offset, field.epoch)


def send_snapshot_request(
    connection: Connection, request: SnapshotRequest, deadline: Deadline
) -> PendingRequest:
    """Ask for a part of a snapshot, which `receive_snapshot_chunk` then returns.

    Raises:
        WireError: the request cannot be sent.
    """
    partition = {
        "partition": 0,
        "current_leader_epoch": request.leader_epoch,
        "snapshot_id": {"end_offset": request.snapshot.end_offset, "epoch": request.snapshot.epoch},
        "position": request.position,
    }
    return connection.send(
        "FetchSnapshot",
        deadline=deadline,
        cluster_id=request.cluster_id,
        max_bytes=request.max_bytes,
        topics=[{"name": METADATA_TOPIC, "partitions": [partition]}],
    )


def receive_snapshot_chunk(
    connection: Connection, pending: PendingRequest, position: int, deadline: Deadline
) -> SnapshotChunk | None:
    """Receive a part of a snapshot; None if it is gone, or the controller leads no more.

    Raises:
        AnswerError: it is not permitted, or the part is another one.
        WireError: there is no answer.
    """
    answer = connection.receive(pending, deadline)
    if answer.error_code == _PARTITION_ERROR:
        return None  # all errors of the partition look like this (4.3.1)
    refuse_error(connection, answer, _PERMISSION)
    partition = metadata_partition(connection, answer.topics)
    if partition.error_code:
        return None
    data = partition.unaligned_records or b""
    if partition.position != position or not data or position + len(data) > partition.size:
        raise AnswerError.at(
            connection.address,
            f"{len(data)} bytes from {partition.position} of a snapshot"
            f" of {partition.size}, where those from {position} were asked for",
        )
    return SnapshotChunk(partition.size, data)
