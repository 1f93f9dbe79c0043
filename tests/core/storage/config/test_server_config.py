"""A server's configuration is read, or refused with Kafka's message and its place."""

import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from kraftops.errors import ConfigError, SourceError, UsageError
from kraftops.java.properties import Property, properties_bytes
from kraftops.storage.config.keys import server_keys
from kraftops.storage.config.listeners import Listener
from kraftops.storage.config.server_config import Endpoint, ServerConfig, load_config

BASE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "log.dirs": "d1",
}
"""A node that Kafka accepts, with six lines: what is added begins at line 7."""
CONTROLLER = {"process.roles": "controller", "listeners": "CONTROLLER://localhost:9093"}
BROKER = {"process.roles": "broker", "listeners": "PLAINTEXT://localhost:9092"}
VOTERS = "controller.quorum.voters"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def load_with(
    changed: Mapping[str, str],
    *without: str,
    overrides: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
) -> ServerConfig:
    values = {key: value for key, value in {**BASE, **changed}.items() if key not in without}
    Path("server.properties").write_bytes(properties_bytes(values.items()))
    return load_config("server.properties", overrides, environment)


def refusal(
    changed: Mapping[str, str], *without: str, overrides: tuple[str, ...] = ()
) -> ConfigError:
    with pytest.raises(ConfigError) as refused:
        load_with(changed, *without, overrides=overrides)
    return refused.value


def test_a_combined_node() -> None:
    config = load_with({})

    assert config.path == "server.properties"
    assert config.node_id == 1
    assert config.roles == {"broker", "controller"}
    assert config.log_dirs == ("d1",)
    assert config.metadata_log_dir == "d1"
    assert config.voters == {}
    assert config.bootstrap_servers == ("localhost:9093",)
    assert config.controller_listener_names == ("CONTROLLER",)
    assert config.listeners == (
        Listener("PLAINTEXT", "localhost", 9092, "PLAINTEXT"),
        Listener("CONTROLLER", "localhost", 9093, "PLAINTEXT"),
    )
    assert config.controller_listener == Endpoint("CONTROLLER", "localhost", 9093)
    assert not config.unstable_feature_versions
    assert config.given["node.id"] == Property("node.id", "1", 2)


def test_a_broker_has_no_controller_listener() -> None:
    config = load_with(BROKER)

    assert config.roles == {"broker"}
    assert config.advertised_controllers == ()


def test_every_key_of_kafka_has_a_value() -> None:
    config = load_with({})

    assert len(config.values) == 360
    assert config.values["num.partitions"] == 1
    assert config.values["log.cleaner.min.cleanable.ratio"] == 0.5
    assert config.values["auto.create.topics.enable"] is True
    assert config.values["compression.type"] == "producer"
    assert config.values["group.consumer.assignors"] == ("uniform", "range")
    assert config.values["log.retention.ms"] is None


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("num.partitions", " 7 ", 7),
        ("num.partitions", "+07", 7),
        ("num.partitions", "٣", 3),
        ("num.partitions", "2147483647", 2147483647),
        ("log.retention.bytes", "-9223372036854775808", -(1 << 63)),
        ("offsets.topic.replication.factor", "32767", 32767),
        ("log.cleaner.io.max.bytes.per.second", "1e400", math.inf),
        ("log.cleaner.io.max.bytes.per.second", ".5f", 0.5),
        ("log.cleaner.io.max.bytes.per.second", "0x1.8p1", 3.0),
        ("log.cleaner.io.max.bytes.per.second", "0x1p9999", math.inf),
        ("log.cleaner.min.cleanable.ratio", "-0", 0.0),
        ("auto.create.topics.enable", " TRUE ", True),
        ("auto.create.topics.enable", "False", False),
        ("metric.reporters", "", ()),
        ("metric.reporters", "a , b\t,a", ("a", "b")),
        ("broker.rack", "  r 1 ", "r 1"),
        ("group.consumer.migration.policy", "UpGrade", "UpGrade"),
        ("ssl.key.password", " s ", "s"),
        ("principal.builder.class", "com.example.Builder", "com.example.Builder"),
    ],
)
def test_values_have_types(key: str, text: str, value: object) -> None:
    assert load_with({key: text}).values[key] == value


def test_no_number_is_within_any_limits() -> None:
    value = load_with({"log.cleaner.min.cleanable.ratio": "NaN"}).values

    assert str(value["log.cleaner.min.cleanable.ratio"]) == "nan"


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("num.partitions", "many", "Not a number of type INT"),
        ("num.partitions", "", "Not a number of type INT"),
        ("num.partitions", "1_000", "Not a number of type INT"),
        ("num.partitions", "2147483648", "Not a number of type INT"),
        ("num.partitions", "9" * 5000, "Not a number of type INT"),
        ("num.partitions", "0", "Value must be at least 1"),
        ("log.retention.bytes", "9223372036854775808", "Not a number of type LONG"),
        ("offsets.topic.replication.factor", "32768", "Not a number of type SHORT"),
        ("log.cleaner.min.cleanable.ratio", "nan", "Not a number of type DOUBLE"),
        ("log.cleaner.min.cleanable.ratio", "1.5", "Value must be no more than 1"),
        ("compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
        ("auto.create.topics.enable", "yes", "Expected value to be either true or false"),
        ("log.message.timestamp.type", "createtime", "String must be one of: CreateTime, LogAppendTime"),
        ("log.cleanup.policy", "remove", "String must be one of: compact, delete"),
        (
            "sasl.oauthbearer.assertion.algorithm",
            "none",
            "String must be one of (case insensitive): ES256, RS256",
        ),
        ("remote.log.metadata.manager.listener.name", "", "String must be non-empty"),
        ("principal.builder.class", "Builder", "Class Builder could not be found."),
    ],
)  # fmt: skip
def test_value_that_is_not_allowed_is_refused(key: str, text: str, message: str) -> None:
    error = refusal({key: text})

    assert error.message == (
        f"server.properties: line 7: Invalid value {text} for configuration {key}: {message}"
    )


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


@pytest.mark.parametrize("key", ["process.roles", "node.id", "controller.listener.names"])
def test_required_key_that_is_missing_is_refused(key: str) -> None:
    error = refusal({}, key)

    assert error.message == (
        f'server.properties: Missing required configuration "{key}" which has no default value.'
    )
    assert error.hint


def test_neither_voters_nor_bootstrap_servers_are_refused() -> None:
    error = refusal({}, "controller.quorum.bootstrap.servers")

    assert error.message == (
        "server.properties: If using process.roles, either controller.quorum.bootstrap.servers "
        "must contain the set of bootstrap controllers or controller.quorum.voters must contain a "
        "parseable set of controllers."
    )


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
def test_the_first_error_is_kafkas(changed: dict[str, str], first: str) -> None:
    assert first in refusal(changed).message


def test_the_broker_id_serves_as_node_id() -> None:
    config = load_with({"broker.id": "7"}, "node.id")

    assert config.node_id == 7
    assert "node.id" not in config.given


@pytest.mark.parametrize(
    ("changed", "log_dirs", "metadata"),
    [
        pytest.param({"log.dirs": "/b , a/,/b"}, ("/b", "a/"), "/b", id="as written, none twice"),
        pytest.param({"log.dir": "x"}, ("d1",), "d1", id="log.dirs beats log.dir"),
        pytest.param({"metadata.log.dir": " m "}, ("d1",), "m", id="metadata elsewhere"),
    ],
)
def test_log_directories(changed: dict[str, str], log_dirs: tuple[str, ...], metadata: str) -> None:
    config = load_with(changed)

    assert config.log_dirs == log_dirs
    assert config.metadata_log_dir == metadata


def test_log_directory_without_log_dirs() -> None:
    assert load_with({"log.dir": "x,y"}, "log.dirs").log_dirs == ("x", "y")
    assert load_with({}, "log.dirs").log_dirs == ("/tmp/kafka-logs",)


def test_empty_metadata_directory_is_refused() -> None:
    error = refusal({"metadata.log.dir": ""})

    assert error.message == "server.properties: line 7: metadata.log.dir is empty"
    assert error.hint


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
def test_controller_listener_is_what_others_reach(
    changed: dict[str, str], endpoint: tuple[str, str, int]
) -> None:
    assert load_with(CONTROLLER | changed).controller_listener == endpoint


def test_voters_of_no_routable_host_are_refused_where_they_are_asked() -> None:
    error = refusal(CONTROLLER | {"listeners": "CONTROLLER://:1", VOTERS: "1@0.0.0.0:1"})

    assert error.message == "server.properties: line 7: Host string (0.0.0.0) is not routeable"


def test_names_of_controllers_in_small_letters_are_explained() -> None:
    error = refusal(
        {
            "process.roles": "controller",
            "listeners": "ctl://localhost:9093",
            "controller.listener.names": "ctl",
            "listener.security.protocol.map": "ctl:PLAINTEXT",
        }
    )

    assert error.hint == "listener names are in capitals: write CTL in controller.listener.names"


def test_override_beats_the_file_and_the_last_counts() -> None:
    config = load_with({}, overrides=("node.id=2", "node.id=3", "broker.rack=a=b"))

    assert config.node_id == 3
    assert config.values["broker.rack"] == "a=b"
    assert config.given["node.id"] == Property("node.id", "3", 0)


@pytest.mark.parametrize("override", ["node.id", "=1", ""])
def test_override_without_key_or_value_is_refused(override: str) -> None:
    with pytest.raises(UsageError, match="expected KEY=VALUE"):
        load_with({}, overrides=(override,))


def test_error_names_the_override() -> None:
    error = refusal({}, overrides=("num.partitions=x",))

    assert error.message == (
        "--override num.partitions=x: Invalid value x for configuration num.partitions: Not a "
        "number of type INT"
    )


def test_place() -> None:
    overrides = ("num.partitions=2", "ssl.key.password=abc", "x.y=abc")
    config = load_with({}, overrides=overrides)

    assert config.place("node.id") == "server.properties: line 2"
    assert config.place("num.partitions") == "--override num.partitions=2"
    assert config.place("ssl.key.password") == "--override ssl.key.password"
    assert config.place("x.y") == "--override x.y"
    assert config.place("log.dir") == "server.properties"


def test_place_of_an_override_is_as_it_was_given() -> None:
    providers = {
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    }

    config = load_with(
        providers, overrides=("broker.rack=${env:RACK}",), environment={"RACK": "r1"}
    )

    assert config.values["broker.rack"] == "r1"
    assert config.given["broker.rack"].value == "r1"
    assert config.place("broker.rack") == "--override broker.rack=${env:RACK}"


@pytest.mark.parametrize(
    "key", [key.name for key in server_keys().values() if key.type == "password"]
)
def test_passwords_are_in_no_message(key: str) -> None:
    secret = "pa55"
    config = load_with({key: secret}, overrides=(f"listener.name.x.{key}={secret}",))
    error = refusal({key: secret, "num.partitions": "x"}, overrides=(f"{key}={secret}",))

    assert secret not in repr(config)
    assert secret not in config.place(key)
    assert secret not in config.place(f"listener.name.x.{key}")
    assert secret not in f"{error.message} {error.hint}"


def test_placeholder_that_is_not_resolved_is_explained() -> None:
    error = refusal({"node.id": "${env:ID}"})

    assert error.message == (
        "server.properties: line 2: Invalid value ${env:ID} for configuration broker.id: Not a "
        "number of type INT"
    )
    assert error.hint
    assert "config.providers" in error.hint


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none.properties", "cannot read none.properties: No such file or directory"),
        (".", "cannot read .: Is a directory"),
    ],
)
def test_file_that_cannot_be_read_is_refused(path: str, message: str) -> None:
    with pytest.raises(SourceError) as refused:
        load_config(path)

    assert refused.value.message == message


def test_malformed_escape_is_refused_with_its_line() -> None:
    Path("bad.properties").write_bytes(b"a=1\nb=\\u12\n")

    with pytest.raises(ConfigError) as refused:
        load_config("bad.properties")

    assert refused.value.message == "bad.properties: line 2: Malformed \\uxxxx encoding."


def test_unknown_keys_pass() -> None:
    assert load_with({"inter.broker.protocol.version": "3.0", "x": "y"}).given["x"].value == "y"
