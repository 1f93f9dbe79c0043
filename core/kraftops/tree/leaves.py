"""The sorts of leaves: what each shows, as plain data and as Kafka's text, and what made it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from kraftops.image.broker import standing
from kraftops.image.image import MetadataImage
from kraftops.image.plain import plain_partition, plain_partitions
from kraftops.image.topics import PARTITION_KEY, Topic
from kraftops.javatext import double_text
from kraftops.records.secrets import REDACTED, is_secret_config
from kraftops.schema.read import UNKNOWN_TAGS, Data
from kraftops.tree import kafkatext
from kraftops.tree.names import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
    RECOVERY_STATES,
    SECURITY_PROTOCOLS,
    code_name,
)
from kraftops.tree.node import LeafKind, java_sorted
from kraftops.tree.partitiontext import plain_json, plain_kafka_text
from kraftops.uuids import to_text

Image = MetadataImage
_SCRAM_SECRETS = ("salt", "saltedPassword", "storedKey", "serverKey")


def partition_data(state: Data) -> Data:
    """Return a partition's state as plain data."""
    shown = _plain(state)
    shown["leaderRecoveryState"] = RECOVERY_STATES[cast("int", state["leaderRecoveryState"])]
    return shown


def broker_data(state: Data) -> Data:
    """Return a broker's state as plain data; its *state* says in one word what it may do."""
    shown = _plain(state | {"logDirs": kafkatext.sorted_ids(state["logDirs"])}) | _offers(state)
    shown.pop("leavesIsrs", None)
    return {"brokerId": shown.pop("brokerId"), "state": standing(state), **shown}


def controller_data(data: Data) -> Data:
    """Return a controller's registration as plain data."""
    return _plain(data) | _offers(data)


def acl_data(data: Data) -> Data:
    """Return an ACL as plain data, its codes by name."""
    return _plain(data) | {
        "resourceType": code_name(ACL_RESOURCES, data["resourceType"]),
        "patternType": code_name(ACL_PATTERNS, data["patternType"]),
        "operation": code_name(ACL_OPERATIONS, data["operation"]),
        "permissionType": code_name(ACL_PERMISSIONS, data["permissionType"]),
    }


def _offers(data: Data) -> Data:
    """Return what a registration offers, by name: snapshots have it in another order than logs."""
    endpoints = [
        one | {"securityProtocol": _protocol(cast("int", one["securityProtocol"]))}
        for one in _by_name(data["endPoints"])
    ]
    return {"endPoints": endpoints, "features": _by_name(data["features"])}


def _by_name(entries: object) -> list[Data]:
    """Return what the last entries of their names say, sorted by these."""
    named = {cast("str", one["name"]): _plain(one) for one in cast("list[Data]", entries)}
    return [named[name] for name in java_sorted(named)]


def _protocol(code: int) -> str:
    return SECURITY_PROTOCOLS[code] if 0 <= code < len(SECURITY_PROTOCOLS) else f"UNKNOWN({code})"


def _plain(data: Data) -> Data:
    """Return data without bytes, which are UUIDs here, and without tags that nobody knows."""
    return {name: plain_value(value) for name, value in data.items() if name != UNKNOWN_TAGS}


def plain_value(value: object) -> object:
    """Return what JSON can say of a value, UUIDs as text."""
    if isinstance(value, bytes):
        return to_text(value)
    if isinstance(value, list):
        return [plain_value(one) for one in value]
    return _plain(value) if isinstance(value, dict) else value


def _state_kind(
    state: Callable[[Image, object], Data],
    data: Callable[[Data], object],
    text: Callable[[Data], str],
    addresses: Callable[[Image, object], Sequence[int]],
) -> LeafKind:
    return LeafKind(
        lambda image, key: data(state(image, key)),
        lambda image, key: text(state(image, key)),
        addresses,
    )


def _record_kind(data: Callable[[Data], object], text: Callable[[Data], str]) -> LeafKind:
    """Return the kind of leaves that one record makes, whose address is the key."""
    return _state_kind(
        lambda image, key: image.read(cast("int", key))[1],
        data,
        text,
        lambda _image, key: (cast("int", key),),
    )


def _partition_addresses(image: Image, key: object) -> Sequence[int]:
    topic, number = cast("tuple[Topic, int]", key)
    return image.partition_addresses(topic, number)


def _broker_addresses(image: Image, key: object) -> Sequence[int]:
    return image.brokers[cast("int", key)].addresses


def _partition_state(image: Image, key: object) -> Data:
    return image.partition_state(_partition_addresses(image, key))


def _partition_text(image: Image, key: Any) -> str:
    plain = plain_partition(image, *key)
    if plain is None:
        return kafkatext.partition_text(_partition_state(image, key))
    return plain_kafka_text(plain)


def partition_texts(image: Image, topic: Topic) -> Iterator[tuple[int, str]]:
    """Yield the numbers and Kafka's texts of a topic's partitions."""
    for number, plain in plain_partitions(image, topic):
        if plain is None:
            yield number, kafkatext.partition_text(_partition_state(image, (topic, number)))
        else:
            yield number, plain_kafka_text(plain)


def _partition_json(image: Image, key: Any) -> str | None:
    topic, number = key
    plain = plain_partition(image, topic, number)
    return None if plain is None else plain_json(plain, number, topic.id)


def _partition_newest(image: Image, key: Any) -> int | None:
    topic, number = key
    chain = image.changes.get(PARTITION_KEY.pack(number, topic.id)) if image.changes else None
    return chain[-1] if chain else topic.place(number)


PARTITION = LeafKind(
    lambda image, key: partition_data(_partition_state(image, key)),
    _partition_text,
    _partition_addresses,
    _partition_json,
    _partition_newest,
)
"""Keys: topic and number."""

BROKER = _state_kind(
    lambda image, key: image.broker_state(_broker_addresses(image, key)),
    broker_data,
    kafkatext.broker_text,
    _broker_addresses,
)
"""Keys: broker ids."""

CONTROLLER = _record_kind(controller_data, kafkatext.controller_text)
ACL = _record_kind(acl_data, kafkatext.acl_text)
TOKEN = _record_kind(_plain, kafkatext.token_text)
FAILED_REPLICAS = _record_kind(_plain, lambda data: str(_plain(data)))
QUOTA = _record_kind(
    lambda data: data["value"], lambda data: double_text(cast("float", data["value"]))
)
PRODUCER_IDS = _record_kind(
    lambda data: data["nextProducerId"], lambda data: str(data["nextProducerId"])
)


def config_kind(*, show_secrets: bool) -> LeafKind:
    """Return the kind of configuration values; keys: addresses."""

    def shown(data: Data) -> object:
        is_hidden = not show_secrets and is_secret_config(cast("str", data["name"]))
        return REDACTED if is_hidden else data["value"]

    return _record_kind(shown, lambda data: cast("str", data["value"]))


def scram_kind(*, show_secrets: bool) -> LeafKind:
    """Return the kind of SCRAM credentials; keys: mechanism and address."""

    def state(image: Image, key: object) -> Data:
        mechanism, address = cast("tuple[int, int]", key)
        data = image.read(address)[1]
        for one in cast("list[Data]", data.get("credentials", ())):
            if one["mechanism"] == mechanism:
                return one
        return data

    def shown(data: Data) -> Data:
        from binascii import b2a_base64

        found: Data = {}
        for name in _SCRAM_SECRETS:
            if name in data:
                raw = b2a_base64(cast("bytes", data[name]), newline=False).decode()
                found[name] = raw if show_secrets else REDACTED
        return found | {"iterations": data["iterations"]}

    return _state_kind(
        state,
        shown,
        kafkatext.scram_text,
        lambda _image, key: (cast("tuple[int, int]", key)[1],),
    )


def constant(value: object, text: str | None = None, addresses: Sequence[int] = ()) -> LeafKind:
    """Return the kind of a leaf whose value is known."""
    shown = str(value) if text is None else text
    return LeafKind(lambda *_: value, lambda *_: shown, lambda *_: addresses)
