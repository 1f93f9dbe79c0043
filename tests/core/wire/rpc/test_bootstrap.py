"""Connections to the first of several addresses."""

import socket
from collections.abc import Callable
from dataclasses import replace

import pytest

from kraftops.errors import WireError
from kraftops.wire.net.addresses import Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from kraftops.wire.rpc.connection import NodeKind
from tests.helpers.wire.asking import HASTY
from tests.helpers.wire.peers import (
    CONTROLLER_APIS,
    Peer,
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


def test_error_of_several_addresses_has_all_reasons() -> None:
    with pytest.raises(WireError, match=r"^none of 2 addresses .*HTTP server.*; .*no answer"):
        reached(saying(b"HTTP/1.1"), silent)
