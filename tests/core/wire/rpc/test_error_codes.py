"""Errors with Kafka's names of their codes."""

import pytest

from kraftops.errors import AuthError, UnknownOutcomeError, WireError
from kraftops.wire.net.addresses import Address
from kraftops.wire.rpc.error_codes import (
    BROKER_ID_NOT_REGISTERED,
    BROKER_NOT_AVAILABLE,
    CLUSTER_AUTHORIZATION_FAILED,
    FENCED_LEADER_EPOCH,
    INCONSISTENT_CLUSTER_ID,
    NOT_CONTROLLER,
    SASL_AUTHENTICATION_FAILED,
    UNKNOWN_LEADER_EPOCH,
    UNSUPPORTED_VERSION,
    code_error,
    error_name,
    may_pass,
)

# kafka-python reads its definitions by a deprecated function when it is first imported.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (BROKER_NOT_AVAILABLE, "BROKER_NOT_AVAILABLE"),
        (CLUSTER_AUTHORIZATION_FAILED, "CLUSTER_AUTHORIZATION_FAILED"),
        (UNSUPPORTED_VERSION, "UNSUPPORTED_VERSION"),
        (NOT_CONTROLLER, "NOT_CONTROLLER"),
        (SASL_AUTHENTICATION_FAILED, "SASL_AUTHENTICATION_FAILED"),
        (FENCED_LEADER_EPOCH, "FENCED_LEADER_EPOCH"),
        (UNKNOWN_LEADER_EPOCH, "UNKNOWN_LEADER_EPOCH"),
        (BROKER_ID_NOT_REGISTERED, "BROKER_ID_NOT_REGISTERED"),
        (INCONSISTENT_CLUSTER_ID, "INCONSISTENT_CLUSTER_ID"),
        (9999, "error 9999"),
    ],
)
def test_code_has_kafkas_name(code: int, name: str) -> None:
    assert error_name(code) == name


def test_error_has_the_message_of_the_server() -> None:
    address = Address("a", 1)

    assert code_error(address, 41, None).message == "a:1: NOT_CONTROLLER"
    assert code_error(address, 41, "no").message == "a:1: no (NOT_CONTROLLER)"
    assert code_error(address, 41, "no").error_code == 41


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (code_error(Address("a", 1), NOT_CONTROLLER, None), True),
        (code_error(Address("a", 1), CLUSTER_AUTHORIZATION_FAILED, None), False),
        (WireError("connection refused"), True),
        (UnknownOutcomeError("no answer"), True),
        (WireError("does not serve it", code="not-supported"), False),
        (WireError("a controller answers", code="wrong-node"), False),
        (AuthError("wrong password"), False),
    ],
)
def test_error_passes_or_lasts(error: WireError, passes: bool) -> None:
    assert may_pass(error) is passes
