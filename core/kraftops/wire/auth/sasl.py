"""SASL login with the mechanisms of kafka-python over our own connections."""

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
    elif sasl.mechanism == "AWS_MSK_IAM":
        _need("botocore", sasl.mechanism, "pip install botocore")
        _need_aws_account()
        settings["security_protocol"] = sasl.protocol
    elif sasl.mechanism == "GSSAPI":
        how = "pip install gssapi, which needs the Kerberos libraries of the system"
        _need("gssapi", sasl.mechanism, how)
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


def _need_aws_account() -> None:
    """Check that AWS's own configuration has credentials and a region, as the mechanism takes.

    Raises:
        AuthError: it has none.
    """
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    try:
        session = Session()
        has_credentials = session.get_credentials() is not None
        region = session.get_config_variable("region")
    except BotoCoreError as error:
        raise AuthError(f"AWS_MSK_IAM: {error}") from error
    if not has_credentials:
        hint = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, name some"
        raise AuthError("AWS_MSK_IAM finds no credentials of AWS", hint)
    if not region:
        raise AuthError("AWS_MSK_IAM finds no region of AWS", "AWS_DEFAULT_REGION names it")


def _need(package: str, mechanism: str, how: str) -> None:
    from importlib.util import find_spec

    if find_spec(package) is None:
        reason = f"{mechanism} needs the Python package {package}, which is not installed"
        raise AuthError(reason, hint=how, code="missing-package")


def _failures(sasl: Sasl) -> tuple[type[Exception], ...]:
    if sasl.mechanism == "AWS_MSK_IAM":
        from botocore.exceptions import BotoCoreError

        return (*_FAILURES, BotoCoreError)
    if sasl.mechanism != "GSSAPI":
        return _FAILURES
    from gssapi.exceptions import GSSError

    return (*_FAILURES, GSSError)
