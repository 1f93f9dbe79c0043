"""Negotiation of API versions, and requests that a server does not serve."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kraftops.errors import WireError
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.cluster import describe_cluster
from kraftops.wire.rpc.connection import Connection
from tests.helpers.wire.asking import HASTY, ask, failure
from tests.helpers.wire.peers import (
    APIS,
    Peer,
    api_versions,
    broker,
    read_request,
    saying,
)


def test_good_peer_is_asked() -> None:
    with Peer(broker) as peer:
        ask(peer.address)


def test_other_correlation() -> None:
    assert "an answer to request 7" in failure(saying(api_versions(7))).message


@contextmanager
def serving(apis: dict[int, tuple[int, int]]) -> Iterator[Address]:
    def handle(connection: socket.socket) -> None:
        while True:
            _, version, correlation, _ = read_request(connection)
            connection.sendall(api_versions(correlation, apis, version=version))

    with Peer(handle) as peer:
        yield peer.address


def test_release_before_api_versions_3_is_refused() -> None:
    def handle(connection: socket.socket) -> None:
        _, _, correlation, _ = read_request(connection)
        connection.sendall(api_versions(correlation, {18: (0, 2)}, version=0, error=35))

    assert "no KRaft node of Kafka 3.3 or later: its APIs are those of Kafka 2.3" in (
        failure(handle).message
    )


@pytest.mark.parametrize(
    ("fetch", "releases"), [(11, "2.3 to 2.6"), (12, "2.7 to 3.0"), (17, "3.9 or 4.0")]
)
def test_broker_without_kraft_is_refused_with_its_releases(fetch: int, releases: str) -> None:
    apis = {key: served for key, served in APIS.items() if key != 55} | {1: (0, fetch)}
    with serving(apis) as address, pytest.raises(WireError, match=f"those of Kafka {releases}"):
        ask(address)


def test_api_that_is_not_served_is_named() -> None:
    apis = {key: served for key, served in APIS.items() if key != 60}
    with (
        serving(apis) as address,
        pytest.raises(WireError, match=r"does not serve DescribeCluster \(60\)$"),
    ):
        ask(address)


def test_version_that_is_not_served_is_named() -> None:
    with (
        serving(APIS | {60: (0, 1)}) as address,
        pytest.raises(WireError, match=r"DescribeCluster \(60\) version 2, only 0 to 1"),
        Connection(address, HASTY, Deadline(1)) as connection,
    ):
        describe_cluster(connection, with_fenced=True)
