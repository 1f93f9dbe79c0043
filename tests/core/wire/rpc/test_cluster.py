"""Requests about a cluster, to a broker that answers them."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kraftops.errors import AnswerError, WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.cluster import (
    ClusterNode,
    Feature,
    api_versions,
    describe_cluster,
    describe_quorum,
    lists_fenced,
    replica_counts,
    sees_everything,
    unregister_broker,
)
from kraftops.wire.rpc.connection import Connection, VersionRange
from tests.helpers.wire import peers
from tests.helpers.wire.peers import APIS, CLUSTER_ID, Peer, answer, described, read_request


@contextmanager
def broker(
    apis: dict[int, tuple[int, int]] = APIS, **answers: dict[str, object]
) -> Iterator[Connection]:
    """Yield a connection to a broker that answers each API with these fields."""
    keys = {"Metadata": 3, "ApiVersions": 18, "DescribeQuorum": 55, "UnregisterBroker": 64}

    def handle(connection: socket.socket) -> None:
        is_negotiated = False
        while True:
            key, version, correlation, _ = read_request(connection)
            api = next((name for name in answers if keys.get(name) == key), None)
            if api and (is_negotiated or key != 18):
                reply = answer(api, version, correlation, **answers[api])
            elif key == 18:
                reply = peers.api_versions(correlation, apis, version=version)
            else:
                reply = described(correlation, version, **answers.get("DescribeCluster", {}))
            is_negotiated = True
            connection.sendall(reply)

    with Peer(handle) as peer, Connection(peer.address, Settings(), Deadline(5)) as connection:
        yield connection


def test_nodes_are_listed() -> None:
    with broker() as connection:
        cluster = describe_cluster(connection, with_fenced=True)

    assert cluster.cluster_id == CLUSTER_ID
    assert cluster.leader is None
    assert cluster.nodes == [ClusterNode(1, Address("localhost", 9092), None, False)]


@pytest.mark.parametrize(("version", "expected"), [(1, False), (2, True)])
def test_fenced_brokers_need_version_2(version: int, expected: bool) -> None:
    with broker(APIS | {60: (0, version)}) as connection:
        assert lists_fenced(connection) is expected


def test_all_operations_are_needed_to_see_everything() -> None:
    every = sum(1 << code for code in (5, 7, 8, 9, 10, 11, 12))  # of a cluster, by `AclOperation`
    for operations, expected in ((every, True), (every ^ 1 << 8, False), (-(1 << 31), False)):
        fields = {"cluster_authorized_operations": operations}
        with broker(DescribeCluster=fields) as connection:
            assert sees_everything(connection) is expected


def test_quorum_without_the_metadata_log_is_an_error() -> None:
    with (
        broker(DescribeQuorum={"error_code": 0, "topics": []}) as connection,
        pytest.raises(WireError, match="an answer without the metadata log"),
    ):
        describe_quorum(connection)


def test_replicas_are_counted_by_topic() -> None:
    topics = [
        {
            "error_code": 0,
            "name": name,
            "partitions": [{"replica_nodes": [1, 2]}, {"replica_nodes": [2]}],
        }
        for name in ("a", "b")
    ]
    with broker(Metadata={"brokers": [], "topics": topics}) as connection:
        assert replica_counts(connection) == {1: {"a": 1, "b": 1}, 2: {"a": 2, "b": 2}}


def test_features_that_are_finalized_or_supported_are_listed() -> None:
    fields = {
        "error_code": 0,
        "api_keys": [{"api_key": 1, "min_version": 4, "max_version": 18}],
        "supported_features": [{"name": "b", "min_version": 0, "max_version": 3}],
        "finalized_features": [{"name": "a", "min_version_level": 1, "max_version_level": 2}],
    }
    with broker(ApiVersions=fields) as connection:
        versions = api_versions(connection)

    assert versions.apis == {1: VersionRange(4, 18)}
    assert versions.features == [Feature("a", None, 2), Feature("b", VersionRange(0, 3), None)]


@pytest.mark.parametrize(
    ("code", "reason"), [(102, "Broker ID 7 is not currently registered"), (31, "it needs ALTER")]
)
def test_refused_unregistration_is_an_error(code: int, reason: str) -> None:
    fields: dict[str, object] = {"error_code": code}
    with broker(UnregisterBroker=fields) as connection, pytest.raises(AnswerError) as refused:
        unregister_broker(connection, 7)

    assert refused.value.error_code == code
    assert reason in refused.value.message
