"""Listeners of a controller are advertised as Kafka does."""

import pytest

from tests.helpers.nodes.server_configs import CONTROLLER, VOTERS, load_with, refusal

pytestmark = pytest.mark.usefixtures("working_directory")


@pytest.mark.parametrize(
    ("changed", "endpoint"),
    [
        pytest.param({}, ("CONTROLLER", "localhost", 9093), id="its listener"),
        pytest.param(
            {"advertised.listeners": "CONTROLLER://c1.example.com:9999"},
            ("CONTROLLER", "c1.example.com", 9999),
            id="advertised",
        ),
        pytest.param(
            {"listeners": "CONTROLLER://:9093"}, ("CONTROLLER", "localhost", 9093), id="no host"
        ),
        pytest.param(
            {"listeners": "CONTROLLER://0.0.0.0:9093"},
            ("CONTROLLER", "localhost", 9093),
            id="all interfaces",
        ),
        pytest.param(
            {"listeners": "CONTROLLER://:9093", VOTERS: "1@c1:1"},
            ("CONTROLLER", "c1", 1),
            id="by the voters",
        ),
        pytest.param(
            {"listeners": "CONTROLLER://h:1,SSL://h:2", "controller.listener.names": "SSL,CONTROLLER",
             "listener.security.protocol.map": "SSL:SSL,CONTROLLER:SSL"},
            ("SSL", "h", 2),
            id="the first name",
        ),
    ],
)  # fmt: skip
def test_controller_listener_is_advertised(
    changed: dict[str, str], endpoint: tuple[str, str, int]
) -> None:
    assert load_with(CONTROLLER | changed).controller_listener == endpoint


def test_voter_without_a_routable_host_is_refused() -> None:
    error = refusal(CONTROLLER | {"listeners": "CONTROLLER://:1", VOTERS: "1@0.0.0.0:1"})

    assert error.message == "server.properties: line 7: Host string (0.0.0.0) is not routeable"
