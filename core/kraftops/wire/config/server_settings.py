"""How to reach the controllers of a server's own configuration, as that server does (KIP-631)."""

from __future__ import annotations

from collections.abc import Mapping

from kraftops.errors import ConfigError, UsageError
from kraftops.java.properties import Property
from kraftops.wire.config.settings import Settings, settings_of
from kraftops.wire.net.addresses import Bootstrap, parse_bootstrap

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MECHANISM = "sasl.mechanism.controller.protocol"
_QUORUM = ("controller.quorum.bootstrap.servers", "controller.quorum.voters")
_DEFAULT_MECHANISM = "GSSAPI"


def controllers_of(path: str, found: Mapping[str, Property]) -> list[Bootstrap]:
    """Return the controllers that a server knows.

    Args:
        path: The file, for errors.
        found: Its properties.

    Raises:
        ConfigError: it names none.
    """
    quorum = next((found[key].value for key in _QUORUM if key in found and found[key].value), "")
    if not quorum:
        raise ConfigError(
            f"{path}: neither {_QUORUM[0]} nor {_QUORUM[1]} says where controllers are"
        )
    try:
        return parse_bootstrap(quorum)
    except UsageError as error:
        raise ConfigError(f"{path}: {error.message}", error.hint) from error


def controller_settings(path: str, found: Mapping[str, Property]) -> Settings:
    """Return how a server reaches controllers: by those of its first controller listener.

    Args:
        path: The file, for errors.
        found: Its properties.

    Raises:
        ConfigError: there is no such listener, or its settings cannot be honoured.
    """
    names = found.get("controller.listener.names")
    listener = names.value.split(",")[0].strip() if names else ""
    if not listener:
        raise ConfigError(f"{path}: controller.listener.names is missing")
    protocol = _protocol(path, found, listener)
    mechanism = _value(found, _MECHANISM) or _DEFAULT_MECHANISM
    keys = _client_keys(found, listener, mechanism)
    keys["security.protocol"] = Property("security.protocol", protocol, 0)
    if protocol.startswith("SASL"):
        keys["sasl.mechanism"] = Property("sasl.mechanism", mechanism, 0)
        if "sasl.jaas.config" not in keys:
            name = f"listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config"
            raise ConfigError(
                f"{path}: the listener {listener} is {protocol}, and no {name} says how to log in",
                hint="--command-config has a login of yours; the JVM's own JAAS file is not read",
            )
    return settings_of(path, keys)


def _value(found: Mapping[str, Property], key: str) -> str:
    return found[key].value.strip() if key in found else ""


def _protocol(path: str, found: Mapping[str, Property], listener: str) -> str:
    for entry in _value(found, "listener.security.protocol.map").split(","):
        name, _, protocol = entry.strip().partition(":")
        if name == listener:
            return protocol
    if listener in _PROTOCOLS:
        return listener
    if _value(found, "listener.security.protocol.map"):
        raise ConfigError(f"{path}: listener.security.protocol.map does not have {listener}")
    return "PLAINTEXT"  # what Kafka takes for controllers where there is no map


def _client_keys(
    found: Mapping[str, Property], listener: str, mechanism: str
) -> dict[str, Property]:
    """Return the ssl.* and sasl.* keys; those of the listener and the mechanism come last."""
    prefixes = (
        "",
        f"{mechanism.lower()}.",
        f"listener.name.{listener.lower()}.",
        f"listener.name.{listener.lower()}.{mechanism.lower()}.",
    )
    chosen: dict[str, Property] = {}
    for prefix in prefixes:
        for key, entry in found.items():
            name = key.removeprefix(prefix)
            if key.startswith(prefix) and name.startswith(("ssl.", "sasl.")) and entry.value:
                chosen[name] = entry
    return chosen
