"""SASL login with the mechanisms of kafka-python over our own connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kraftops.errors import AuthError, KraftopsError
from kraftops.wire.auth import oauth
from kraftops.wire.config.settings import Sasl
from kraftops.wire.net.deadline import Deadline

_MAX_ROUNDS = 20  # no mechanism takes more than five
# Errors of the mechanisms on a malformed answer.
_FAILURES = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)

Exchange = Callable[[bytes], bytes]
"""Sends a token to the server and returns the answer."""


def log_in(sasl: Sasl, host: str, exchange: Exchange, deadline: Deadline) -> None:
    """Log in by a mechanism, after its handshake.

    Raises:
        AuthError: the server does not prove that it knows the password, or there is no token.
        WireError: an error of *exchange*.
    """
    mechanism = _mechanism(sasl, host, deadline)
    try:
        for _ in range(_MAX_ROUNDS):
            if mechanism.is_done():
                break
            mechanism.receive(exchange(mechanism.auth_bytes()))
        is_in = mechanism.is_authenticated()
    except KraftopsError:
        raise
    except _failures(sasl) as error:
        raise AuthError(f"its answers are not those of {sasl.mechanism}: {error}") from error
    if not is_in:
        raise AuthError(f"its answers are not those of {sasl.mechanism}")


def _mechanism(sasl: Sasl, host: str, deadline: Deadline) -> Any:
    from kafka.net.sasl import get_sasl_mechanism  # heavy: 60 ms

    options = sasl.login.options
    user = options.get("username", "")
    settings: dict[str, object] = {
        "host": host,
        "sasl_mechanism": sasl.mechanism,
        "sasl_plain_username": user,
        "sasl_plain_password": options.get("password", ""),
    }
    if sasl.mechanism.startswith("SCRAM"):
        # RFC 5802: a comma or an equals sign would end the name.
        settings["sasl_plain_username"] = user.replace("=", "=3D").replace(",", "=2C")
    elif sasl.mechanism == "OAUTHBEARER":
        settings["sasl_oauth_token_provider"] = _token_provider(sasl, deadline)
    elif sasl.mechanism == "GSSAPI":
        _need_gssapi()
        settings["sasl_kerberos_service_name"] = sasl.service_name or "kafka"
    try:
        return get_sasl_mechanism(sasl.mechanism)(**settings)
    except _failures(sasl) as error:
        raise AuthError(f"{sasl.mechanism}: {error}") from error


def _token_provider(sasl: Sasl, deadline: Deadline) -> object:
    from kafka.net.sasl.oauth import AbstractTokenProvider

    class Provider(AbstractTokenProvider):  # type: ignore[misc]  # kafka-python has no types
        def token(self) -> str:
            return oauth.token(sasl, deadline)

        def extensions(self) -> dict[str, str]:
            return oauth.extensions(sasl)

    return Provider()


def _need_gssapi() -> None:
    from importlib.util import find_spec

    if find_spec("gssapi") is None:
        raise AuthError(
            "GSSAPI needs the Python package gssapi, which is not installed",
            hint="pip install gssapi, which needs the Kerberos libraries of the system",
        )


def _failures(sasl: Sasl) -> tuple[type[Exception], ...]:
    if sasl.mechanism != "GSSAPI":
        return _FAILURES
    from gssapi.exceptions import GSSError

    return (*_FAILURES, GSSError)
