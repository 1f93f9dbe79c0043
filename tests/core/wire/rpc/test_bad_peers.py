"""Whatever answers, it ends in bounded time, takes bounded memory, and is one error."""

import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import DecodeError, WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.codec import decode_answer
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.net.transport import LARGEST_FRAME
from kraftops.wire.rpc.bootstrap import connect
from kraftops.wire.rpc.cluster import describe_cluster
from kraftops.wire.rpc.connection import Connection, NodeKind
from tests.helpers.wire.peers import (
    APIS,
    CONTROLLER_APIS,
    Handler,
    Peer,
    api_versions,
    broker,
    described,
    free_port,
    read_request,
    saying,
    silent,
)

HASTY = Settings(timeout=1.0, connect_timeout=0.4)
OVERSIZED = (LARGEST_FRAME + 1, 0x7FFFFFFF, -1, -(1 << 31), 0, 3)


def asked(address: Address, settings: Settings = HASTY) -> None:
    with Connection(address, settings, Deadline(settings.timeout)) as connection:
        describe_cluster(connection)


def failure(handler: Handler, settings: Settings = HASTY) -> WireError:
    """Return the error of asking a peer; it names the address, on one line, in time."""
    start = time.monotonic()
    with Peer(handler) as peer, pytest.raises(WireError) as failed:
        asked(peer.address, settings)
    error = failed.value
    assert time.monotonic() - start < settings.timeout + 1
    assert error.message.startswith(f"{peer.address}: ")
    assert "\n" not in error.message + (error.hint or "")
    return error


def test_good_peer_is_asked() -> None:
    with Peer(broker) as peer:
        asked(peer.address)


def test_closed_port() -> None:
    with (
        free_port() as port,
        pytest.raises(WireError, match=f"^localhost:{port}: connection refused"),
    ):
        asked(Address("localhost", port))


def test_unknown_host() -> None:
    with pytest.raises(WireError, match=r"^no-such-host\.invalid:1: cannot resolve its name: "):
        asked(Address("no-such-host.invalid", 1))


@pytest.mark.parametrize("host", ["x" * 70, "a..b", "\udcff"])
def test_impossible_host(host: str) -> None:
    with pytest.raises(WireError, match="cannot resolve its name"):
        asked(Address(host, 1))


def test_slow_lookup_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: done.wait(5))
    start = time.monotonic()

    with pytest.raises(WireError, match=r"its name is not resolved within 0\.4 s"):
        asked(Address("slow.example", 1))

    done.set()
    assert time.monotonic() - start < 2


def test_silent_peer() -> None:
    assert "gives no answer within 0.4 s" in failure(silent).message


def test_peer_that_falls_silent_later() -> None:
    def handle(connection: socket.socket) -> None:
        _, version, correlation, _ = read_request(connection)
        connection.sendall(api_versions(correlation, version=version))
        silent(connection)

    assert ": no answer within 1 s" in failure(handle).message


def test_full_backlog_is_given_up() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = Address("127.0.0.1", listener.getsockname()[1])
        waiting = [socket.socket() for _ in range(3)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(tuple(address))

        with pytest.raises(WireError, match=r"no connection within 0\.4 s|gives no answer"):
            asked(address)

        for each in waiting:
            each.close()


def test_http_server() -> None:
    error = failure(saying(b"HTTP/1.1 400 Bad Request\r\n\r\n"))

    assert "an HTTP server answers there" in error.message


@pytest.mark.parametrize("is_real", [False, True])
def test_http_server_that_waits_for_the_end_of_lines(is_real: bool) -> None:
    """As Python's own, which says nothing before."""

    def handle(connection: socket.socket) -> None:
        if is_real:
            BaseHTTPRequestHandler(connection, ("", 0), cast("HTTPServer", None))
            return
        with connection.makefile("rb") as said:
            while said.readline().strip():
                pass
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    assert "an HTTP server answers there" in failure(handle).message


def test_ssh_server() -> None:
    assert "an SSH server" in failure(lambda peer: peer.sendall(b"SSH-2.0-OpenSSH\r\n")).message


def test_tls_alert() -> None:
    assert "expects TLS" in failure(saying(b"\x15\x03\x03\x00\x02\x02\x46")).message


@pytest.mark.parametrize("size", OVERSIZED)
def test_impossible_length(size: int) -> None:
    tracemalloc.start()

    error = failure(saying(size.to_bytes(4, signed=True)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert f"an answer would be of {size} bytes" in error.message
    assert peak < 8 << 20


def test_length_that_never_comes_takes_no_memory() -> None:
    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall((1 << 20).to_bytes(4) + bytes(100))
        silent(connection)

    tracemalloc.start()
    failure(handle)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 8 << 20


def test_slow_drip_is_not_waited_for() -> None:
    def handle(connection: socket.socket) -> None:
        read_request(connection)
        for byte in api_versions(1):
            connection.sendall(bytes([byte]))
            time.sleep(0.1)

    assert "no answer within 0.4 s" in failure(handle).message


def test_other_correlation() -> None:
    assert "an answer to request 7" in failure(saying(api_versions(7))).message


WHOLE = api_versions(1)
STEPS = sorted({*range(12), *range(12, len(WHOLE), 7), len(WHOLE) - 1})


@pytest.mark.parametrize("size", STEPS)
def test_peer_closes_within_its_first_answer(size: int) -> None:
    assert "closes the connection" in failure(saying(WHOLE[:size])).message


@pytest.mark.parametrize("size", range(len(described(2))))
def test_peer_closes_at_every_byte_of_a_later_answer(size: int) -> None:
    def handle(connection: socket.socket) -> None:
        _, version, correlation, _ = read_request(connection)
        connection.sendall(api_versions(correlation, version=version))
        _, version, correlation, _ = read_request(connection)
        connection.sendall(described(correlation, version)[:size])

    assert "closes the connection" in failure(handle).message


@given(st.binary(max_size=300))
def test_garbage_is_an_answer_or_no_answer(garbage: bytes) -> None:
    for api, version in (("ApiVersions", 3), ("DescribeCluster", 2), ("Fetch", 18)):
        for head in (b"", b"\0\0\0\1", b"\0\0\0\1\0"):
            with suppress(DecodeError):
                decode_answer(api, version, 1, head + garbage)


@given(st.data())
def test_mutated_answer_is_an_answer_or_no_answer(data: st.DataObject) -> None:
    payload = bytearray(described(1)[4:])
    for _ in range(data.draw(st.integers(1, 4))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))

    with suppress(DecodeError):
        decode_answer("DescribeCluster", 2, 1, bytes(payload))


def test_promised_elements_that_are_not_there_cost_nothing() -> None:
    body = b"\0\0\0\1\0" + b"\0\0\0\0\0\0\1\2" + b"\xff\xff\xff\xff\x0f"
    start = time.monotonic()

    with pytest.raises(DecodeError):
        decode_answer("DescribeQuorum", 2, 1, body)

    assert time.monotonic() - start < 1


# Negotiation


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
        asked(address)


def test_api_that_is_not_served_is_named() -> None:
    apis = {key: served for key, served in APIS.items() if key != 60}
    with (
        serving(apis) as address,
        pytest.raises(WireError, match=r"does not serve DescribeCluster \(60\)$"),
    ):
        asked(address)


def test_version_that_is_not_served_is_named() -> None:
    with (
        serving(APIS | {60: (0, 1)}) as address,
        pytest.raises(WireError, match=r"DescribeCluster \(60\) version 2, only 0 to 1"),
        Connection(address, HASTY, Deadline(1)) as connection,
    ):
        describe_cluster(connection, with_fenced=True)


# Several addresses


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
