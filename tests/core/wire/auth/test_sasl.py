"""Logging in: the mechanisms against a server that knows them too."""

import base64
import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
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


def plain() -> Step:
    def step(token: bytes) -> tuple[int, str | None, bytes]:
        is_right = token.decode().split("\0")[1:] == ["bob", SECRET]
        return (0, None, b"") if is_right else (58, "Invalid username or password", b"")

    return step


def scram(digest: str, *, proves: bool = True) -> Step:
    """Return the server's side of RFC 5802 for the user `b,o=b`."""
    salt, rounds = b"salt", 4096
    first: list[str] = []

    def step(token: bytes) -> tuple[int, str | None, bytes]:
        text = token.decode()
        if not first:
            bare = text.removeprefix("n,,")
            name, nonce = (field[2:] for field in bare.split(","))
            if name != "b=2Co=3Db":
                return 58, "Authentication failed", b""
            first.extend([bare, f"r={nonce}server,s={base64.b64encode(salt).decode()},i={rounds}"])
            return 0, None, first[1].encode()
        final, _, proof = text.rpartition(",p=")
        signed = f"{first[0]},{first[1]},{final}".encode()
        salted = hashlib.pbkdf2_hmac(digest, SECRET.encode(), salt, rounds)
        key = hmac.digest(salted, b"Client Key", digest)
        signature = hmac.digest(hashlib.new(digest, key).digest(), signed, digest)
        expected = bytes(a ^ b for a, b in zip(key, signature, strict=True))
        if base64.b64decode(proof) != expected:
            return 58, "Authentication failed during authentication", b""
        server_key = hmac.digest(salted, b"Server Key", digest)
        verifier = hmac.digest(server_key, signed if proves else b"?", digest)
        return 0, None, b"v=" + base64.b64encode(verifier)

    return step


def test_plain(tmp_path: Path) -> None:
    with Peer(server("PLAIN", plain, [])) as peer:
        log_in(
            tmp_path, peer, "PLAIN",
            f'plain.PlainLoginModule required username="bob" password="{SECRET}";',
        )  # fmt: skip


@pytest.mark.parametrize(
    ("mechanism", "digest"), [("SCRAM-SHA-256", "sha256"), ("SCRAM-SHA-512", "sha512")]
)
def test_scram(tmp_path: Path, mechanism: str, digest: str) -> None:
    jaas = f'scram.ScramLoginModule required username="b,o=b" password="{SECRET}";'
    with Peer(server(mechanism, lambda: scram(digest), [])) as peer:
        log_in(tmp_path, peer, mechanism, jaas)


def refusal(folder: Path, peer: Peer, mechanism: str, jaas: str, *lines: str) -> str:
    with pytest.raises(WireError) as failed:
        log_in(folder, peer, mechanism, jaas, *lines)
    error = failed.value
    assert isinstance(error, AuthError)
    assert error.message.startswith(f"{peer.address}: ")
    assert error.message.count(str(peer.address)) == 1
    assert SECRET not in f"{error.message} {error.hint}"
    return error.message


def test_wrong_password_is_told_in_the_servers_words(tmp_path: Path) -> None:
    jaas = "plain.PlainLoginModule required username=bob password=no;"
    with Peer(server("PLAIN", plain, [])) as peer:
        assert "Invalid username or password" in refusal(tmp_path, peer, "PLAIN", jaas)


def test_server_that_does_not_know_the_password_is_found_out(tmp_path: Path) -> None:
    jaas = f'scram.ScramLoginModule required username="b,o=b" password="{SECRET}";'
    with Peer(server("SCRAM-SHA-256", lambda: scram("sha256", proves=False), [])) as peer:
        assert "not those of SCRAM-SHA-256" in refusal(tmp_path, peer, "SCRAM-SHA-256", jaas)


@pytest.mark.parametrize("garbage", [b"", b"\xff", b"r=1", b"v=x", b"r=,s=,i=9999999999", b"," * 9])
def test_garbage_for_a_challenge_is_one_error(tmp_path: Path, garbage: bytes) -> None:
    jaas = f'scram.ScramLoginModule required username="b,o=b" password="{SECRET}";'
    with Peer(server("SCRAM-SHA-512", lambda: lambda _: (0, None, garbage), [])) as peer:
        assert "not those of SCRAM-SHA-512" in refusal(tmp_path, peer, "SCRAM-SHA-512", jaas)


def test_mechanism_that_is_not_enabled_is_named(tmp_path: Path) -> None:
    jaas = "plain.PlainLoginModule required username=bob password=no;"
    with Peer(server("SCRAM-SHA-512", plain, [])) as peer:
        assert "enabled mechanisms are [SCRAM-SHA-512]" in refusal(tmp_path, peer, "PLAIN", jaas)


# Tokens


def bearer(seen: list[bytes]) -> Step:
    return lambda _: (0, None, b"")


OAUTH = "oauthbearer.OAuthBearerLoginModule required"


@contextmanager
def endpoint(status: int, body: bytes, requests: list[tuple[str, str]]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            form = self.rfile.read(size).decode()
            requests.append((self.headers["Authorization"], form))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}/token"
        http.shutdown()
        thread.join()


def oauth_server(seen: list[bytes]) -> Callable:  # type: ignore[type-arg]
    return server("OAUTHBEARER", lambda: bearer(seen), seen)


def test_token_of_an_endpoint(tmp_path: Path) -> None:
    seen: list[bytes] = []
    requests: list[tuple[str, str]] = []
    with (
        endpoint(200, b'{"access_token": "t0ken"}', requests) as url,
        Peer(oauth_server(seen)) as peer,
    ):
        log_in(
            tmp_path, peer, "OAUTHBEARER",
            f'{OAUTH} clientId="me" clientSecret="{SECRET}" scope="s" extension_x="y";',
            f"sasl.oauthbearer.token.endpoint.url={url}",
        )  # fmt: skip

    basic = base64.b64encode(f"me:{SECRET}".encode()).decode()
    assert requests == [(f"Basic {basic}", "grant_type=client_credentials&scope=s")]
    assert seen == [b"n,,\x01auth=Bearer t0ken\x01x=y\x01\x01"]


def test_token_of_a_file(tmp_path: Path) -> None:
    seen: list[bytes] = []
    (tmp_path / "token").write_text("t0ken\n")
    with Peer(oauth_server(seen)) as peer:
        url = f"sasl.oauthbearer.token.endpoint.url=file://{tmp_path}/token"
        log_in(tmp_path, peer, "OAUTHBEARER", f"{OAUTH};", url)

    assert seen == [b"n,,\x01auth=Bearer t0ken\x01\x01"]


def test_unsecured_token(tmp_path: Path) -> None:
    seen: list[bytes] = []
    with Peer(oauth_server(seen)) as peer:
        log_in(tmp_path, peer, "OAUTHBEARER", f'{OAUTH} unsecuredLoginStringClaim_sub="me";')

    claims = seen[0].split(b".")[1]
    told = json.loads(base64.urlsafe_b64decode(claims + b"=" * (-len(claims) % 4)))
    assert told["sub"] == "me"
    assert told["exp"] > told["iat"]


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, b"no", "no token: "),
        (200, b"{}", "no JSON with an access_token"),
        (200, b"<", "no JSON"),
    ],
)
def test_endpoint_without_a_token_is_named(
    tmp_path: Path, status: int, body: bytes, reason: str
) -> None:
    with endpoint(status, body, []) as url, Peer(oauth_server([])) as peer:
        line = f"sasl.oauthbearer.token.endpoint.url={url}"
        jaas = f'{OAUTH} clientId="me" clientSecret="{SECRET}";'
        message = refusal(tmp_path, peer, "OAUTHBEARER", jaas, line)

    assert url in message
    assert reason in message


def test_no_source_of_tokens_is_told(tmp_path: Path) -> None:
    with Peer(oauth_server([])) as peer:
        assert "no source of tokens" in refusal(tmp_path, peer, "OAUTHBEARER", f"{OAUTH};")


@pytest.mark.skipif(find_spec("gssapi") is not None, reason="gssapi is installed")
def test_missing_gssapi_is_told(tmp_path: Path) -> None:
    jaas = "Krb5LoginModule required useTicketCache=true;"
    with Peer(server("GSSAPI", plain, [])) as peer:
        message = refusal(tmp_path, peer, "GSSAPI", jaas, "sasl.kerberos.service.name=kafka")

    assert "needs the Python package gssapi" in message
