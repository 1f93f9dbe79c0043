"""Connections to the first of several addresses."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest

from kraftops.errors import AuthError, WireError
from kraftops.wire.config.jaas import Login
from kraftops.wire.config.settings import Sasl, Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from kraftops.wire.rpc.cluster import describe_cluster
from kraftops.wire.rpc.connection import NodeKind
from tests.helpers.wire.asking import HASTY
from tests.helpers.wire.peers import (
    CONTROLLER_APIS,
    Peer,
    answer,
    api_versions,
    broker,
    read_request,
    saying,
    silent,
)


def reached(*handlers: Callable[[socket.socket], None], wanted: NodeKind = NodeKind.BROKER) -> int:
    """Return which of some peers a connection is made to."""
    peers = [Peer(handler) for handler in handlers]
    try:
        addresses = [Bootstrap(peer.address) for peer in peers]
        with connect(addresses, replace(HASTY, timeout=3), Deadline(3), wanted) as connection:
            return [peer.address for peer in peers].index(connection.address)
    finally:
        for peer in peers:
            peer.__exit__()


def test_addresses_are_tried_in_turn() -> None:
    assert reached(silent, saying(b"HTTP/1.1"), broker, broker) == 2


def test_node_of_another_kind_is_passed_over() -> None:
    def controller(connection: socket.socket) -> None:
        _, version, correlation, _ = read_request(connection)
        connection.sendall(api_versions(correlation, CONTROLLER_APIS, version=version))
        silent(connection)

    assert reached(controller, broker) == 1
    assert reached(broker, controller, wanted=NodeKind.CONTROLLER) == 1
    with pytest.raises(WireError, match=r"a controller answers there, not a broker$"):
        reached(controller)


def test_node_that_stops_after_its_first_answer_is_passed_over() -> None:
    def stopping(connection: socket.socket) -> None:
        _, version, correlation, _ = read_request(connection)
        connection.sendall(api_versions(correlation, version=version))
        read_request(connection)

    with Peer(stopping) as first, Peer(broker) as second:
        bootstrap = [Bootstrap(first.address), Bootstrap(second.address)]
        found = []
        with connect(
            bootstrap,
            Settings(),
            Deadline(5),
            first=lambda each: found.append(describe_cluster(each)),
        ) as connection:
            assert connection.address == second.address

    assert first.connections == 1
    assert len(found) == 1


def test_error_of_several_addresses_has_all_reasons() -> None:
    with pytest.raises(WireError, match=r"^none of 2 addresses .*HTTP server.*; .*no answer"):
        reached(saying(b"HTTP/1.1"), silent)


@contextmanager
def black_hole() -> Iterator[Address]:
    """Give an address that takes no connection and refuses none: its backlog is full."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        for _ in range(8):
            filling = stack.enter_context(socket.socket())
            filling.setblocking(False)
            filling.connect_ex(("127.0.0.1", port))
        yield Address("127.0.0.1", port)


def test_black_hole_among_three_costs_less_than_a_second() -> None:
    with black_hole() as hole, Peer(broker) as first, Peer(broker) as second:
        bootstrap = [Bootstrap(each) for each in (hole, first.address, second.address)]
        start = time.monotonic()
        with connect(bootstrap, Settings(), Deadline(15), NodeKind.BROKER) as connection:
            assert connection.address == first.address
        waited = time.monotonic() - start

    assert waited < 1


def test_refused_login_is_not_tried_elsewhere() -> None:
    """A server may lock users out."""

    def refusing(connection: socket.socket) -> None:
        for api, values in (
            ("", {}),
            ("SaslHandshake", {"error_code": 33, "mechanisms": ["PLAIN"]}),
        ):
            _, version, correlation, _ = read_request(connection)
            reply = api_versions(correlation, version=version)
            if api:
                reply = answer(api, version, correlation, **values)
            connection.sendall(reply)
        silent(connection)

    sasl = Sasl("SCRAM-SHA-256", Login("x", {"username": "u", "password": "p"}))
    settings = Settings(protocol="SASL_PLAINTEXT", sasl=sasl)
    with Peer(refusing) as first, Peer(refusing) as second:
        bootstrap = [Bootstrap(first.address), Bootstrap(second.address)]
        with pytest.raises(AuthError, match="not enabled"):
            connect(bootstrap, settings, Deadline(5))

    assert (first.connections, second.connections) == (1, 0)
