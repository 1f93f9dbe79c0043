"""OAuth tokens for SASL/OAUTHBEARER: from a token endpoint, from a file, or unsecured (KIP-768)."""

from __future__ import annotations

import base64
import json
import time
from typing import TYPE_CHECKING

from kraftops.errors import AuthError
from kraftops.wire.auth.tls import tls_context
from kraftops.wire.config.settings import Sasl
from kraftops.wire.net.deadline import Deadline

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from ssl import SSLContext

_LARGEST_TOKEN = 1 << 20  # tokens have some kB; a wrong file may have any size
_BLOCK = 1 << 16  # more than any token, so that one read is usual
_MAX_BLOCKS = 1 << 10  # a server may send less than a block at a time
# UnsecuredLoginLifetimeSeconds of Kafka's `OAuthBearerUnsecuredLoginCallbackHandler`.
_LIFETIME = 3600
_CLAIM = "unsecuredLoginStringClaim_"
_EXTENSION = "extension_"


def token(sasl: Sasl, deadline: Deadline) -> str:
    """Read a token from a file, fetch it from an endpoint (client credentials), or make one.

    Raises:
        AuthError: no token is available; the message holds no secret.
    """
    url = sasl.token_url
    if url.startswith("file:"):
        return _from_file(url)
    if url.startswith(("https:", "http:")):
        return _from_endpoint(sasl, deadline)
    if f"{_CLAIM}sub" in sasl.login.options:
        return _unsecured(sasl)
    raise AuthError(
        "OAUTHBEARER has no source of tokens",
        hint="sasl.oauthbearer.token.endpoint.url is an https: URL, or a file: URL of a token",
    )


def extensions(sasl: Sasl) -> dict[str, str]:
    """Take the SASL extensions (KIP-342) from the options `extension_NAME` of the login."""
    return {
        name.removeprefix(_EXTENSION): value
        for name, value in sasl.login.options.items()
        if name.startswith(_EXTENSION)
    }


def _from_file(url: str) -> str:
    from urllib.request import url2pathname

    path = url2pathname(url.removeprefix("file:").removeprefix("//"))
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read(_LARGEST_TOKEN).strip()
    except OSError as error:
        raise AuthError(f"cannot read the token {path}: {error.strerror}") from error


def _from_endpoint(sasl: Sasl, deadline: Deadline) -> str:
    from urllib.error import HTTPError, URLError
    from urllib.parse import urlencode
    from urllib.request import Request, urlopen

    options = sasl.login.options
    user = sasl.client_id or options.get("clientId", "")
    secret = sasl.client_secret or options.get("clientSecret", "")
    scope = sasl.scope or options.get("scope", "")
    form = {"grant_type": "client_credentials", **({"scope": scope} if scope else {})}
    basic = base64.b64encode(f"{user}:{secret}".encode()).decode()
    request = Request(  # noqa: S310 - the scheme is checked
        sasl.token_url,
        data=urlencode(form).encode(),
        headers={"Authorization": f"Basic {basic}", "Accept": "application/json"},
    )
    try:
        context = _context(sasl)
        seconds = max(deadline.left, 0.001)
        with urlopen(request, timeout=seconds, context=context) as answer:  # noqa: S310
            fields = json.loads(_body(answer, deadline))
        return str(fields["access_token"])
    except OSError as error:
        reason: object = error.reason if isinstance(error, URLError) else error
        if isinstance(error, HTTPError):
            error.close()
            reason = f"{error.code} {error.reason}"
        raise AuthError.at(sasl.token_url, f"no token: {reason}", hint=_ENDPOINT_HINT) from error
    except (ValueError, KeyError, TypeError) as error:
        raise AuthError.at(
            sasl.token_url, "its answer is not JSON with an access_token", hint=_ENDPOINT_HINT
        ) from error


def _context(sasl: Sasl) -> SSLContext | None:
    """Trust the stores that properties name for the endpoint; None for the system's.

    Raises:
        ConfigError: a store cannot be opened.
    """
    if sasl.token_tls is None or not sasl.token_url.startswith("https:"):
        return None
    return tls_context(sasl.token_tls, sasl.source)


def _body(answer: HTTPResponse, deadline: Deadline) -> bytes:
    parts: list[bytes] = []
    while part := answer.read1(_BLOCK):
        parts.append(part)
        if deadline.is_over or len(parts) > _MAX_BLOCKS:
            raise TimeoutError("its answer takes too long")
    return b"".join(parts)


_ENDPOINT_HINT = "check the URL, clientId, clientSecret and scope"


def _unsecured(sasl: Sasl) -> str:
    """Make an unsigned token, which only servers for tests accept (KIP-255)."""
    now = int(time.time())
    claims: dict[str, object] = {"iat": now, "exp": now + _LIFETIME}
    for name, value in sasl.login.options.items():
        if name.startswith(_CLAIM):
            claims[name.removeprefix(_CLAIM)] = value
    return f"{_base64({'alg': 'none'})}.{_base64(claims)}."


def _base64(data: dict[str, object] | dict[str, str]) -> str:
    raw = json.dumps(data, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
