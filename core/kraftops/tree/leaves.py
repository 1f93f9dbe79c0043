"""The kinds of leaves: their values as plain data and as Kafka's text, and their newest records.

Keys of leaves are keys of entries, see `kraftops.image.state.newest`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from kraftops.commit import commit_id
from kraftops.display.times import iso_time
from kraftops.engine.metadata_state import VERSION_FEATURE, EntryKey, NewestRecord, PartitionState
from kraftops.image.state.broker import BrokerState, broker_status
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.newest import newest_record
from kraftops.java.numbers import double_text
from kraftops.records.secrets.rules import Redacted, is_secret_config
from kraftops.schema.message import UNKNOWN_TAGS, Data
from kraftops.storage.bootstrap.releases import FEATURES, by_level
from kraftops.tree import kafka_text, names
from kraftops.tree.node import About, LeafKind
from kraftops.uuids import to_text

if TYPE_CHECKING:
    from kraftops.records import metadata_types
    from kraftops.records.control_types import (
        KRaftVersionRecord,
        LeaderChangeMessage,
        VotersRecord,
    )
    from kraftops.records.kip_631_types import FailedReplicasRecord, UserScramCredentials
    from kraftops.tree.kafka_text import Credential, Registration

Image = MetadataImage
Key = tuple[Any, ...]
T = TypeVar("T")
R = TypeVar("R")


def partition_data(topic_id: bytes, number: int, state: PartitionState) -> Data:
    return {
        "partitionId": number,
        "topicId": names.UUIDS[topic_id],
        "replicas": state.replicas,
        "directories": [names.UUIDS[directory_id] for directory_id in state.directories],
        "isr": state.isr,
        "removingReplicas": state.removing_replicas,
        "addingReplicas": state.adding_replicas,
        "eligibleLeaderReplicas": state.eligible_leader_replicas,
        "lastKnownElr": state.last_known_elr,
        "leader": state.leader,
        "leaderRecoveryState": names.RECOVERY_STATES[state.leader_recovery_state],
        "leaderEpoch": state.leader_epoch,
        "partitionEpoch": state.partition_epoch,
    }


def partition_json(topic_id: bytes, number: int, state: PartitionState) -> str:
    """Return `partition_data` as JSON without blanks, in a fifth of an encoder's time."""
    replicas = _numbers_json(state.replicas)
    isr = replicas if state.isr == state.replicas else _numbers_json(state.isr)
    removing, adding = _numbers_json(state.removing_replicas), _numbers_json(state.adding_replicas)
    elr = _numbers_json(state.eligible_leader_replicas)
    last_known = _numbers_json(state.last_known_elr)
    directories = ",".join([f'"{names.UUIDS[directory]}"' for directory in state.directories])
    return (
        f'{{"partitionId":{number},"topicId":"{names.UUIDS[topic_id]}","replicas":{replicas},'
        f'"directories":[{directories}],"isr":{isr},'
        f'"removingReplicas":{removing},"addingReplicas":{adding},'
        f'"eligibleLeaderReplicas":{elr},"lastKnownElr":{last_known},"leader":{state.leader},'
        f'"leaderRecoveryState":"{names.RECOVERY_STATES[state.leader_recovery_state]}",'
        f'"leaderEpoch":{state.leader_epoch},"partitionEpoch":{state.partition_epoch}}}'
    )


def _numbers_json(numbers: list[int]) -> str:
    return str(numbers).replace(" ", "") if numbers else "[]"


def broker_data(state: BrokerState) -> Data:
    """Return a broker's registration as plain data; *state* is its status in one word."""
    fields = _plain(
        state | {"logDirs": kafka_text.sorted_ids(state["logDirs"])}
    ) | _endpoints_and_features(state)
    return {"brokerId": fields.pop("brokerId"), "state": broker_status(state), **fields}


def controller_data(data: metadata_types.RegisterControllerRecord) -> Data:
    return _plain(data) | _endpoints_and_features(data)


def acl_data(data: metadata_types.AccessControlEntryRecord) -> Data:
    """Return an ACL as plain data, its codes by name."""
    return _plain(data) | {
        "resourceType": names.code_name(names.ACL_RESOURCES, data["resourceType"]),
        "patternType": names.code_name(names.ACL_PATTERNS, data["patternType"]),
        "operation": names.code_name(names.ACL_OPERATIONS, data["operation"]),
        "permissionType": names.code_name(names.ACL_PERMISSIONS, data["permissionType"]),
    }


def _endpoints_and_features(data: Registration) -> Data:
    """Key endpoints and features by name: their order differs between snapshots and logs."""
    endpoints = [
        _plain(endpoint) | {"securityProtocol": _protocol(endpoint["securityProtocol"])}
        for endpoint in kafka_text.by_name(data["endPoints"])
    ]
    return {
        "endPoints": endpoints,
        "features": [*map(_feature, kafka_text.by_name(data["features"]))],
    }


def _feature(data: Mapping[str, Any]) -> Data:
    """Return the supported levels of a feature; those of metadata.version also have names."""
    levels = _plain(data)
    if data["name"] == VERSION_FEATURE:
        for key in ("minSupportedVersion", "maxSupportedVersion"):
            levels[f"{key}Name"] = level_name(data["name"], data[key])
    return levels


def level_name(feature: str, level: int) -> str | None:
    """Return the metadata version that a level of a feature is, or came with; None if unknown."""
    if feature != VERSION_FEATURE:
        rows = (row for row in FEATURES.get(feature, ()) if row.level == level)
        level = next((row.bootstraps_at for row in rows), -1)
    version = by_level(level)
    return None if version is None else version.name


def _protocol(code: int) -> str:
    return (
        names.SECURITY_PROTOCOLS[code]
        if 0 <= code < len(names.SECURITY_PROTOCOLS)
        else f"UNKNOWN({code})"
    )


def _plain(data: Mapping[str, object]) -> Data:
    """Return data with UUIDs as text, without unknown tags."""
    return {name: plain_value(value) for name, value in data.items() if name != UNKNOWN_TAGS}


def plain_value(value: object) -> object:
    """Return a value as JSON has it, UUIDs as text."""
    if isinstance(value, bytes):
        return to_text(value)
    if isinstance(value, list):
        return [plain_value(element) for element in value]
    return _plain(value) if isinstance(value, dict) else value


def _newest_of(table: str) -> Callable[[Image, Key], NewestRecord | None]:
    """Return the function that gives the newest record of an entry of a table by its key."""
    return lambda image, key: newest_record(image, EntryKey(table, key))


def _existing(content: T | None) -> T:
    """Assert that a value exists: a leaf is only made for what the image has."""
    assert content is not None
    return content


def _partition_state(image: Image, key: Key) -> PartitionState:
    return _existing(image.partition(*key))


def partition_texts(image: Image, topic_id: bytes) -> Iterator[tuple[int, str]]:
    """Yield the numbers and Kafka's texts of a topic's partitions."""
    for number, state in image.fold.partitions(topic_id):
        yield number, kafka_text.partition_text(state)


def _about_partition(image: Image, key: Key) -> About:
    state = _partition_state(image, key)
    fields = {
        "leader": state.leader if state.leader >= 0 else None,
        "isr": state.isr,
        "replicas": state.replicas,
        "elr": state.eligible_leader_replicas,
        "adding": state.adding_replicas,
        "removing": state.removing_replicas,
    }
    return {name: value for name, value in fields.items() if value or name in _ALWAYS}


_ALWAYS = ("leader", "isr", "replicas")


PARTITION = LeafKind(
    lambda image, key: partition_data(key[0], key[1], _partition_state(image, key)),
    lambda image, key: kafka_text.partition_text(_partition_state(image, key)),
    _newest_of("partitions"),
    _about_partition,
)


def _about_broker(image: Image, key: Key) -> About:
    state = _existing(image.broker(*key))
    return {
        "state": broker_status(state),
        "rack": state["rack"],
        "epoch": str(state["brokerEpoch"]),
        "listeners": [*map(_listener, kafka_text.by_name(state["endPoints"]))],
    }


def _listener(endpoint: Mapping[str, Any]) -> str:
    return f"{endpoint['name']}://{endpoint['host']}:{endpoint['port']}"


BROKER = LeafKind(
    lambda image, key: broker_data(_existing(image.broker(*key))),
    lambda image, key: kafka_text.broker_text(_existing(image.broker(*key))),
    _newest_of("brokers"),
    _about_broker,
)


def _record_kind(table: str, data: Callable[[R], object], text: Callable[[R], str]) -> LeafKind:
    """Make the kind of leaves that show a single record of the log."""
    newest = _newest_of(table)

    def read(image: Image, key: Key) -> R:
        record: R = image.read(_existing(newest(image, key)).address)[1]
        return record

    return LeafKind(
        lambda image, key: data(read(image, key)),
        lambda image, key: text(read(image, key)),
        newest,
    )


CONTROLLER = _record_kind("controllers", controller_data, kafka_text.controller_text)
ACL = _record_kind("acls", acl_data, kafka_text.acl_text)


def token_data(data: metadata_types.DelegationTokenRecord) -> Data:
    """Return a token as plain data, with its times in ms and as text."""
    return _plain(data) | {
        "issueTime": iso_time(data["issueTimestamp"]),
        "maxTime": iso_time(data["maxTimestamp"]),
        "expirationTime": iso_time(data["expirationTimestamp"]),
    }


TOKEN = _record_kind("tokens", token_data, kafka_text.token_text)


def _failed_replicas_text(data: FailedReplicasRecord) -> str:
    return str(_plain(data))


FAILED_REPLICAS = _record_kind("failed-replicas", _plain, _failed_replicas_text)


def _quota(data: metadata_types.ClientQuotaRecord) -> float:
    return data["value"]


QUOTA = _record_kind("quotas", _quota, lambda data: double_text(_quota(data)))


def _next_producer_id(data: metadata_types.ProducerIdsRecord) -> int:
    return data["nextProducerId"]


PRODUCER_IDS = _record_kind(
    "producer-ids", _next_producer_id, lambda data: str(_next_producer_id(data))
)


@cache
def config_kind(*, show_secrets: bool) -> LeafKind:
    def data_of(data: metadata_types.ConfigRecord) -> str | None:
        is_hidden = not show_secrets and is_secret_config(data["resourceType"], data["name"])
        return Redacted(data["value"]) if is_hidden else data["value"]

    return _record_kind("configs", data_of, lambda data: _existing(data["value"]))


@cache
def scram_kind(*, show_secrets: bool) -> LeafKind:
    newest = _newest_of("scram")

    def read(image: Image, key: Key) -> Credential:
        record: metadata_types.UserScramCredentialRecord | UserScramCredentials
        record = image.read(_existing(newest(image, key)).address)[1]
        if "mechanism" in record:
            return record
        credentials = record["credentials"]
        return next(scram for scram in credentials if scram["mechanism"] == key[0])

    def data_of(data: Credential) -> Data:
        from binascii import b2a_base64

        fields: Data = {}
        for name, value in kafka_text.scram_keys(data).items():
            text = b2a_base64(value, newline=False).decode()
            fields[name] = text if show_secrets else Redacted(text)
        return fields | {"iterations": data["iterations"]}

    return LeafKind(
        lambda image, key: data_of(read(image, key)),
        lambda image, key: kafka_text.scram_text(read(image, key)),
        newest,
    )


def _known_kind(
    table: str, value: Callable[[Image, Any], object], text: Callable[[object], str] = str
) -> LeafKind:
    """Make the kind of leaves whose value the fold knows: no record is read again."""
    return LeafKind(value, lambda image, key: text(value(image, key)), _newest_of(table))


TOPIC_ID = _known_kind("topics", lambda _, key: names.UUIDS[key[0]])
TOPIC_NAME = _known_kind("topics", lambda image, key: _existing(image.fold.topic(*key)).name)


def _about_feature(image: Image, key: Key) -> About:
    level = image.features[key[0]][0]
    return {"level": level, "since": level_name(key[0], level)}


FEATURE = _known_kind("features", lambda image, key: image.features[key[0]][0])._replace(
    about=_about_feature
)


def _version_name(image: Image, _: Key) -> str | None:
    if image.metadata_version is None:
        return None
    return level_name(VERSION_FEATURE, image.metadata_version[0])


def _about_version(image: Image, key: Key) -> About:
    level = image.metadata_version
    return {"level": None if level is None else level[0], "since": _version_name(image, key)}


METADATA_VERSION = _known_kind(
    "features",
    _version_name,
    lambda name: "Optional.empty" if name is None else f"Optional[{name}]",
)._replace(about=_about_version)


def _control_kind(show: Callable[[Any], object]) -> LeafKind:
    newest = _newest_of("quorum")

    def value(image: Image, key: Key) -> object:
        record = newest(image, key)
        return None if record is None else plain_value(show(image.read_control(record.address)))

    return _known_kind("quorum", value)


def _leader(data: LeaderChangeMessage) -> int:
    return data["leaderId"]


def _kraft_version(data: KRaftVersionRecord) -> int:
    return data["kRaftVersion"]


def _voters(data: VotersRecord | LeaderChangeMessage) -> object:
    return data["voters"]


LEADER = _control_kind(_leader)
KRAFT_VERSION = _control_kind(_kraft_version)
VOTERS = _control_kind(_voters)


def _epoch(image: Image, key: Key) -> int | None:
    record = newest_record(image, EntryKey("quorum", key))
    return None if record is None else image.record(record.address).epoch


EPOCH = _known_kind("quorum", _epoch)


def _commit(*_: object) -> str:
    return commit_id() or "unknown"


COMMIT_ID = LeafKind(_commit, _commit, lambda *_: None)


def _finding(image: Image, key: Key) -> Data:
    finding = _existing(image.finding(key[0]))
    return {
        "code": finding.code,
        "severity": str(finding.severity),
        "text": finding.text,
        "file": finding.place.file,
        "position": finding.place.position,
        "offset": finding.place.offset,
    }


def _newest_of_finding(image: Image, key: Key) -> NewestRecord | None:
    finding = image.finding(key[0])
    address = finding.place.address if finding else None
    return None if address is None else NewestRecord(address, 1)


FINDING = LeafKind(_finding, lambda image, key: str(_finding(image, key)), _newest_of_finding)
"""A finding, by its number: a bad log has millions, and each is about a record to be read."""


def constant(value: object, text: str | None = None) -> LeafKind:
    """Make the kind of a leaf with a constant value, which no record made."""
    constant_text = str(value) if text is None else text
    return LeafKind(lambda *_: value, lambda *_: constant_text, lambda *_: None)
