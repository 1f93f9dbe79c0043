"""Peers that are silent, slow, broken, or no Kafka."""

import socket
import threading
import time
import tracemalloc
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import cast

import pytest

from kraftops.errors import WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.transport import LARGEST_FRAME
from tests.helpers.wire.asking import PATIENT, ask, failure
from tests.helpers.wire.peers import (
    api_versions,
    described,
    free_port,
    read_request,
    saying,
    silent,
)

OVERSIZED = (LARGEST_FRAME + 1, 0x7FFFFFFF, -1, -(1 << 31), 0, 3)


def test_closed_port() -> None:
    with (
        free_port() as port,
        pytest.raises(WireError, match=f"^localhost:{port}: connection refused"),
    ):
        ask(Address("localhost", port))


def test_unknown_host() -> None:
    with pytest.raises(WireError, match=r"^no-such-host\.invalid:1: cannot resolve its name: "):
        ask(Address("no-such-host.invalid", 1))


@pytest.mark.parametrize("host", ["x" * 70, "a..b", "\udcff"])
def test_impossible_host(host: str) -> None:
    with pytest.raises(WireError, match="cannot resolve its name"):
        ask(Address(host, 1))


def test_slow_lookup_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: done.wait(60))
    start = time.monotonic()

    with pytest.raises(WireError, match=r"its name is not resolved within 0\.4 s"):
        ask(Address("slow.example", 1))

    done.set()
    assert time.monotonic() - start < 30


def test_a_deadline_that_is_over_is_not_the_fault_of_a_name() -> None:
    with pytest.raises(WireError, match="it was not asked: 0 s were over before"):
        ask(Address("localhost", 1), Settings(timeout=0))


def test_silent_peer() -> None:
    assert "gives no answer within 0.4 s" in failure(silent).message


def test_peer_that_answers_once_and_then_is_silent() -> None:
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
            ask(address)

        for each in waiting:
            each.close()


def test_http_server() -> None:
    error = failure(saying(b"HTTP/1.1 400 Bad Request\r\n\r\n"), PATIENT)

    assert "an HTTP server answers there" in error.message


@pytest.mark.parametrize("is_real", [False, True])
def test_http_server_that_waits_for_the_end_of_lines(is_real: bool) -> None:
    """Python's own server answers only then."""

    def handle(connection: socket.socket) -> None:
        if is_real:
            BaseHTTPRequestHandler(connection, ("", 0), cast("HTTPServer", None))
            return
        with connection.makefile("rb") as said:
            while said.readline().strip():
                pass
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    assert "an HTTP server answers there" in failure(handle, PATIENT).message


def test_ssh_server() -> None:
    assert (
        "an SSH server"
        in failure(lambda peer: peer.sendall(b"SSH-2.0-OpenSSH\r\n"), PATIENT).message
    )


def test_tls_alert() -> None:
    assert "expects TLS" in failure(saying(b"\x15\x03\x03\x00\x02\x02\x46"), PATIENT).message


@pytest.mark.parametrize("size", OVERSIZED)
def test_impossible_length(size: int) -> None:
    tracemalloc.start()

    error = failure(saying(size.to_bytes(4, signed=True)), PATIENT)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert f"an answer would have {size} bytes" in error.message
    assert peak < 8 << 20


def test_announced_length_takes_no_memory() -> None:
    def handle(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall((1 << 20).to_bytes(4) + bytes(100))
        silent(connection)

    tracemalloc.start()
    failure(handle, Settings(timeout=8.0, connect_timeout=3.0))  # it is waited for so long
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 8 << 20


def test_answer_byte_by_byte_is_given_up() -> None:
    def handle(connection: socket.socket) -> None:
        read_request(connection)
        for byte in api_versions(1):
            connection.sendall(bytes([byte]))
            time.sleep(0.1)

    assert "no answer within 0.4 s" in failure(handle).message


WHOLE = api_versions(1)
STEPS = sorted({*range(12), *range(12, len(WHOLE), 7), len(WHOLE) - 1})


@pytest.mark.parametrize("size", STEPS)
def test_peer_closes_within_its_first_answer(size: int) -> None:
    assert "closes the connection" in failure(saying(WHOLE[:size]), PATIENT).message


@pytest.mark.parametrize("size", range(len(described(2))))
def test_peer_closes_at_every_byte_of_a_later_answer(size: int) -> None:
    def handle(connection: socket.socket) -> None:
        _, version, correlation, _ = read_request(connection)
        connection.sendall(api_versions(correlation, version=version))
        _, version, correlation, _ = read_request(connection)
        connection.sendall(described(correlation, version)[:size])

    assert "closes the connection" in failure(handle, PATIENT).message
