"""Rules between keys are checked, with Kafka's messages and in Kafka's order."""

import pytest

from tests.helpers.nodes.server_configs import BROKER, CONTROLLER, VOTERS, load_with, refusal

pytestmark = pytest.mark.usefixtures("working_directory")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        pytest.param(
            {"log.cleaner.min.cleanable.ratio": "12345678"},
            "line 7: Invalid value 1.2345678E7 for configuration log.cleaner.min.cleanable.ratio: "
            "Value must be no more than 1",
            id="doubles are printed as Java does",
        ),
        pytest.param(
            {"node.id": "-02"},
            "line 2: Invalid value -2 for configuration node.id: Value must be at least 0",
            id="numbers are printed as read",
        ),
        pytest.param(
            {"node.id": "one"},
            "line 2: Invalid value one for configuration broker.id: Not a number of type INT",
            id="a bad node id is one of the broker first",
        ),
        pytest.param(
            {"broker.id": "2"},
            "line 7: You must set `node.id` to the same value as `broker.id`.",
            id="two ids",
        ),
        pytest.param(
            {"log.dirs": "d1,,d2"},
            "line 6: Configuration 'log.dirs' values must not be empty.",
            id="empty item",
        ),
        pytest.param(
            {"log.dirs": " "},
            "line 6: Configuration 'log.dirs' must not be empty. Valid values include: any "
            "non-empty value",
            id="empty list",
        ),
        pytest.param(
            {"process.roles": ""},
            "line 1: Configuration 'process.roles' must not be empty. Valid values include: "
            "[broker, controller]",
            id="no roles",
        ),
        pytest.param(
            {"group.consumer.assignors": "uniforn"},
            "line 7: Class uniforn cannot be found",
            id="unknown assignor",
        ),
        pytest.param(
            {"offsets.topic.compression.codec": "5"},
            "line 7: Unknown compression type id: 5",
            id="unknown codec",
        ),
        pytest.param(
            {"group.share.assignors": "simple,a.B"},
            "line 7: group.share.assignors must contain exactly one assignor, but found 2",
            id="two assignors",
        ),
        pytest.param(
            {"group.consumer.heartbeat.interval.ms": "45000",
             "group.consumer.max.heartbeat.interval.ms": "45000"},
            "line 7: group.consumer.heartbeat.interval.ms must be less than "
            "group.consumer.session.timeout.ms",
            id="limits of groups",
        ),
        pytest.param(
            {"group.streams.max.standby.replicas": "0", "group.streams.num.standby.replicas": "1"},
            "line 8: group.streams.num.standby.replicas must be less than or equal to "
            "group.streams.max.standby.replicas",
            id="the place is that of the first key",
        ),
        pytest.param(
            {"group.streams.min.session.timeout.ms": "45001"},
            "line 7: group.streams.session.timeout.ms must be greater than or equal to "
            "group.streams.min.session.timeout.ms",
            id="the place is that of a key that is given",
        ),
        pytest.param(
            {"early.start.listeners": "OTHER"},
            "line 7: early.start.listeners contains listener OTHER, but this is not contained in "
            "listeners or controller.listener.names",
            id="early start",
        ),
        pytest.param(
            {"group.coordinator.rebalance.protocols": "consumer"},
            "line 7: Disabling the 'classic' protocol is not supported.",
            id="classic",
        ),
        pytest.param(
            {"log.roll.ms": "0"},
            "line 7: requirement failed: log.roll.ms must be greater than or equal to 1",
            id="log.roll.ms",
        ),
        pytest.param(
            {"log.roll.jitter.ms": "-1"},
            "line 7: requirement failed: log.roll.jitter.ms must be greater than or equal to 0",
            id="log.roll.jitter.ms",
        ),
        pytest.param(
            {"log.retention.minutes": "0"},
            "line 7: requirement failed: log.retention.ms must be unlimited (-1) or, greater than "
            "or equal to 1",
            id="log.retention",
        ),
        pytest.param(
            {"log.cleaner.threads": "200"},
            "line 7: requirement failed: log.cleaner.dedupe.buffer.size must be at least 1MB per "
            "cleaner thread.",
            id="cleaner buffer",
        ),
        pytest.param({"log.cleaner.threads": "0"}, "line 7: / by zero", id="no cleaner"),
        pytest.param(
            {"replica.fetch.wait.max.ms": "30001"},
            "line 7: requirement failed: replica.socket.timeout.ms should always be at least "
            "replica.fetch.wait.max.ms to prevent unnecessary socket timeouts",
            id="socket timeout",
        ),
        pytest.param(
            {"replica.lag.time.max.ms": "1"},
            "line 7: requirement failed: replica.fetch.wait.max.ms should always be less than or "
            "equal to replica.lag.time.max.ms to prevent frequent changes in ISR",
            id="lag",
        ),
        pytest.param(
            {VOTERS: "2@h:1,3@h:2"},
            "line 7: requirement failed: If process.roles contains the 'controller' role, the node "
            "id 1 must be included in the set of voters controller.quorum.voters=Set(2, 3)",
            id="voters without this node",
        ),
        pytest.param(
            BROKER | {VOTERS: "1@h:1"},
            "line 7: requirement failed: If process.roles contains just the 'broker' role, the "
            "node id 1 must not be included in the set of voters controller.quorum.voters=Set(1)",
            id="a broker that votes",
        ),
        pytest.param(
            BROKER | {"controller.quorum.auto.join.enable": "true"},
            "line 7: requirement failed: controller.quorum.auto.join.enable is only supported when "
            "process.roles contains the 'controller' role.",
            id="a broker that joins",
        ),
        pytest.param(
            BROKER | {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT"},
            "line 4: Controller listener with name CONTROLLER defined in controller.listener.names "
            "not found in listener.security.protocol.map  (an explicit security mapping for each "
            "controller listener is required if listener.security.protocol.map is non-empty, or if "
            "there are security protocols other than PLAINTEXT in use)",
            id="a controller without protocol",
        ),
        pytest.param(
            CONTROLLER | {"inter.broker.listener.name": "CONTROLLER"},
            "line 4: requirement failed: controller.listener.names must not contain an explicitly "
            "set inter.broker.listener.name configuration value when process.roles=controller'",
            id="brokers on the listener of controllers",
        ),
        pytest.param(
            {"controller.listener.names": "CONTROLLER,SSL",
             "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"},
            "line 4: requirement failed: controller.listener.names must only contain values "
            "appearing in the 'listeners' configuration when running the KRaft controller role",
            id="a controller listener that is none",
        ),
        pytest.param(
            {"inter.broker.listener.name": "OTHER"},
            "line 7: Listener with name OTHER defined in inter.broker.listener.name not found in "
            "listener.security.protocol.map.",
            id="no such listener between brokers",
        ),
        pytest.param(
            {"inter.broker.listener.name": "PLAINTEXT", "security.inter.broker.protocol": "SSL"},
            "line 7: Only one of inter.broker.listener.name and security.inter.broker.protocol "
            "should be set.",
            id="listener and protocol between brokers",
        ),
        pytest.param(
            {"security.inter.broker.protocol": "SSL"},
            "line 7: requirement failed: inter.broker.listener.name must be a listener name "
            "defined in advertised.listeners. The valid options based on currently configured "
            "listeners are PLAINTEXT",
            id="protocol between brokers without listener",
        ),
        pytest.param(
            {"advertised.listeners": "PLAINTEXT://h:1,SSL://h:2"},
            "line 7: requirement failed: advertised.listeners listener names must be equal to or a "
            "subset of the ones defined in listeners. Found PLAINTEXT,SSL. The valid options based "
            "on the current configuration are PLAINTEXT,CONTROLLER",
            id="advertised but no listener",
        ),
        pytest.param(
            {"advertised.listeners": "PLAINTEXT://0.0.0.0:1"},
            "line 7: requirement failed: advertised.listeners cannot use the nonroutable "
            "meta-address 0.0.0.0. Use a routable IP address.",
            id="0.0.0.0 is advertised",
        ),
        pytest.param(
            {"listeners": "CONTROLLER://h:1"},
            "line 3: requirement failed: There must be at least one broker advertised listener. "
            "Perhaps all listeners appear in controller.listener.names?",
            id="no broker listener",
        ),
        pytest.param(
            {"cordoned.log.dirs": "d1,d2"},
            "line 7: requirement failed: All entries in cordoned.log.dirs must be present in "
            "log.dirs or log.dir. Missing entries : d2",
            id="cordoned",
        ),
        pytest.param(
            {"cordoned.log.dirs": "*,d1"},
            "line 7: requirement failed: When cordoned.log.dirs is set to *, it must not contain "
            "other values",
            id="all cordoned",
        ),
        pytest.param(
            {"listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:SSL",
             "inter.broker.listener.name": "PLAINTEXT",
             "sasl.mechanism.inter.broker.protocol": "PLAIN"},
            "line 9: requirement failed: sasl.mechanism.inter.broker.protocol must be included in "
            "sasl.enabled.mechanisms when SASL is used for inter-broker communication",
            id="mechanism",
        ),
        pytest.param(
            {"listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:SSL",
             "inter.broker.listener.name": "PLAINTEXT",
             "listener.name.plaintext.ssl.client.auth": "NONE"},
            "line 9: Invalid value NONE for configuration ssl.client.auth: String must be one of: "
            "required, requested, none",
            id="a key of one listener",
        ),
        pytest.param(
            {"queued.max.request.bytes": "1"},
            "line 7: requirement failed: queued.max.request.bytes must be larger or equal to "
            "socket.request.max.bytes",
            id="queued bytes",
        ),
        pytest.param(
            {"max.connections.per.ip": "0"},
            "line 7: requirement failed: max.connections.per.ip can be set to zero only if "
            "max.connections.per.ip.overrides property is set.",
            id="no connections",
        ),
        pytest.param(
            {"max.connections.per.ip.overrides": "h:1,a b:2"},
            "line 7: max.connections.per.ip.overrides contains invalid addresses : a b",
            id="addresses of overrides",
        ),
        pytest.param(
            {"max.connections.per.ip.overrides": "h:x"},
            'line 7: For input string: "x"',
            id="numbers of overrides",
        ),
        pytest.param(
            {"connections.max.idle.ms": "100"},
            "line 7: requirement failed: connection.failed.authentication.delay.ms=100 should "
            "always be less than connections.max.idle.ms=100 to prevent failed authentication "
            "responses from timing out",
            id="idle connections",
        ),
    ],
)  # fmt: skip
def test_broken_rule_is_refused_at_its_place(changed: dict[str, str], message: str) -> None:
    assert refusal(changed).message == f"server.properties: {message}"


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        pytest.param({"node.id": "x", "process.roles": "x"}, "broker.id", id="by Kafka's order"),
        pytest.param(
            {"num.partitions": "x", "log.roll.ms": "0"}, "num.partitions", id="rules last"
        ),
        pytest.param(
            {"log.roll.ms": "0", "group.consumer.min.session.timeout.ms": "60001"},
            "group.consumer.max.session.timeout.ms",
            id="groups before logs",
        ),
    ],
)
def test_first_error_is_kafkas(changed: dict[str, str], first: str) -> None:
    assert first in refusal(changed).message


@pytest.mark.parametrize(
    ("key", "accepted", "refused"),
    [
        ("log.roll.ms", "1", "0"),
        ("log.roll.hours", "1", "0"),
        ("log.retention.ms", "-1", "0"),
        ("queued.max.request.bytes", "0", "1"),
        ("queued.max.request.bytes", "104857600", "104857599"),
        ("max.connections.per.ip.overrides", "::1:2147483647", "::1:2147483648"),
        ("log.cleaner.dedupe.buffer.size", "1048577", "1048576"),
        ("replica.fetch.wait.max.ms", "30000", "30001"),
        ("connections.max.idle.ms", "101", "100"),
        ("group.consumer.heartbeat.interval.ms", "15000", "15001"),
        ("group.consumer.session.timeout.ms", "45000", "44999"),
    ],
)
def test_rule_holds_at_its_edge(key: str, accepted: str, refused: str) -> None:
    load_with(BROKER | {key: accepted})

    assert str(refusal(BROKER | {key: refused})).startswith("server.properties: line 7: ")
