"""SASL login on a connection: handshake, then the messages of the mechanism (KIP-43, KIP-152)."""

from collections.abc import Callable

from kraftops.errors import AuthError, WireError
from kraftops.wire.config.settings import Sasl
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.codec import Answer
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc import error_codes

Ask = Callable[..., Answer]
"""Sends a request (API, deadline, fields by name) and returns the answer."""


def log_in(sasl: Sasl, address: Address, ask: Ask, deadline: Deadline) -> None:
    """Log in at *address*.

    Raises:
        AuthError: the server refuses the login, or does not prove that it knows the password.
        WireError: there is no answer.
    """
    from kraftops.wire.auth import sasl as mechanisms  # a door: few clusters have SASL

    answer = ask("SaslHandshake", deadline, mechanism=sasl.mechanism)
    if answer.error_code:
        enabled = ", ".join(answer.mechanisms or ())
        raise _handshake_error(address, answer.error_code, sasl.mechanism, enabled)

    def exchange(token: bytes) -> bytes:
        answer = ask("SaslAuthenticate", deadline, auth_bytes=token)
        if answer.error_code == error_codes.SASL_AUTHENTICATION_FAILED:
            raise AuthError.at(
                address,
                answer.error_message or "authentication failed",
                hint="check user and password in sasl.jaas.config",
            )
        if answer.error_code:
            raise error_codes.code_error(address, answer.error_code, answer.error_message)
        return bytes(answer.auth_bytes or b"")

    try:
        mechanisms.log_in(sasl, address.host, exchange, deadline)
    except AuthError as error:
        if error.message.startswith(f"{address}: "):
            raise
        raise AuthError.at(address, error.message, error.hint) from error


def _handshake_error(address: Address, code: int, mechanism: str, enabled: str) -> WireError:
    if code == error_codes.UNSUPPORTED_SASL_MECHANISM:
        return AuthError.at(
            address,
            f"Client SASL mechanism '{mechanism}' not enabled in the server,"
            f" enabled mechanisms are [{enabled}]",
            hint="sasl.mechanism in --command-config sets it",
        )
    if code == error_codes.ILLEGAL_SASL_STATE:
        return AuthError.at(
            address,
            "it expects no SASL there",
            hint="PLAINTEXT or SSL is the security.protocol of this listener",
        )
    return error_codes.code_error(address, code, None)
