import pytest

from kraftops.errors import ConfigError
from kraftops.javaproperties import properties
from kraftops.wire.server_settings import Controllers, controllers_of

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required username=u password=p;"


def controllers(*lines: str) -> Controllers:
    return controllers_of("server.properties", properties("\n".join(lines)))


def test_voters_and_no_map_mean_plaintext() -> None:
    found = controllers(
        "controller.quorum.voters=1@a:1,2@b:2", "controller.listener.names=CONTROLLER"
    )

    assert [(str(address), node) for address, node in found.bootstrap] == [("a:1", 1), ("b:2", 2)]
    assert found.settings.protocol == "PLAINTEXT"


def test_first_controller_listener_has_its_own_security() -> None:
    found = controllers(
        "controller.quorum.bootstrap.servers=a:1",
        "controller.listener.names=CTL,OTHER",
        "listener.security.protocol.map=CTL:SASL_SSL,OTHER:PLAINTEXT",
        "sasl.mechanism.controller.protocol=PLAIN",
        f"listener.name.ctl.plain.sasl.jaas.config={PLAIN}",
        "ssl.truststore.location=general.jks",
        "listener.name.ctl.ssl.truststore.location=its-own.jks",
    )

    assert found.settings.protocol == "SASL_SSL"
    assert found.settings.sasl is not None
    assert found.settings.sasl.mechanism == "PLAIN"
    assert found.settings.tls is not None
    assert found.settings.tls.trust is not None
    assert found.settings.tls.trust.location == "its-own.jks"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("controller.listener.names=C",), "says where controllers are"),
        (("controller.quorum.voters=1@a:1",), "controller.listener.names is missing"),
        (
            (
                "controller.quorum.voters=1@a:1",
                "controller.listener.names=C",
                "listener.security.protocol.map=B:SSL",
            ),
            "listener.security.protocol.map does not have C",
        ),
    ],
)
def test_what_is_missing_is_named(lines: tuple[str, ...], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        controllers(*lines)
