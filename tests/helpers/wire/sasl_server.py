"""A broker with SASL, and logins to it."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops.errors import AuthError, WireError
from kraftops.varint import read_uvarint
from kraftops.wire.config.client_settings import load_settings
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.cluster import describe_cluster
from kraftops.wire.rpc.connection import Connection
from tests.helpers.wire.peers import Peer, answer, api_versions, described, read_request

SECRET = "s3cr3t,=ü"

PACKAGE = "org.apache.kafka.common.security"

Step = Callable[[bytes], tuple[int, str | None, bytes]]
"""Answers a token with an error code, a message, and a token."""


def server(mechanism: str, steps: Callable[[], Step], seen: list[bytes]) -> Callable:  # type: ignore[type-arg]
    """Return a broker where *mechanism* is enabled, and each login is a new one of *steps*."""

    def handle(connection: socket.socket) -> None:
        step = steps()
        while True:
            key, version, correlation, body = read_request(connection)
            if key == 18:
                reply = api_versions(correlation, version=version)
            elif key == 17:
                asked = body[2:].decode()
                error = 0 if asked == mechanism else 33
                reply = answer(
                    "SaslHandshake", version, correlation, error_code=error, mechanisms=[mechanism]
                )
            elif key == 36:
                size, start = read_uvarint(body, 1)  # behind no tags
                token = body[start : start + size - 1]
                seen.append(token)
                code, message, data = step(token)
                reply = answer(
                    "SaslAuthenticate", version, correlation, error_code=code,
                    error_message=message, auth_bytes=data, session_lifetime_ms=0,
                )  # fmt: skip
            else:
                reply = described(correlation, version)
            connection.sendall(reply)

    return handle


def log_in(folder: Path, peer: Peer, mechanism: str, jaas: str, *lines: str) -> None:
    path = folder / "client.properties"
    escaped = jaas.encode("ascii", "backslashreplace").decode().replace("\\x", "\\u00")
    text = ["security.protocol=SASL_PLAINTEXT", f"sasl.mechanism={mechanism}"]
    path.write_text("\n".join([*text, f"sasl.jaas.config={PACKAGE}.{escaped}", *lines]) + "\n")
    settings = load_settings(str(path), lambda _: None)
    with Connection(peer.address, settings, Deadline(5)) as connection:
        describe_cluster(connection)


def refusal(folder: Path, peer: Peer, mechanism: str, jaas: str, *lines: str) -> str:
    with pytest.raises(WireError) as failed:
        log_in(folder, peer, mechanism, jaas, *lines)
    error = failed.value
    assert isinstance(error, AuthError)
    assert error.message.startswith(f"{peer.address}: ")
    assert error.message.count(str(peer.address)) == 1
    assert SECRET not in f"{error.message} {error.hint}"
    return error.message
