"""Configuration files of a server in the working directory."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from kraftops.errors import ConfigError
from kraftops.java.properties import properties_bytes
from kraftops.storage.config.server_config import ServerConfig, load_config

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
