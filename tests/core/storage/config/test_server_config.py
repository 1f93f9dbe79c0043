"""A server's configuration is read, or refused with Kafka's message and its place."""

from pathlib import Path

import pytest

from kraftops.errors import ConfigError, SourceError, UsageError
from kraftops.java.properties import Property
from kraftops.storage.config.keys import server_keys
from kraftops.storage.config.listeners import Listener
from kraftops.storage.config.server_config import Endpoint, load_config
from tests.helpers.nodes.server_configs import BROKER, load_with, refusal

pytestmark = pytest.mark.usefixtures("working_directory")


def test_combined_node_is_read() -> None:
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


def test_broker_has_no_controller_listener() -> None:
    config = load_with(BROKER)

    assert config.roles == {"broker"}
    assert config.advertised_controllers == ()


def test_broker_id_serves_as_node_id() -> None:
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


VAULT = {"config.providers": "vault", "config.providers.vault.class": "com.example.Vault"}


@pytest.mark.parametrize("key", ["ssl.keystore.password", "num.partitions", "log.retention.ms"])
def test_value_of_a_foreign_provider_that_nobody_needs(key: str) -> None:
    config = load_with({**VAULT, key: "${vault:kafka:x}"})

    assert config.log_dirs == ("d1",)
    assert config.unresolved == {key: "com.example.Vault"}
    assert config.given[key].value == "${vault:kafka:x}"


@pytest.mark.parametrize("key", ["log.dirs", "node.id", "listeners", "process.roles"])
def test_value_of_a_foreign_provider_that_is_needed(key: str) -> None:
    changed = {**VAULT, key: "${vault:kafka:x}"}
    error = refusal(changed)

    assert error.message.endswith(
        f": only the config provider com.example.Vault has the value of {key}"
    )
    assert error.hint == f"give it with --override {key}=VALUE"


def test_override_stands_in_for_a_foreign_provider() -> None:
    config = load_with({**VAULT, "log.dirs": "${vault:kafka:x}"}, overrides=("log.dirs=d7",))

    assert config.log_dirs == ("d7",)
    assert config.unresolved == {}


@pytest.mark.parametrize("key", ["node.id", "listeners", "num.partitions", "advertised.listeners"])
def test_values_of_config_providers_are_in_no_message(key: str, tmp_path: Path) -> None:
    """A value may be secret under any key."""
    secrets = tmp_path / "secrets.properties"
    secrets.write_text("id=s3cret-here\n")
    error = refusal(
        {
            key: f"${{file:{secrets}:id}}",
            "config.providers": "file",
            "config.providers.file.class": "org.apache.kafka.common.config.provider."
            "FileConfigProvider",
        }
    )

    assert "s3cret" not in f"{error.message} {error.hint}"
    assert "<redacted>" in error.message
