"""Errors of answers and their hints."""

from collections.abc import Iterator

import pytest

from kraftops.wire.config.settings import Settings
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.connection import Connection
from tests.helpers.wire.peers import CONTROLLER_APIS, Peer, api_versions, read_request, silent


@pytest.fixture
def controller() -> Iterator[Connection]:
    def handle(connection: object) -> None:
        _, version, correlation, _ = read_request(connection)
        connection.sendall(api_versions(correlation, CONTROLLER_APIS, version=version))
        silent(connection)

    with Peer(handle) as peer, Connection(peer.address, Settings(), Deadline(5)) as connection:
        yield connection


@pytest.mark.parametrize(
    ("message", "permission"),
    [(None, "ALTER"), ("no", "ALTER"), ("it needs DESCRIBE permission.", "DESCRIBE")],
)
def test_missing_permission_is_named(
    controller: Connection, message: str | None, permission: str
) -> None:
    error = controller.error_of(31, message, "ALTER")

    assert (
        error.message
        == f"{controller.address}: not permitted: it needs {permission} on the cluster"
    )
    assert error.hint == f"kafka-acls --add --cluster --operation {permission} grants it"
    assert error.error_code == 31


def test_other_error_has_kafkas_name(controller: Connection) -> None:
    error = controller.error_of(42, "bad", "ALTER")

    assert error.message == f"{controller.address}: bad (INVALID_REQUEST)"
    assert error.hint is None


@pytest.mark.parametrize(
    ("code", "hint"),
    [(35, "from metadata.version 3.7-IV0 on"), (6, "no leader"), (41, "no leader")],
)
def test_error_that_may_pass_has_a_hint(controller: Connection, code: int, hint: str) -> None:
    assert hint in (controller.error_of(code, None, "ALTER").hint or "")
