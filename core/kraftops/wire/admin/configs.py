"""Dynamic configurations of brokers and topics: asked for, and changed key by key (KIP-339)."""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from kraftops.wire.rpc.connection import Connection, refuse_error

UNKNOWN_TOPIC_OR_PARTITION = 3  # `Errors` of Kafka


class ResourceType(IntEnum):
    """Kinds of things with a configuration."""

    TOPIC = 2
    BROKER = 4


class Operation(IntEnum):
    """Kinds of changes; the last two are for lists."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigValue(NamedTuple):
    """A value; None if it is sensitive, as that of a key which Kafka does not know."""

    value: str | None
    is_dynamic: bool
    """Whether the resource itself has it, and not a default or the server's file."""


class ConfigChange(NamedTuple):
    """The change of a key; the value of a list is its elements, separated by commas."""

    key: str
    operation: Operation
    value: str | None = None


DEFAULTS = ""
"""The name of the default configuration of all brokers, which any broker tells and changes."""
_OWN_SOURCES = {ResourceType.TOPIC: 1, ResourceType.BROKER: 2}  # `ConfigSource`, both DYNAMIC_…
_SOURCE_OF_DEFAULTS = 3  # `ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG`


def describe_configs(
    connection: Connection, kind: ResourceType, names: Iterable[str], keys: Sequence[str] | None
) -> dict[str, dict[str, ConfigValue]]:
    """Return values by resource and key: of *keys*, or all; unknown keys are missing.

    Topics that are gone are left out. A broker tells only its own configuration, and `DEFAULTS`.

    Raises:
        WireError: the request fails.
    """
    resources = [
        {"resource_type": int(kind), "resource_name": name, "configuration_keys": keys and [*keys]}
        for name in names
    ]
    if not resources:
        return {}
    answer = connection.ask("DescribeConfigs", resources=resources)
    by_name = {}
    for resource in answer.results:
        if resource.error_code == UNKNOWN_TOPIC_OR_PARTITION:
            continue
        refuse_error(connection, resource, "DESCRIBE_CONFIGS")
        own = _OWN_SOURCES[kind] if resource.resource_name != DEFAULTS else _SOURCE_OF_DEFAULTS
        by_name[resource.resource_name] = {
            config.name: ConfigValue(config.value, config.config_source == own)
            for config in resource.configs
        }
    return by_name


def alter_configs(
    connection: Connection, kind: ResourceType, changes: Mapping[str, Sequence[ConfigChange]]
) -> None:
    """Change configurations by resource; topics that are gone are passed over.

    Those of a broker are changed by itself, or by the leader of the quorum.

    Raises:
        UnknownOutcomeError: there is no answer: it is unknown whether it had an effect.
        AnswerError: a change is refused; others may have been made.
    """
    if not changes:
        return
    answer = connection.change(
        "IncrementalAlterConfigs",
        resources=[
            {
                "resource_type": int(kind),
                "resource_name": name,
                "configs": [
                    {"name": key, "config_operation": int(operation), "value": value}
                    for key, operation, value in resource_changes
                ],
            }
            for name, resource_changes in changes.items()
        ],
        validate_only=False,
    )
    for response in answer.responses:
        if response.error_code != UNKNOWN_TOPIC_OR_PARTITION:
            refuse_error(connection, response, "ALTER_CONFIGS")
