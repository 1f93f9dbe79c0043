"""Kafka's error codes (`Errors`), errors with their names, and errors that pass."""

from kraftops.errors import AnswerError, AuthError, WireError
from kraftops.wire.net.addresses import Address

NOT_LEADER_OR_FOLLOWER, REQUEST_TIMED_OUT, BROKER_NOT_AVAILABLE = 6, 7, 8
TOPIC_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED = 29, 31
UNSUPPORTED_SASL_MECHANISM, ILLEGAL_SASL_STATE, UNSUPPORTED_VERSION = 33, 34, 35
NOT_CONTROLLER, SASL_AUTHENTICATION_FAILED = 41, 58
FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH = 74, 75
BROKER_ID_NOT_REGISTERED, INCONSISTENT_CLUSTER_ID = 102, 104
NO_LEADER_CODES = NOT_LEADER_OR_FOLLOWER, NOT_CONTROLLER
"""Errors of a quorum that has no leader now, or another leader."""
_PASSING_CODES = (-1, 5, *NO_LEADER_CODES, REQUEST_TIMED_OUT, BROKER_NOT_AVAILABLE, 13, 77)
"""Also an unknown error, LEADER_NOT_AVAILABLE, NETWORK_EXCEPTION and STALE_BROKER_EPOCH."""
_LASTING = ("not-supported", "wrong-node")


def may_pass(error: WireError) -> bool:
    """Tell whether the same request may succeed later, as after a restart or an election."""
    if isinstance(error, AnswerError):
        return error.error_code in _PASSING_CODES
    return not isinstance(error, AuthError) and error.code not in _LASTING


def error_name(code: int) -> str:
    """Return Kafka's name of an error code."""
    from kafka.errors import for_code

    name = str(getattr(for_code(code), "message", ""))
    return name if name and name != "UNKNOWN" else f"error {code}"


def code_error(address: Address, code: int, message: str | None) -> AnswerError:
    name = error_name(code)
    text = f"{message} ({name})" if message else name
    return AnswerError(f"{address}: {text}", error_code=code, address=str(address))
