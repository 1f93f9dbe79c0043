"""The sorts of leaves: what each shows, as plain data and as Kafka's text, and what made it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from kraftops.engine.metadata_state import NewestRecord, PartitionState
from kraftops.image.state.broker import BrokerState, standing
from kraftops.image.state.image import MetadataImage
from kraftops.java.text import double_text
from kraftops.records.secrets import REDACTED, is_secret_config
from kraftops.schema.read import UNKNOWN_TAGS, Data
from kraftops.tree import kafka_text as kafkatext
from kraftops.tree.names import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
    RECOVERY_STATES,
    SECURITY_PROTOCOLS,
    UUIDS,
    code_name,
)
from kraftops.tree.node import LeafKind
from kraftops.uuids import to_text

if TYPE_CHECKING:
    from kraftops.records.control_types import (
        KRaftVersionRecord,
        LeaderChangeMessage,
        VotersRecord,
    )
    from kraftops.records.kip_631_types import FailedReplicasRecord, UserScramCredentials
    from kraftops.records.metadata_types import (
        AccessControlEntryRecord,
        ClientQuotaRecord,
        ConfigRecord,
        ProducerIdsRecord,
        RegisterControllerRecord,
        UserScramCredentialRecord,
    )
    from kraftops.tree.kafka_text import Credential, Registration

Image = MetadataImage
PartitionKey = tuple[bytes, int]
T = TypeVar("T")
R = TypeVar("R")


def partition_data(topic_id: bytes, number: int, state: PartitionState) -> Data:
    """Return a partition's state as plain data."""
    return {
        "partitionId": number,
        "topicId": UUIDS[topic_id],
        "replicas": state.replicas,
        "directories": [UUIDS[one] for one in state.directories],
        "isr": state.isr,
        "removingReplicas": state.removing_replicas,
        "addingReplicas": state.adding_replicas,
        "eligibleLeaderReplicas": state.eligible_leader_replicas,
        "lastKnownElr": state.last_known_elr,
        "leader": state.leader,
        "leaderRecoveryState": RECOVERY_STATES[state.leader_recovery_state],
        "leaderEpoch": state.leader_epoch,
        "partitionEpoch": state.partition_epoch,
    }


def broker_data(state: BrokerState) -> Data:
    """Return a broker's state as plain data; its *state* says in one word what it may do."""
    shown = _plain(state | {"logDirs": kafkatext.sorted_ids(state["logDirs"])}) | _offers(state)
    return {"brokerId": shown.pop("brokerId"), "state": standing(state), **shown}


def controller_data(data: RegisterControllerRecord) -> Data:
    """Return a controller's registration as plain data."""
    return _plain(data) | _offers(data)


def acl_data(data: AccessControlEntryRecord) -> Data:
    """Return an ACL as plain data, its codes by name."""
    return _plain(data) | {
        "resourceType": code_name(ACL_RESOURCES, data["resourceType"]),
        "patternType": code_name(ACL_PATTERNS, data["patternType"]),
        "operation": code_name(ACL_OPERATIONS, data["operation"]),
        "permissionType": code_name(ACL_PERMISSIONS, data["permissionType"]),
    }


def _offers(data: Registration) -> Data:
    """Return what a registration offers, by name: snapshots have it in another order than logs."""
    endpoints = [
        _plain(one) | {"securityProtocol": _protocol(one["securityProtocol"])}
        for one in kafkatext.by_name(data["endPoints"])
    ]
    return {
        "endPoints": endpoints,
        "features": [_plain(one) for one in kafkatext.by_name(data["features"])],
    }


def _protocol(code: int) -> str:
    return SECURITY_PROTOCOLS[code] if 0 <= code < len(SECURITY_PROTOCOLS) else f"UNKNOWN({code})"


def _plain(data: Mapping[str, object]) -> Data:
    """Return data without bytes, which are UUIDs here, and without tags that nobody knows."""
    return {name: plain_value(value) for name, value in data.items() if name != UNKNOWN_TAGS}


def plain_value(value: object) -> object:
    """Return what JSON can say of a value, UUIDs as text."""
    if isinstance(value, bytes):
        return to_text(value)
    if isinstance(value, list):
        return [plain_value(one) for one in value]
    return _plain(value) if isinstance(value, dict) else value


def _partition_state(image: Image, key: PartitionKey) -> PartitionState:
    return _there(image.partition(*key))


def partition_texts(image: Image, topic_id: bytes) -> Iterator[tuple[int, str]]:
    """Yield the numbers and Kafka's texts of a topic's partitions."""
    for number, state in image.fold.partitions(topic_id):
        yield number, kafkatext.partition_text(state)


PARTITION = LeafKind(
    lambda image, key: partition_data(key[0], key[1], _partition_state(image, key)),
    lambda image, key: kafkatext.partition_text(_partition_state(image, key)),
    lambda image, key: image.fold.newest(*key),
)
"""Keys: topic id and number."""


def _broker_newest(image: Image, key: int) -> NewestRecord | None:
    broker = image.brokers.get(key)
    return None if broker is None else broker.newest


BROKER = LeafKind(
    lambda image, key: broker_data(_there(image.broker(key))),
    lambda image, key: kafkatext.broker_text(_there(image.broker(key))),
    _broker_newest,
)
"""Keys: broker ids."""


def _record_kind(
    find: Callable[[Image, Any], int | None],
    data: Callable[[R], object],
    text: Callable[[R], str],
) -> LeafKind:
    """Return the kind of leaves that one record each makes; *find* gives its address."""

    def read(image: Image, key: object) -> R:
        found: R = image.read(_there(find(image, key)))[1]
        return found

    return LeafKind(
        lambda image, key: data(read(image, key)),
        lambda image, key: text(read(image, key)),
        lambda image, key: _made_by(find(image, key)),
    )


def _made_by(address: int | None) -> NewestRecord | None:
    """Return what is known of a value that one record makes."""
    return None if address is None else NewestRecord(address, 1)


def _there(found: T | None) -> T:
    """Return what is there: a leaf is made only of what is."""
    assert found is not None
    return found


CONTROLLER = _record_kind(
    lambda image, key: image.controllers.get(key), controller_data, kafkatext.controller_text
)
"""Keys: controller ids."""

ACL = _record_kind(lambda image, key: image.acls.get(key), acl_data, kafkatext.acl_text)
"""Keys: ids."""

TOKEN = _record_kind(lambda image, key: image.tokens.get(key), _plain, kafkatext.token_text)
"""Keys: token ids."""


def _failed_replicas_text(data: FailedReplicasRecord) -> str:
    return str(_plain(data))


FAILED_REPLICAS = _record_kind(
    lambda image, key: image.failed_replicas.get(key), _plain, _failed_replicas_text
)
"""Keys: broker ids."""


def _quota_text(data: ClientQuotaRecord) -> str:
    return double_text(data["value"])


QUOTA = _record_kind(
    lambda image, key: image.quotas.get(key[0], {}).get(key[1]),
    lambda data: data["value"],
    _quota_text,
)
"""Keys: entity and key of the quota."""


def _producer_ids_text(data: ProducerIdsRecord) -> str:
    return str(data["nextProducerId"])


PRODUCER_IDS = _record_kind(
    lambda image, _: image.producer_ids, lambda data: data["nextProducerId"], _producer_ids_text
)


@cache
def config_kind(*, show_secrets: bool) -> LeafKind:
    """Return the kind of configuration values; keys: resource and name."""

    def shown(data: ConfigRecord) -> str | None:
        is_hidden = not show_secrets and is_secret_config(data["name"])
        return REDACTED if is_hidden else data["value"]

    return _record_kind(
        lambda image, key: image.configs.get(key[0], {}).get(key[1]),
        shown,
        lambda data: _there(data["value"]),
    )


@cache
def scram_kind(*, show_secrets: bool) -> LeafKind:
    """Return the kind of SCRAM credentials; keys: mechanism and user."""

    def find(image: Image, key: tuple[int, str]) -> int | None:
        return image.scram.get(key[0], {}).get(key[1])

    def state(image: Image, key: tuple[int, str]) -> Credential:
        address = _there(find(image, key))
        data: UserScramCredentialRecord | UserScramCredentials = image.read(address)[1]
        if "mechanism" in data:
            return data
        return next(one for one in data["credentials"] if one["mechanism"] == key[0])

    def shown(data: Credential) -> Data:
        from binascii import b2a_base64

        found: Data = {}
        for name, value in kafkatext.scram_keys(data).items():
            raw = b2a_base64(value, newline=False).decode()
            found[name] = raw if show_secrets else REDACTED
        return found | {"iterations": data["iterations"]}

    return LeafKind(
        lambda image, key: shown(state(image, key)),
        lambda image, key: kafkatext.scram_text(state(image, key)),
        lambda image, key: _made_by(find(image, key)),
    )


def _known_kind(
    value: Callable[[Image, Any], object],
    find: Callable[[Image, Any], int | None],
    text: Callable[[object], str] = str,
) -> LeafKind:
    """Return the kind of leaves whose *value* nobody reads in the record that *find* gives."""
    return LeafKind(
        value,
        lambda image, key: text(value(image, key)),
        lambda image, key: _made_by(find(image, key)),
    )


def _topic_address(image: Image, topic_id: bytes) -> int | None:
    topic = image.fold.topic(topic_id)
    return None if topic is None else topic.address


TOPIC_ID = _known_kind(lambda _, key: UUIDS[key], _topic_address)
TOPIC_NAME = _known_kind(lambda image, key: _there(image.fold.topic(key)).name, _topic_address)
"""Keys of both: topic ids."""

FEATURE = _known_kind(
    lambda image, key: image.features[key][0],
    lambda image, key: image.features[key][1] if key in image.features else None,
)
"""Keys: names."""


def _version_name(image: Image, _: object) -> str | None:
    from kraftops.storage.bootstrap.releases import METADATA_VERSIONS

    if image.metadata_version is None:
        return None
    level = image.metadata_version[0]
    return next(version.name for version in METADATA_VERSIONS if version.level == level)


METADATA_VERSION = _known_kind(
    _version_name,
    lambda image, _: None if image.metadata_version is None else image.metadata_version[1],
    lambda name: "Optional.empty" if name is None else f"Optional[{name}]",
)


def _control_kind(find: Callable[[Image], int | None], show: Callable[[Any], object]) -> LeafKind:
    """Return the kind of a leaf that shows something of a control record."""

    def value(image: Image, _: object) -> object:
        address = find(image)
        return None if address is None else plain_value(show(image.read_control(address)))

    return _known_kind(value, lambda image, _: find(image))


def _leader(data: LeaderChangeMessage) -> int:
    return data["leaderId"]


def _kraft_version(data: KRaftVersionRecord) -> int:
    return data["kRaftVersion"]


def _voters(data: VotersRecord | LeaderChangeMessage) -> object:
    return data["voters"]


LEADER = _control_kind(lambda image: image.quorum.leader, _leader)
KRAFT_VERSION = _control_kind(lambda image: image.quorum.kraft_version, _kraft_version)
# A static quorum has no record of its voters: the leader names those that it knows.
VOTERS = _control_kind(
    lambda image: image.quorum.leader if image.quorum.voters is None else image.quorum.voters,
    _voters,
)


def _epoch(image: Image, _: object) -> int | None:
    address = image.quorum.leader
    return None if address is None else image.record(address).epoch


EPOCH = _known_kind(_epoch, lambda image, _: image.quorum.leader)


def constant(value: object, text: str | None = None, address: int | None = None) -> LeafKind:
    """Return the kind of a leaf whose value is known, and was made by the record at *address*."""
    shown = str(value) if text is None else text
    return LeafKind(lambda *_: value, lambda *_: shown, lambda *_: _made_by(address))
