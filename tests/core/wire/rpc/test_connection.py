"""Negotiation of API versions, and requests that a server does not serve."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from kraftops.errors import AnswerError, AuthError, WireError
from kraftops.wire.config.jaas import Login
from kraftops.wire.config.settings import Sasl
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.cluster import describe_cluster
from kraftops.wire.rpc.connection import Connection, log_in
from tests.helpers.wire.asking import HASTY, ask, failure
from tests.helpers.wire.peers import (
    APIS,
    Peer,
    api_versions,
    broker,
    read_request,
    saying,
)

ADDRESS = Address("one", 9092)
PLAIN = Sasl("PLAIN", Login("PlainLoginModule", {"username": "bob", "password": "pw"}))


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

    assert "not a KRaft node of Kafka 3.3 or later: its APIs are those of Kafka 2.3" in (
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


class Server:
    """The answers of a server, and the requests to it."""

    def __init__(self, handshake: int = 0, code: int = 0, message: str | None = None) -> None:
        self._answers: dict[str, dict[str, Any]] = {
            "SaslHandshake": {"error_code": handshake, "mechanisms": ["SCRAM-SHA-256", "GSSAPI"]},
            "SaslAuthenticate": {"error_code": code, "error_message": message, "auth_bytes": b""},
        }
        self.asked: list[tuple[str, dict[str, object]]] = []

    def ask(self, api: str, _: Deadline, **values: object) -> SimpleNamespace:
        self.asked.append((api, values))
        return SimpleNamespace(**self._answers[api])


def refusal(server: Server, sasl: Sasl = PLAIN) -> WireError:
    with pytest.raises(WireError) as refused:
        log_in(sasl, ADDRESS, server.ask, Deadline(5))
    assert refused.value.message.count(str(ADDRESS)) == 1
    return refused.value


def test_handshake_comes_before_the_tokens_of_the_mechanism() -> None:
    server = Server()

    log_in(PLAIN, ADDRESS, server.ask, Deadline(5))

    assert server.asked == [
        ("SaslHandshake", {"mechanism": "PLAIN"}),
        ("SaslAuthenticate", {"auth_bytes": b"bob\0bob\0pw"}),
    ]


def test_error_of_another_mechanism_names_those_of_the_server() -> None:
    server = Server(handshake=33)

    error = refusal(server)

    assert isinstance(error, AuthError)
    assert error.message.endswith("enabled mechanisms are [SCRAM-SHA-256, GSSAPI]")
    assert "sasl.mechanism" in (error.hint or "")
    assert len(server.asked) == 1


def test_listener_without_sasl_is_named_as_the_cause() -> None:
    error = refusal(Server(handshake=34))

    assert isinstance(error, AuthError)
    assert error.message == "one:9092: it expects no SASL there"
    assert "security.protocol" in (error.hint or "")


@pytest.mark.parametrize("server", [Server(handshake=35), Server(code=35)])
def test_other_errors_have_kafkas_name(server: Server) -> None:
    error = refusal(server)

    assert isinstance(error, AnswerError)
    assert (error.error_code, "UNSUPPORTED_VERSION" in error.message.upper()) == (35, True)


@pytest.mark.parametrize(
    ("message", "text"),
    [("Invalid username", "Invalid username"), (None, "authentication failed")],
)
def test_refused_login_has_the_message_of_the_server(message: str | None, text: str) -> None:
    error = refusal(Server(code=58, message=message))

    assert isinstance(error, AuthError)
    assert error.message == f"one:9092: {text}"
    assert "sasl.jaas.config" in (error.hint or "")


def test_server_that_proves_nothing_is_refused_by_its_address() -> None:
    scram = PLAIN.login._replace(module="ScramLoginModule")

    error = refusal(Server(), Sasl("SCRAM-SHA-256", scram))

    assert isinstance(error, AuthError)
    assert error.message.startswith("one:9092: its answers are not those of SCRAM-SHA-256")
