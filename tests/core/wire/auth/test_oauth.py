"""OAuth tokens from endpoints and files, and unsecured ones."""

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from kraftops.errors import ConfigError
from tests.helpers.wire.certificates import authority, server_context, signed_by
from tests.helpers.wire.peers import Peer
from tests.helpers.wire.sasl_server import SECRET, Step, log_in, refusal, server


def bearer(seen: list[bytes]) -> Step:
    return lambda _: (0, None, b"")


OAUTH = "oauthbearer.OAuthBearerLoginModule required"


@contextmanager
def endpoint(
    status: int,
    body: bytes,
    requests: list[tuple[str, str]],
    context: ssl.SSLContext | None = None,
) -> Iterator[str]:
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
        if context:
            http.socket = context.wrap_socket(http.socket, server_side=True)
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http{'s' if context else ''}://127.0.0.1:{http.server_port}/token"
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
        (200, b"{}", "not JSON with an access_token"),
        (200, b"<", "not JSON"),
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


def test_missing_token_source_is_an_error(tmp_path: Path) -> None:
    with Peer(oauth_server([])) as peer:
        assert "no source of tokens" in refusal(tmp_path, peer, "OAUTHBEARER", f"{OAUTH};")


# The TLS of a token endpoint


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The URL of an endpoint with TLS, and the file of its authority."""
    folder = tmp_path_factory.mktemp("tls")
    ca = authority()
    (folder / "ca.pem").write_text(ca.pem)
    context = server_context(folder, ca, signed_by(ca, "server"))
    context.verify_mode = ssl.CERT_NONE
    with endpoint(200, b'{"access_token": "t0ken"}', [], context) as url:
        yield url.replace("127.0.0.1", "localhost"), folder / "ca.pem"


@pytest.mark.parametrize("place", ["login-module", "file"])
def test_endpoint_is_trusted_by_its_own_ssl_keys(
    secure: tuple[str, Path], place: str, tmp_path: Path
) -> None:
    url, ca = secure
    key = "ssl.truststore.location"
    seen: list[bytes] = []
    module = f'{key}="{ca}" ssl.truststore.type="PEM"' if place == "login-module" else ""
    file = [f"{key}={ca}", "ssl.truststore.type=PEM"] if place == "file" else []
    with Peer(oauth_server(seen)) as peer:
        log_in(
            tmp_path, peer, "OAUTHBEARER", f'{OAUTH} clientId="me" clientSecret="x" {module};',
            f"sasl.oauthbearer.token.endpoint.url={url}", *file,
        )  # fmt: skip

    assert b"auth=Bearer t0ken" in seen[0]


def test_endpoint_that_is_not_trusted_is_refused(secure: tuple[str, Path], tmp_path: Path) -> None:
    with Peer(oauth_server([])) as peer:
        message = refusal(
            tmp_path, peer, "OAUTHBEARER", f'{OAUTH} clientId="me" clientSecret="x";',
            f"sasl.oauthbearer.token.endpoint.url={secure[0]}",
        )  # fmt: skip

    assert "CERTIFICATE_VERIFY_FAILED" in message


def test_key_of_the_login_module_that_has_no_meaning_is_named(tmp_path: Path) -> None:
    with (
        Peer(oauth_server([])) as peer,
        pytest.raises(ConfigError, match=r"ssl\.engine\.factory\.cl"),
    ):
        log_in(
            tmp_path, peer, "OAUTHBEARER", f'{OAUTH} ssl.engine.factory.class="x";',
            "sasl.oauthbearer.token.endpoint.url=https://localhost:1/",
        )  # fmt: skip
