"""SASL mechanisms against a server that implements them."""

import base64
import hashlib
import hmac
import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from kraftops.errors import AuthError, ConfigError
from kraftops.wire.auth.sasl import log_in as sasl_login
from kraftops.wire.config.client_settings import load_settings
from kraftops.wire.config.jaas import Login
from kraftops.wire.config.settings import Sasl
from kraftops.wire.net.deadline import Deadline
from tests.helpers.wire.peers import Peer
from tests.helpers.wire.sasl_server import SECRET, Step, log_in, refusal, server


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


def test_wrong_password_is_reported_with_the_servers_message(tmp_path: Path) -> None:
    jaas = "plain.PlainLoginModule required username=bob password=no;"
    with Peer(server("PLAIN", plain, [])) as peer:
        assert "Invalid username or password" in refusal(tmp_path, peer, "PLAIN", jaas)


def test_server_without_the_password_is_refused(tmp_path: Path) -> None:
    jaas = f'scram.ScramLoginModule required username="b,o=b" password="{SECRET}";'
    with Peer(server("SCRAM-SHA-256", lambda: scram("sha256", proves=False), [])) as peer:
        assert "not those of SCRAM-SHA-256" in refusal(tmp_path, peer, "SCRAM-SHA-256", jaas)


@pytest.mark.parametrize("garbage", [b"", b"\xff", b"r=1", b"v=x", b"r=,s=,i=9999999999", b"," * 9])
def test_random_challenge_is_an_error(tmp_path: Path, garbage: bytes) -> None:
    jaas = f'scram.ScramLoginModule required username="b,o=b" password="{SECRET}";'
    with Peer(server("SCRAM-SHA-512", lambda: lambda _: (0, None, garbage), [])) as peer:
        assert "not those of SCRAM-SHA-512" in refusal(tmp_path, peer, "SCRAM-SHA-512", jaas)


def test_mechanism_that_is_not_enabled_is_named(tmp_path: Path) -> None:
    jaas = "plain.PlainLoginModule required username=bob password=no;"
    with Peer(server("SCRAM-SHA-512", plain, [])) as peer:
        assert "enabled mechanisms are [SCRAM-SHA-512]" in refusal(tmp_path, peer, "PLAIN", jaas)


@pytest.mark.skipif(find_spec("gssapi") is not None, reason="gssapi is installed")
def test_missing_gssapi_package_is_an_error(tmp_path: Path) -> None:
    jaas = "Krb5LoginModule required useTicketCache=true;"
    with Peer(server("GSSAPI", plain, [])) as peer:
        message = refusal(tmp_path, peer, "GSSAPI", jaas, "sasl.kerberos.service.name=kafka")

    assert "needs the Python package gssapi" in message


# AWS_MSK_IAM


def iam(exchange: Callable[[bytes], bytes]) -> None:
    sasl = Sasl("AWS_MSK_IAM", Login("IAMLoginModule", {}), protocol="SASL_SSL")
    sasl_login(sasl, "b-1.msk.example", exchange, Deadline(5))


@pytest.fixture
def no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """The environment without an account of AWS."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    return monkeypatch


def test_aws_account_signs_the_login(no_aws: pytest.MonkeyPatch) -> None:
    no_aws.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    no_aws.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    no_aws.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    seen: list[bytes] = []

    def exchange(token: bytes) -> bytes:
        seen.append(token)
        return b'{"version":"2020_10_22"}'

    iam(exchange)

    (token,) = map(json.loads, seen)
    assert (token["host"], token["action"]) == ("b-1.msk.example", "kafka-cluster:Connect")
    assert "AKIDEXAMPLE" in token["x-amz-credential"]
    assert "/eu-west-1/kafka-cluster/" in token["x-amz-credential"]
    assert SECRET not in seen[0].decode()


def test_missing_aws_account_is_named(no_aws: pytest.MonkeyPatch) -> None:
    with pytest.raises(AuthError, match="finds no credentials"):
        iam(bytes)
    no_aws.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    no_aws.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with pytest.raises(AuthError, match="finds no region"):
        iam(bytes)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["security.protocol=SASL_PLAINTEXT"], "AWS_MSK_IAM needs security.protocol SASL_SSL"),
        (["security.protocol=SASL_SSL"], "awsProfileName cannot be honoured"),
    ],
)
def test_aws_login_that_cannot_be_honoured_is_refused(
    tmp_path: Path, lines: list[str], reason: str
) -> None:
    module = "software.amazon.msk.auth.iam"
    text = [
        *lines,
        "sasl.mechanism=AWS_MSK_IAM",
        f"sasl.jaas.config={module}.IAMLoginModule required awsProfileName=x;",
        f"sasl.client.callback.handler.class={module}.IAMClientCallbackHandler",
    ]
    path = tmp_path / "c"
    path.write_text("\n".join(text))

    with pytest.raises(ConfigError, match=reason):
        load_settings(str(path), pytest.fail)
