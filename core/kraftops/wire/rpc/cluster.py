"""Requests about a cluster: its nodes, quorum, APIs, features and replicas; unregistration."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from kraftops.errors import AnswerError, UnknownOutcomeError, WireError
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.codec import Answer
from kraftops.wire.rpc.connection import (
    UNKNOWN_HINT,
    Connection,
    NodeKind,
    VersionRange,
    refuse_error,
)
from kraftops.wire.rpc.error_codes import BROKER_ID_NOT_REGISTERED, REQUEST_TIMED_OUT

METADATA_TOPIC = "__cluster_metadata"  # `log/files.py` costs a command of the cluster its start
_ENDPOINT_TYPES = {NodeKind.BROKER: 1, NodeKind.CONTROLLER: 2}  # `EndpointType` (KIP-919)
_FENCED_SINCE = 2  # the version of DescribeCluster that lists fenced brokers
_CONTROLLERS_SINCE = 1  # the version of DescribeCluster that controllers answer (KIP-919)
OPERATIONS = {
    "CREATE": 5,
    "ALTER": 7,
    "DESCRIBE": 8,
    "CLUSTER_ACTION": 9,
    "DESCRIBE_CONFIGS": 10,
    "ALTER_CONFIGS": 11,
    "IDEMPOTENT_WRITE": 12,
}
"""Operations on a cluster that a user can be allowed, with their numbers (`AclOperation`)."""
_NOT_TOLD = 1 << 31
"""The value of a server that does not tell them, by KIP-430."""


class ClusterNode(NamedTuple):
    """A node of the cluster; *is_fenced* is None for controllers."""

    node_id: int
    address: Address
    rack: str | None
    is_fenced: bool | None


class ClusterNodes(NamedTuple):
    """The nodes of a cluster; only controllers name the quorum's *leader*."""

    cluster_id: str | None
    leader: int | None
    nodes: list[ClusterNode]


class ReplicaState(NamedTuple):
    """A voter or observer; *directory_id* has 16 bytes, times are epoch ms, -1 if unknown."""

    node_id: int
    directory_id: bytes | None
    end_offset: int
    fetched_at: int
    caught_up_at: int


class QuorumInfo(NamedTuple):
    """Leader, voters and observers of the metadata log; *listeners* by node id."""

    leader: int
    epoch: int
    high_watermark: int
    voters: list[ReplicaState]
    observers: list[ReplicaState]
    listeners: dict[int, list[tuple[str, Address]]]


class Feature(NamedTuple):
    """A feature: the levels that a server supports, and the finalized level."""

    name: str
    supported: VersionRange | None
    finalized: int | None


class NodeApiVersions(NamedTuple):
    """The APIs of a node by key, and its features (KIP-35, KIP-584)."""

    apis: Mapping[int, VersionRange]
    features: list[Feature]


def describe_cluster(connection: Connection, *, with_fenced: bool = False) -> ClusterNodes:
    """Ask a broker for the brokers, or a controller for the controllers.

    Raises:
        WireError: the server is too old to list fenced brokers, or answers with an error.
    """
    kind = connection.kind
    lowest = _FENCED_SINCE if with_fenced else 0
    if kind is NodeKind.CONTROLLER:
        lowest = _CONTROLLERS_SINCE
    answer = connection.ask(
        "DescribeCluster",
        lowest=lowest,
        endpoint_type=_ENDPOINT_TYPES[kind],
        include_fenced_brokers=with_fenced,
    )
    refuse_error(connection, answer, "ALTER")
    is_broker = kind is NodeKind.BROKER  # before version 2 it lists the unfenced ones only
    nodes = [
        ClusterNode(
            node.broker_id,
            Address(node.host, node.port),
            node.rack,
            bool(node.is_fenced) if is_broker else None,
        )
        for node in answer.brokers
    ]
    leader = answer.controller_id if kind is NodeKind.CONTROLLER else None
    return ClusterNodes(answer.cluster_id, leader, nodes)


def lists_fenced(connection: Connection) -> bool:
    """Tell whether a node can list fenced brokers (Kafka 4.0)."""
    versions = connection.versions_of("DescribeCluster")
    return versions is not None and versions.last >= _FENCED_SINCE


def authorized_operations(connection: Connection) -> list[str]:
    """List what the user may do to the cluster (KIP-430); nothing without DESCRIBE."""
    answer = connection.ask("DescribeCluster", include_cluster_authorized_operations=True)
    allowed = answer.cluster_authorized_operations & 0xFFFFFFFF
    if answer.error_code or allowed == _NOT_TOLD:
        return []
    return [name for name, number in OPERATIONS.items() if allowed >> number & 1]


def sees_everything(connection: Connection) -> bool:
    """Tell whether the user may do all operations on the cluster, and so sees all topics."""
    return len(authorized_operations(connection)) == len(OPERATIONS)


def describe_quorum(connection: Connection) -> QuorumInfo:
    """Ask the quorum's leader, or a broker, which forwards the request.

    Raises:
        AnswerError: with code 6, if a controller is asked that does not lead.
    """
    answer = connection.ask(
        "DescribeQuorum",
        topics=[{"topic_name": METADATA_TOPIC, "partitions": [{"partition_index": 0}]}],
    )
    refuse_error(connection, answer, "DESCRIBE")
    partition = metadata_partition(connection, answer.topics)
    refuse_error(connection, partition, "DESCRIBE")
    return QuorumInfo(
        leader=partition.leader_id,
        epoch=partition.leader_epoch,
        high_watermark=partition.high_watermark,
        voters=[_replica_state(replica) for replica in partition.current_voters],
        observers=[_replica_state(replica) for replica in partition.observers],
        listeners={
            node.node_id: [(end.name, Address(end.host, end.port)) for end in node.listeners]
            for node in answer.nodes or ()
        },
    )


def metadata_partition(connection: Connection, topics: Answer) -> Answer:
    """Take the only partition of an answer about the metadata log.

    Raises:
        WireError: the answer has none.
    """
    if not topics or not topics[0].partitions:
        raise WireError.at(
            connection.address, "an answer without the metadata log", code="server-error"
        )
    return topics[0].partitions[0]


def _replica_state(state: Answer) -> ReplicaState:
    directory = state.replica_directory_id
    return ReplicaState(
        node_id=state.replica_id,
        directory_id=directory.bytes if directory else None,
        end_offset=state.log_end_offset,
        fetched_at=state.last_fetch_timestamp,
        caught_up_at=state.last_caught_up_timestamp,
    )


def api_versions(connection: Connection) -> NodeApiVersions:
    # Version 4 also has features with the lowest level 0.
    answer = connection.ask(
        "ApiVersions", client_software_name="kraftops", client_software_version="unknown"
    )
    refuse_error(connection, answer)
    supported = {
        f.name: VersionRange(f.min_version, f.max_version) for f in answer.supported_features
    }
    finalized = {f.name: int(f.max_version_level) for f in answer.finalized_features}
    features = [
        Feature(name, supported.get(name), finalized.get(name))
        for name in sorted(supported.keys() | finalized.keys())
    ]
    apis = {api.api_key: VersionRange(api.min_version, api.max_version) for api in answer.api_keys}
    return NodeApiVersions(apis, features)


def failed_directories(connection: Connection) -> tuple[str, ...] | None:
    """Ask for failed log directories; None where the API is missing, or not permitted.

    Raises:
        WireError: there is no answer.
    """
    if connection.versions_of("DescribeLogDirs") is None:
        return None
    answer = connection.ask("DescribeLogDirs", topics=[])
    if getattr(answer, "error_code", 0) or not answer.results:
        return None
    return tuple(sorted(directory.log_dir for directory in answer.results if directory.error_code))


def replica_counts(connection: Connection) -> dict[int, Counter[str]]:
    """Count replicas by broker and topic, of the topics that the user may describe."""
    answer = connection.ask("Metadata", topics=None, allow_auto_topic_creation=False)
    counts: dict[int, Counter[str]] = {}
    for topic in answer.topics:
        for partition in topic.partitions:
            for broker in partition.replica_nodes:
                counts.setdefault(broker, Counter())[topic.name or str(topic.topic_id)] += 1
    return counts


def unregister_broker(connection: Connection, broker_id: int) -> None:
    """Remove a broker's registration, by any broker or the quorum's leader.

    Raises:
        AnswerError: it refuses; the code is 102 if there is no such registration.
        UnknownOutcomeError: there is no answer; or a broker got none from a controller.
    """
    answer = connection.change("UnregisterBroker", broker_id=broker_id)
    if answer.error_code == REQUEST_TIMED_OUT:
        text = "a controller gave it no answer in time, after the request was sent"
        raise UnknownOutcomeError.at(connection.address, text, UNKNOWN_HINT)
    if answer.error_code == BROKER_ID_NOT_REGISTERED:
        raise AnswerError.at(
            connection.address,
            f"Broker ID {broker_id} is not currently registered",
            error_code=BROKER_ID_NOT_REGISTERED,
            broker=broker_id,
        )
    refuse_error(connection, answer, "ALTER")
