"""The views of entries that a record each makes: configurations, ACLs, quotas, and of brokers."""

from collections.abc import Sequence
from typing import Any

from kraftops.answers.fields import Field, number, text, texts
from kraftops.display.order import natural_key
from kraftops.engine.metadata_state import BrokerLoad
from kraftops.image.state.broker import broker_status
from kraftops.image.state.image import MetadataImage
from kraftops.records.secrets.rules import REDACTED, is_secret_config
from kraftops.tree import names
from kraftops.tree.leaves import acl_data, broker_data
from kraftops.uuids import to_text
from kraftops.views.view import Frame, View, last_change_of, last_columns, with_last_change

_SOURCES = {
    (2, True): "DYNAMIC_TOPIC_CONFIG",
    (4, True): "DYNAMIC_BROKER_CONFIG",
    (4, False): "DYNAMIC_DEFAULT_BROKER_CONFIG",
    (8, True): "DYNAMIC_BROKER_LOGGER_CONFIG",
    (16, True): "DYNAMIC_CLIENT_METRICS_CONFIG",
    (32, True): "DYNAMIC_GROUP_CONFIG",
}
"""Kafka's names (`ConfigEntry.ConfigSource`) by type of resource, and whether it has a name."""
_DEFAULT = "<default>"

BROKER_COLUMNS = (
    number("broker", "id of the broker"),
    text(
        "state",
        "registered-fenced, active or controlled-shutdown",
        values=("registered-fenced", "active", "controlled-shutdown"),
    ),
    text("rack", "rack, if it has one"),
    number("leaders", "partitions that it leads", numeral="amount"),
    number("replicas", "replicas on it", numeral="amount"),
    texts("endpoints", "listeners with host and port"),
    texts("directories", "ids of its log directories", is_usual=False),
    texts("features", "features with the levels that it supports", is_usual=False),
    number("brokerEpoch", "epoch of its registration", is_usual=False),
    text("incarnation", "id of its start", is_usual=False),
    *last_columns(),
)
CONFIG_COLUMNS = (
    text("type", "type of the resource", values=(*names.RESOURCE_TYPES.values(),), gives_way=4),
    text("name", "name of the resource, empty for the default"),
    text("key", "name of the configuration"),
    text("value", "value; secrets are redacted"),
    text("source", "Kafka's name of where it is set", is_usual=False),
    *last_columns(),
)
ACL_COLUMNS = (
    text("principal", "who"),
    text("permission", "ALLOW or DENY", values=names.ACL_PERMISSIONS),
    text("operation", "what", values=names.ACL_OPERATIONS),
    text("resource", "type of the resource", values=names.ACL_RESOURCES),
    text("name", "name of the resource, or its beginning"),
    text("pattern", "LITERAL or PREFIXED", values=names.ACL_PATTERNS),
    text("host", "from which host"),
    text("id", "id of the ACL", is_usual=False),
    *last_columns(is_usual=False),
)
QUOTA_COLUMNS = (
    text("entity", "clients, as the tree names them"),
    text("user", "user; <default> for all without their own", is_usual=False),
    text("clientId", "client id; <default> for all without their own", is_usual=False),
    text("ip", "address; <default> for all without their own", is_usual=False),
    text("key", "what is limited"),
    number("value", "limit; a text where it is not finite", numeral="decimal"),
    *last_columns(),
)


def _brokers(image: MetadataImage, _: bool) -> Frame:  # noqa: FBT001 - see View
    loads = image.fold.broker_loads()
    ids = sorted(image.brokers)
    rows = []
    for broker_id in ids:
        state = image.broker_state(image.brokers[broker_id])
        data: Any = broker_data(state)
        load = loads.get(broker_id, BrokerLoad(0, 0))
        rows.append(
            (
                broker_id,
                broker_status(state),
                state["rack"],
                load.leaders,
                load.replicas,
                [f"{end['name']}://{end['host']}:{end['port']}" for end in data["endPoints"]],
                data["logDirs"],
                [
                    f"{level['name']} {level['minSupportedVersion']}-{level['maxSupportedVersion']}"
                    for level in data["features"]
                ],
                state["brokerEpoch"],
                data["incarnationId"],
            )
        )
    return with_last_change(
        BROKER_COLUMNS, rows, lambda row: last_change_of(image, "brokers", ids[row])
    )


def _configs(image: MetadataImage, show_secrets: bool) -> Frame:  # noqa: FBT001 - see View
    rows, keys = [], []
    resources = sorted(image.configs, key=lambda resource: (resource[0], natural_key(resource[1])))
    for kind, name in resources:
        for key, address in sorted(image.configs[kind, name].items()):
            is_hidden = not show_secrets and is_secret_config(kind, key)
            value = REDACTED if is_hidden else image.read(address)[1]["value"]
            label = names.RESOURCE_TYPES.get(kind, f"UNKNOWN({kind})")
            keys.append((kind, name, key))
            rows.append((label, name, key, value, _SOURCES.get((kind, bool(name)))))
    return _of_table(image, "configs", CONFIG_COLUMNS, rows, keys)


def _acls(image: MetadataImage, _: bool) -> Frame:  # noqa: FBT001 - see View
    rows_and_keys = []
    for acl_id, address in image.acls.items():
        data: Any = acl_data(image.read(address)[1])
        row = (
            data["principal"],
            data["permissionType"],
            data["operation"],
            data["resourceType"],
            data["resourceName"],
            data["patternType"],
            data["host"],
            to_text(acl_id),
        )
        rows_and_keys.append((row, (acl_id,)))
    rows_and_keys.sort(key=lambda pair: [natural_key(cell) for cell in pair[0]])
    rows, keys = [row for row, _ in rows_and_keys], [key for _, key in rows_and_keys]
    return _of_table(image, "acls", ACL_COLUMNS, rows, keys)


def _quotas(image: MetadataImage, _: bool) -> Frame:  # noqa: FBT001 - see View
    rows, keys = [], []
    for entity in sorted(image.quotas, key=lambda quota: natural_key(names.entity_name(quota))):
        parts = {kind: _DEFAULT if name is None else name for kind, name in entity}
        clients = (parts.get("user"), parts.get("client-id"), parts.get("ip"))
        for key, address in sorted(image.quotas[entity].items()):
            keys.append((entity, key))
            rows.append((names.entity_name(entity), *clients, key, image.read(address)[1]["value"]))
    return _of_table(image, "quotas", QUOTA_COLUMNS, rows, keys)


def _of_table(
    image: MetadataImage,
    table: str,
    columns: Sequence[Field],
    rows: Sequence[Sequence[object]],
    keys: Sequence[Sequence[object]],
) -> Frame:
    return with_last_change(columns, rows, lambda row: last_change_of(image, table, *keys[row]))


BROKERS = View("brokers", BROKER_COLUMNS, _brokers)
CONFIGS = View("configs", CONFIG_COLUMNS, _configs)
ACLS = View("acls", ACL_COLUMNS, _acls)
QUOTAS = View("quotas", QUOTA_COLUMNS, _quotas)
