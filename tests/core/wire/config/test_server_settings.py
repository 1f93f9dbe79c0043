"""Controllers and their settings from a server's configuration."""

import pytest

from kraftops.errors import ConfigError
from kraftops.java.properties import properties
from kraftops.wire.config.client_properties import ClientProperties
from kraftops.wire.config.server_settings import controller_settings, controllers_of
from kraftops.wire.config.settings import Settings

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required username=u password=p;"


def controllers(*lines: str) -> tuple[list[tuple[str, int | None]], Settings]:
    found = ClientProperties("server.properties", properties("\n".join(lines)))
    names = [(str(address), node) for address, node in controllers_of(found)]
    return names, controller_settings(found)


def test_voters_and_no_map_mean_plaintext() -> None:
    names, settings = controllers(
        "controller.quorum.voters=1@a:1,2@b:2", "controller.listener.names=CONTROLLER"
    )

    assert names == [("a:1", 1), ("b:2", 2)]
    assert settings.protocol == "PLAINTEXT"


def test_first_controller_listener_has_its_own_security() -> None:
    _, settings = controllers(
        "controller.quorum.bootstrap.servers=a:1",
        "controller.listener.names=CTL,OTHER",
        "listener.security.protocol.map=CTL:SASL_SSL,OTHER:PLAINTEXT",
        "sasl.mechanism.controller.protocol=PLAIN",
        f"listener.name.ctl.plain.sasl.jaas.config={PLAIN}",
        "ssl.truststore.location=general.jks",
        "listener.name.ctl.ssl.truststore.location=its-own.jks",
    )

    assert settings.protocol == "SASL_SSL"
    assert settings.sasl is not None
    assert settings.sasl.mechanism == "PLAIN"
    assert settings.tls is not None
    assert settings.tls.trust is not None
    assert settings.tls.trust.location == "its-own.jks"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("controller.listener.names=C",), "says where controllers are"),
        (("controller.quorum.voters=1@a:1",), "controller.listener.names is missing"),
        (("controller.quorum.voters=a",), r"^server.properties: 'a' is not an address"),
        (
            (
                "controller.quorum.voters=1@a:1",
                "controller.listener.names=C",
                "listener.security.protocol.map=B:SSL",
            ),
            "listener.security.protocol.map does not have C",
        ),
        (
            (
                "controller.quorum.voters=1@a:1",
                "controller.listener.names=CTL",
                "listener.security.protocol.map=CTL:SASL_SSL",
                "sasl.mechanism.controller.protocol=PLAIN",
                f"listener.name.other.plain.sasl.jaas.config={PLAIN}",
            ),
            "^server.properties: the listener CTL is SASL_SSL, and no listener.name.ctl.plain.sasl",
        ),
    ],
)
def test_error_names_the_missing_key(lines: tuple[str, ...], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        controllers(*lines)
