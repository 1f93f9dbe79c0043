"""TLS handshakes with a server on loopback, with all kinds of stores."""

import ssl
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kraftops.errors import AuthError, ConfigError, WireError
from kraftops.wire.config.client_settings import load_settings
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.cluster import describe_cluster
from kraftops.wire.rpc.connection import Connection
from tests.core.wire.auth.test_jks import jks
from tests.helpers.wire.certificates import (
    Signed,
    authority,
    server_context,
    signed_by,
    trusted_pkcs12,
)
from tests.helpers.wire.peers import Peer, broker, silent

Form = Callable[[str], str]


@dataclass(frozen=True)
class Server:
    """A server with a certificate of *ca*, and certificates for clients."""

    folder: Path
    ca: Signed
    client: Signed
    peer: Peer
    strict: Peer  # wants a certificate of its clients


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("tls")
    ca = authority()
    own = signed_by(ca, "server")
    lenient, strict = (server_context(folder, ca, own) for _ in range(2))
    strict.verify_mode = ssl.CERT_REQUIRED
    with Peer(broker, lenient) as peer, Peer(broker, strict) as other:
        yield Server(folder, ca, signed_by(ca, "client"), peer, other)


def ask(peer: Peer, folder: Path, *lines: str, timeout: float = 5) -> None:
    """Ask a peer by a file of client properties."""
    path = folder / "client.properties"
    text = "\n".join(["security.protocol=SSL", *lines]) + "\n"
    path.write_text(text, "iso-8859-1")
    settings = load_settings(str(path), lambda _: None)
    with Connection(peer.address, settings, Deadline(timeout)) as connection:
        describe_cluster(connection)


def escaped(pem: str) -> str:
    """Return PEM as a value in a properties file."""
    return pem.replace("\n", "\\n")


def one_line(pem: str) -> str:
    return pem.replace("\n", " ")


def test_pem_file(server: Server, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(server.ca.pem)

    ask(
        server.peer,
        tmp_path,
        "ssl.truststore.type=PEM",
        f"ssl.truststore.location={tmp_path}/ca.pem",
    )


@pytest.mark.parametrize("form", [escaped, one_line])
def test_inline_pem(server: Server, tmp_path: Path, form: Form) -> None:
    ask(
        server.peer,
        tmp_path,
        f"ssl.truststore.certificates={form(authority('x').pem + server.ca.pem)}",
    )


@pytest.mark.parametrize("kind", ["JKS", "PKCS12", ""])
def test_jks_is_known_by_its_bytes(server: Server, tmp_path: Path, kind: str) -> None:
    (tmp_path / "t").write_bytes(jks([server.ca.der], "changeit"))

    ask(
        server.peer, tmp_path, f"ssl.truststore.type={kind}",
        f"ssl.truststore.location={tmp_path}/t", "ssl.truststore.password=changeit",
    )  # fmt: skip


def test_jks_without_password_is_not_checked(server: Server, tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(jks([server.ca.der], "changeit"))

    ask(server.peer, tmp_path, f"ssl.truststore.location={tmp_path}/t")


def test_pkcs12(server: Server, tmp_path: Path) -> None:
    (tmp_path / "t.p12").write_bytes(trusted_pkcs12("changeit", authority("x"), server.ca))

    ask(
        server.peer, tmp_path, f"ssl.truststore.location={tmp_path}/t.p12",
        "ssl.truststore.password=changeit",
    )  # fmt: skip


# Our own certificate


def trusting(server: Server) -> str:
    return f"ssl.truststore.certificates={escaped(server.ca.pem)}"


def test_own_certificate_in_pkcs12(server: Server, tmp_path: Path) -> None:
    (tmp_path / "k.p12").write_bytes(server.client.pkcs12("changeit", server.ca))

    ask(
        server.strict, tmp_path, trusting(server), f"ssl.keystore.location={tmp_path}/k.p12",
        "ssl.keystore.password=changeit", "ssl.keystore.type=PKCS12",
    )  # fmt: skip


@pytest.mark.parametrize("password", ["", "changeit"])
def test_own_certificate_in_pem(server: Server, tmp_path: Path, password: str) -> None:
    (tmp_path / "k.pem").write_text(server.client.key_pem(password) + server.client.pem)

    ask(
        server.strict, tmp_path, trusting(server), f"ssl.keystore.location={tmp_path}/k.pem",
        f"ssl.key.password={password}",
    )  # fmt: skip


@pytest.mark.parametrize("form", [escaped, one_line])
def test_own_certificate_inline(server: Server, tmp_path: Path, form: Form) -> None:
    ask(
        server.strict, tmp_path, trusting(server), "ssl.key.password=changeit",
        f"ssl.keystore.key={form(server.client.key_pem('changeit'))}",
        f"ssl.keystore.certificate.chain={form(server.client.pem)}",
    )  # fmt: skip


def test_missing_certificate_is_named(server: Server, tmp_path: Path) -> None:
    with pytest.raises(WireError) as failed:
        ask(server.strict, tmp_path, trusting(server))

    assert failed.value.message.startswith(f"{server.strict.address}: ")
    assert "certificate" in failed.value.message or "closes" in failed.value.message
    assert "ssl.keystore.location" in (failed.value.hint or "")


# Refusals


def test_unknown_authority(server: Server, tmp_path: Path) -> None:
    with pytest.raises(AuthError, match="TLS: its certificate is refused: ") as failed:
        ask(server.peer, tmp_path, f"ssl.truststore.certificates={escaped(authority('x').pem)}")

    assert "ssl.truststore" in (failed.value.hint or "")


def test_authority_that_the_system_does_not_trust_is_refused(
    server: Server, tmp_path: Path
) -> None:
    with pytest.raises(AuthError, match="TLS: its certificate is refused: "):
        ask(server.peer, tmp_path)


def test_other_host_is_refused_unless_hosts_are_not_checked(server: Server, tmp_path: Path) -> None:
    other = signed_by(server.ca, "other", "other.example")
    with Peer(broker, server_context(tmp_path, server.ca, other)) as peer:
        with pytest.raises(AuthError, match="Hostname mismatch") as failed:
            ask(peer, tmp_path, trusting(server))
        assert "lacks the name localhost" in (failed.value.hint or "")

        ask(peer, tmp_path, trusting(server), "ssl.endpoint.identification.algorithm=")


@pytest.mark.parametrize("kind", ["PEM", "PKCS12"])
def test_certificate_of_ours_that_has_expired_is_named_before_it_is_sent(
    kind: str, server: Server, tmp_path: Path
) -> None:
    own = signed_by(server.ca, "old", days=-2)
    path = tmp_path / "own"
    path.write_bytes(
        own.pkcs12("changeit") if kind == "PKCS12" else (own.key_pem() + own.pem).encode()
    )

    with pytest.raises(ConfigError, match="the certificate has expired: it was valid until 20"):
        ask(
            server.strict, tmp_path, trusting(server),
            f"ssl.keystore.type={kind}", f"ssl.keystore.location={path}",
            *(["ssl.keystore.password=changeit"] if kind == "PKCS12" else []),
        )  # fmt: skip


def test_server_with_other_versions_is_refused(server: Server, tmp_path: Path) -> None:
    context = server_context(tmp_path, server.ca, signed_by(server.ca, "s"))
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    with Peer(broker, context) as peer, pytest.raises(WireError, match="TLS"):
        ask(peer, tmp_path, trusting(server), "ssl.enabled.protocols=TLSv1.2")


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3", "TLSv1.2,TLSv1.3"])
def test_versions_are_limited(server: Server, tmp_path: Path, version: str) -> None:
    ask(server.peer, tmp_path, trusting(server), f"ssl.enabled.protocols={version}")


def test_plain_server(tmp_path: Path) -> None:
    with Peer(broker) as peer, pytest.raises(WireError, match="TLS"):
        ask(peer, tmp_path, timeout=0.5)  # it waits for the rest of a request


def test_silent_server_is_not_waited_for(tmp_path: Path) -> None:
    start = time.monotonic()
    with Peer(silent) as peer, pytest.raises(WireError, match=r"no TLS handshake within 0\.5 s"):
        ask(peer, tmp_path, timeout=0.5)

    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is not a store of the kinds JKS, PKCS12 and PEM"),
        (b"\xce\xce\xce\xce12345", "it is not a store"),
        (b"\x30\x03\x02\x01\x03", "the password is wrong, or it is not a PKCS12 store"),
        (b"\xfe\xed\xfe\xed\0\0", "a JKS store that is cut short"),
        (
            b"-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n",
            "a certificate cannot be read",
        ),
    ],
)
def test_bad_store_is_named(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "t").write_bytes(data)

    with Peer(broker) as peer, pytest.raises(ConfigError) as failed:
        ask(peer, tmp_path, f"ssl.truststore.location={tmp_path}/t", "ssl.truststore.password=x")

    assert f"ssl.truststore.location: {tmp_path}/t: {reason}" in failed.value.message


def test_wrong_passwords_are_named_and_not_shown(server: Server, tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(jks([server.ca.der], "changeit"))
    (tmp_path / "k").write_bytes(server.client.pkcs12("changeit"))
    (tmp_path / "p").write_text(server.client.key_pem("changeit") + server.client.pem)
    cases = (
        ("ssl.truststore.location", "t", "ssl.truststore.password"),
        ("ssl.keystore.location", "k", "ssl.keystore.password"),
        ("ssl.keystore.location", "p", "ssl.key.password"),
    )
    for key, name, secret in cases:
        with pytest.raises(ConfigError) as failed:
            ask(server.peer, tmp_path, f"{key}={tmp_path}/{name}", f"{secret}=wr0ng")

        assert f"{key}: {tmp_path}/{name}: " in failed.value.message
        assert "wr0ng" not in failed.value.message + (failed.value.hint or "")


def test_missing_store_is_named(tmp_path: Path) -> None:
    with Peer(broker) as peer, pytest.raises(ConfigError, match="cannot read /none: No such file"):
        ask(peer, tmp_path, "ssl.truststore.location=/none")


@pytest.mark.parametrize("key", ["ssl.truststore.location", "ssl.keystore.location"])
def test_pkcs12_without_its_package_is_one_line_with_the_remedy(
    key: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.p12").write_bytes(server.client.pkcs12("changeit", server.ca))
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)

    with pytest.raises(ConfigError, match="need the Python package cryptography") as failed:
        ask(
            server.peer, tmp_path,
            f"{key}={tmp_path}/s.p12", f"{key.replace('location', 'password')}=changeit",
        )  # fmt: skip

    assert "pip install cryptography" in (failed.value.hint or "")
