"""Controllers and settings from a server's own configuration (KIP-631)."""

from dataclasses import replace

from kraftops.errors import ConfigError, UsageError
from kraftops.java.properties import Property
from kraftops.wire.config.client_properties import ClientProperties
from kraftops.wire.config.client_settings import client_settings
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Bootstrap, parse_bootstrap

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_PROTOCOL_MAP = "listener.security.protocol.map"
_MECHANISM = "sasl.mechanism.controller.protocol"
_QUORUM = ("controller.quorum.bootstrap.servers", "controller.quorum.voters")
_DEFAULT_MECHANISM = "GSSAPI"


def controllers_of(properties: ClientProperties) -> list[Bootstrap]:
    """Read the bootstrap servers of a dynamic quorum (KIP-853), else the voters.

    Raises:
        ConfigError: it names none.
    """
    quorum = next(filter(None, map(properties.raw_value, _QUORUM)), "")
    if not quorum:
        raise ConfigError(
            f"{properties.path}: neither {_QUORUM[0]} nor {_QUORUM[1]} says where controllers are"
        )
    try:
        return parse_bootstrap(quorum)
    except UsageError as error:
        raise ConfigError(f"{properties.path}: {error.message}", error.hint) from error


def controller_settings(properties: ClientProperties) -> Settings:
    """Take listener, protocol and login as a broker does to reach its first controller listener.

    Raises:
        ConfigError: there is no such listener, or a value is invalid or unsupported.
    """
    path = properties.path
    listener = properties.value("controller.listener.names").split(",")[0].strip()
    if not listener:
        raise ConfigError(f"{path}: controller.listener.names is missing")
    protocol = _protocol(properties, listener)
    mechanism = properties.value(_MECHANISM) or _DEFAULT_MECHANISM
    entries = _client_entries(properties, listener, mechanism)
    entries["security.protocol"] = Property("security.protocol", protocol, 0)
    if protocol.startswith("SASL"):
        entries["sasl.mechanism"] = Property("sasl.mechanism", mechanism, 0)
        if "sasl.jaas.config" not in entries:
            name = f"listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config"
            raise ConfigError(
                f"{path}: the listener {listener} is {protocol}, and no {name} says how to log in",
                hint="--command-config has a login of yours; the JVM's own JAAS file is not read",
            )
    return client_settings(replace(properties, entries=entries))


def _protocol(properties: ClientProperties, listener: str) -> str:
    for entry in properties.value(_PROTOCOL_MAP).split(","):
        name, _, protocol = entry.strip().partition(":")
        if name == listener:
            return protocol
    if listener in _PROTOCOLS:
        return listener
    if properties.value(_PROTOCOL_MAP):
        raise ConfigError(f"{properties.path}: {_PROTOCOL_MAP} does not have {listener}")
    return "PLAINTEXT"  # Kafka's default for controllers where there is no map


def _client_entries(
    properties: ClientProperties, listener: str, mechanism: str
) -> dict[str, Property]:
    """Strip prefixes from ssl.* and sasl.* keys; of several, the narrowest wins."""
    prefixes = (
        "",
        f"{mechanism.lower()}.",
        f"listener.name.{listener.lower()}.",
        f"listener.name.{listener.lower()}.{mechanism.lower()}.",
    )
    chosen: dict[str, Property] = {}
    for prefix in prefixes:
        for key, entry in properties.entries.items():
            name = key.removeprefix(prefix)
            if key.startswith(prefix) and name.startswith(("ssl.", "sasl.")) and entry.value:
                chosen[name] = entry
    return chosen
