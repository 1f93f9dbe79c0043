"""Client properties as Kafka's Java tools take them, checked and made into settings."""

import re
from collections.abc import Callable

from kraftops.wire.config.client_keys import HONOURED, INTS, PASSED_OVER, SECURITY
from kraftops.wire.config.client_properties import ClientProperties, read_properties
from kraftops.wire.config.sasl_properties import sasl_settings
from kraftops.wire.config.settings import CONNECT_TIMEOUT, TIMEOUT, Settings
from kraftops.wire.config.tls_properties import tls_settings

PROTOCOLS = ("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT")
_INT = re.compile(r"[+-]?[0-9]{1,10}")
_MAX_INT = 0x7FFFFFFF  # `Integer.MAX_VALUE`, the most of a key of the type INT


def load_settings(path: str, warn: Callable[[str], None]) -> Settings:
    """Read a file of client properties; call *warn* for each key that clients do not have.

    Raises:
        ConfigError: it cannot be read, or has an invalid or unsupported value; the message holds
            no secret.
    """
    entries = read_properties(path)
    accepted = HONOURED | PASSED_OVER | SECURITY.keys()
    for key, entry in entries.items():
        if key not in accepted and not key.startswith(("config.providers.", "metrics.context.")):
            warn(f"{path}: line {entry.line}: the key {key} is unknown, and ignored")
    return client_settings(ClientProperties(path, entries))


def client_settings(properties: ClientProperties) -> Settings:
    """Check the client properties that we honour; a missing one has Kafka's default.

    Raises:
        ConfigError: a value is invalid or unsupported; the message holds no secret.
    """
    _check_support(properties)
    times = {key: _int(properties, key) for key in INTS if properties.value(key)}
    protocol = properties.value("security.protocol", "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        protocols = ", ".join(PROTOCOLS)
        reason = f"String must be one of (case insensitive): {protocols}"
        raise properties.invalid("security.protocol", reason)
    return Settings(
        protocol=protocol,
        sasl=sasl_settings(properties) if protocol.startswith("SASL") else None,
        tls=tls_settings(properties) if protocol.endswith("SSL") else None,
        timeout=times.get("default.api.timeout.ms", TIMEOUT * 1000) / 1000,
        connect_timeout=times.get("socket.connection.setup.timeout.ms", CONNECT_TIMEOUT * 1000)
        / 1000,
        client_id=properties.value("client.id", "kraftops") or "kraftops",
        source=properties.path,
    )


def _check_support(properties: ClientProperties) -> None:
    """Refuse security keys and configuration providers that have no meaning here."""
    for key in properties.entries:
        value = properties.value(key)
        if key in SECURITY and value and value not in SECURITY[key]:
            raise properties.error(
                key, f"{key} cannot be honoured here", "leave it out for this tool"
            )
        if value.startswith("${") and key in HONOURED:
            reason = f"{key} refers to a configuration provider, which cannot be asked here"
            raise properties.error(key, reason, "put the value itself into a file of its own")


def _int(properties: ClientProperties, key: str) -> int:
    text = properties.value(key)
    if not _INT.fullmatch(text) or abs(int(text)) > _MAX_INT:
        raise properties.invalid(key, "Not a number of type INT")
    if int(text) <= 0:
        raise properties.invalid(key, "Value must be at least 1")
    return int(text)
