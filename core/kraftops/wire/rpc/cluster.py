"""What a cluster is asked: who is in it, who votes, what it can do; and to forget a broker."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from kraftops.errors import AnswerError, AuthError, WireError
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.codec import Answer
from kraftops.wire.net.deadline import PAUSE
from kraftops.wire.rpc.connection import Connection, Kind, Range

T = TypeVar("T")

METADATA_TOPIC = "__cluster_metadata"
LEADERLESS = NOT_LEADER, NOT_CONTROLLER = 6, 41
"""Errors of a quorum that has no leader now, or another one."""
CLUSTER_AUTHORIZATION_FAILED = 31
_UNSUPPORTED_VERSION = 35
NOT_REGISTERED = 102
_ELECTION = 5.0
"""Seconds in which a quorum has another leader, if it can have one."""
_ENDPOINT_TYPES = {Kind.BROKER: 1, Kind.CONTROLLER: 2}
_FENCED_SINCE = 2  # the versions of DescribeCluster from this one on can tell
_CONTROLLERS_SINCE = 1
_ALL_OPERATIONS = 7
"""How many operations on a cluster as a whole there are to be allowed."""

_PERMISSION = re.compile(r"needs (\w+) permission")

Connect = Callable[[Address], Connection]


class NodeAddress(NamedTuple):
    """A node of the cluster; *is_fenced* is None of controllers."""

    node_id: int
    address: Address
    rack: str | None
    is_fenced: bool | None


class Description(NamedTuple):
    """A cluster as one of its nodes describes it; only controllers tell the quorum's *leader*."""

    cluster_id: str | None
    leader: int | None
    nodes: list[NodeAddress]


class Replica(NamedTuple):
    """A voter or observer; *directory_id* are 16 bytes, times are epoch ms, -1 if unknown."""

    node_id: int
    directory_id: bytes | None
    end_offset: int
    fetched_at: int
    caught_up_at: int


class Quorum(NamedTuple):
    """Who votes on the metadata log and who reads it; *listeners* by node."""

    leader: int
    epoch: int
    high_watermark: int
    voters: list[Replica]
    observers: list[Replica]
    listeners: dict[int, list[tuple[str, Address]]]


class Feature(NamedTuple):
    """A feature: the levels a server supports, and the finalized one, None if it is not."""

    name: str
    supported: Range | None
    finalized: int | None


class Abilities(NamedTuple):
    """What a node serves, by API key, and the features it supports."""

    apis: Mapping[int, Range]
    features: list[Feature]


def describe_cluster(connection: Connection, *, with_fenced: bool = False) -> Description:
    """Ask a broker for the brokers, a controller for the controllers.

    Raises:
        WireError: the server cannot tell which brokers are fenced, or answers with an error.
    """
    kind = connection.kind
    lowest = _FENCED_SINCE if with_fenced else 0
    if kind is Kind.CONTROLLER:
        lowest = _CONTROLLERS_SINCE
    answer = connection.ask(
        "DescribeCluster",
        lowest=lowest,
        endpoint_type=_ENDPOINT_TYPES[kind],
        include_fenced_brokers=with_fenced,
    )
    if answer.error_code:
        raise refusal(connection, answer.error_code, answer.error_message, "ALTER")
    is_broker = kind is Kind.BROKER  # before version 2 it lists the unfenced ones only
    nodes = [
        NodeAddress(
            node.broker_id,
            Address(node.host, node.port),
            node.rack,
            bool(node.is_fenced) if is_broker else None,
        )
        for node in answer.brokers
    ]
    leader = answer.controller_id if kind is Kind.CONTROLLER else None
    return Description(answer.cluster_id, leader, nodes)


def sees_everything(connection: Connection) -> bool:
    """Tell whether the user may do everything to the cluster, and so will see all its topics."""
    answer = connection.ask("DescribeCluster", include_cluster_authorized_operations=True)
    operations = answer.cluster_authorized_operations & 0xFFFFFFFF
    return not answer.error_code and operations.bit_count() >= _ALL_OPERATIONS


def describe_quorum(connection: Connection) -> Quorum:
    """Ask a broker, which passes it on, or the quorum's leader.

    Raises:
        AnswerError: its code is 6 at a controller that does not lead.
    """
    answer = connection.ask(
        "DescribeQuorum",
        topics=[{"topic_name": METADATA_TOPIC, "partitions": [{"partition_index": 0}]}],
    )
    if answer.error_code:
        raise refusal(connection, answer.error_code, answer.error_message, "DESCRIBE")
    partition = _only_partition(connection, answer.topics)
    if partition.error_code:
        raise refusal(connection, partition.error_code, partition.error_message, "DESCRIBE")
    return Quorum(
        partition.leader_id,
        partition.leader_epoch,
        partition.high_watermark,
        [_replica(each) for each in partition.current_voters],
        [_replica(each) for each in partition.observers],
        {
            node.node_id: [(each.name, Address(each.host, each.port)) for each in node.listeners]
            for node in answer.nodes or ()
        },
    )


def _only_partition(connection: Connection, topics: Answer) -> Answer:
    if not topics or not topics[0].partitions:
        raise WireError(f"{connection.address}: an answer without the metadata log")
    return topics[0].partitions[0]


def _replica(state: Answer) -> Replica:
    directory = state.replica_directory_id
    return Replica(
        state.replica_id,
        directory.bytes if directory else None,
        state.log_end_offset,
        state.last_fetch_timestamp,
        state.last_caught_up_timestamp,
    )


def ask_leader(connection: Connection, connect: Connect, ask: Callable[[Connection], T]) -> T:
    """Ask the leader of the quorum by way of any of its nodes; return the answer.

    A leader that has just gone, or leads no more, is named for a while by those that do not know
    yet: they are asked again.

    Args:
        connection: To a controller, which is asked itself where it or nobody leads; or to a broker,
            which hands on what is asked.
        connect: Makes a connection to another one.
        ask: Asks, and raises *AnswerError* where the one that it asks does not lead.

    Raises:
        WireError: the leader cannot be reached, or there is none.
    """
    patience = connection.deadline.within(_ELECTION)
    while True:
        try:
            leader = _leader(connection, connect)
            try:
                return ask(leader)
            finally:
                if leader is not connection:
                    leader.close()
        except AnswerError as error:
            if error.code not in LEADERLESS or connection.deadline.left < PAUSE:
                raise
        except _GoneError as error:
            if patience.left < PAUSE:
                raise error.reason from None
        time.sleep(PAUSE)


class _GoneError(Exception):
    """The leader that is named cannot be reached."""

    def __init__(self, reason: WireError) -> None:
        self.reason = reason


def _leader(connection: Connection, connect: Connect) -> Connection:
    described = describe_cluster(connection)
    for node in described.nodes:
        if node.node_id == described.leader and node.address != connection.address:
            try:
                return connect(node.address)
            except AuthError:
                raise
            except WireError as error:
                raise _GoneError(error) from error
    return connection


def abilities(connection: Connection) -> Abilities:
    """Ask for the APIs and features of a node."""
    # Version 4 has the features whose lowest level is 0, too.
    answer = connection.ask(
        "ApiVersions", client_software_name="kraftops", client_software_version="unknown"
    )
    if answer.error_code:
        raise connection.fail(answer.error_code, None)
    supported = {f.name: Range(f.min_version, f.max_version) for f in answer.supported_features}
    finalized = {f.name: int(f.max_version_level) for f in answer.finalized_features}
    features = [
        Feature(name, supported.get(name), finalized.get(name))
        for name in sorted(supported.keys() | finalized.keys())
    ]
    apis = {api.api_key: Range(api.min_version, api.max_version) for api in answer.api_keys}
    return Abilities(apis, features)


def replica_counts(connection: Connection) -> dict[int, Counter[str]]:
    """Return how many replicas of which topics each broker holds, of the topics we may describe."""
    answer = connection.ask("Metadata", topics=None, allow_auto_topic_creation=False)
    held: dict[int, Counter[str]] = {}
    for topic in answer.topics:
        for partition in topic.partitions:
            for broker in partition.replica_nodes:
                held.setdefault(broker, Counter())[topic.name or str(topic.topic_id)] += 1
    return held


def unregister_broker(connection: Connection, broker_id: int) -> None:
    """Have a broker's registration removed, by any broker or the quorum's leader.

    Raises:
        AnswerError: it refuses; the code is 102 where there is no such registration.
    """
    answer = connection.ask("UnregisterBroker", broker_id=broker_id)
    if answer.error_code == NOT_REGISTERED:
        raise AnswerError(
            f"{connection.address}: Broker ID {broker_id} is not currently registered",
            code=NOT_REGISTERED,
        )
    if answer.error_code:
        raise refusal(connection, answer.error_code, answer.error_message, "ALTER")


def refusal(connection: Connection, code: int, message: str | None, permission: str) -> AnswerError:
    """Return the error of an answer, with what to do about it.

    Where *message* names no permission on the cluster, it is *permission* that the API asks for.
    """
    if code == CLUSTER_AUTHORIZATION_FAILED:
        named = _PERMISSION.search(message or "")
        permission = named[1] if named else permission
        return AnswerError(
            f"{connection.address}: not permitted: it needs {permission} on the cluster",
            hint=f"kafka-acls --add --cluster --operation {permission} grants it",
            code=code,
        )
    error = connection.fail(code, message)
    if code == _UNSUPPORTED_VERSION and connection.kind is Kind.CONTROLLER:
        error.hint = (
            "controllers answer from metadata.version 3.7-IV0 on; one that has not found its leader"
            " yet does not know it: try again"
        )
    if code in LEADERLESS:
        error.hint = "the quorum has no leader now, or another one: try again"
    return error
