"""Rules between listeners and the quorum are checked."""

import pytest

from tests.helpers.nodes.server_configs import refusal

pytestmark = pytest.mark.usefixtures("working_directory")


def test_quorum_without_voters_and_bootstrap_servers_is_refused() -> None:
    error = refusal({}, "controller.quorum.bootstrap.servers")

    assert error.message == (
        "server.properties: If using process.roles, either controller.quorum.bootstrap.servers "
        "must contain the set of bootstrap controllers or controller.quorum.voters must contain a "
        "parseable set of controllers."
    )


def test_controller_listener_in_small_letters_is_explained() -> None:
    error = refusal(
        {
            "process.roles": "controller",
            "listeners": "ctl://localhost:9093",
            "controller.listener.names": "ctl",
            "listener.security.protocol.map": "ctl:PLAINTEXT",
        }
    )

    assert error.hint == "listener names are in capitals: write CTL in controller.listener.names"
