"""The rules of the compiled fold: the operation of each record, and the fields that it takes."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from kraftops.engine import _native, metadata_state
from kraftops.engine.index_contract import RecordGroup
from kraftops.engine.native_values import named_all
from kraftops.engine.timeline_contract import (
    BROKER_RESOURCE,
    DEFAULT_MIN_ISR,
    MIN_ISR,
    MOST_BROKERS,
)
from kraftops.schema.tables import messages
from kraftops.uuids import RESERVED_BELOW

_PARTITION = (
    "partitionId",
    "topicId",
    "replicas",
    "isr",
    "removingReplicas",
    "addingReplicas",
    "leader",
    "leaderRecoveryState",
    "leaderEpoch",
    "partitionEpoch",
    "directories",
    "eligibleLeaderReplicas",
    "lastKnownElr",
)
_RULES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "RegisterBrokerRecord": ("register broker", ("brokerId", "brokerEpoch")),
    "UnregisterBrokerRecord": ("unregister broker", ("brokerId",)),
    "TopicRecord": ("put topic", ("topicId", "name")),
    "PartitionRecord": ("put partition", _PARTITION),
    "ConfigRecord": ("put config", ("resourceType", "resourceName", "name", "value")),
    "PartitionChangeRecord": ("change partition", _PARTITION),
    "FenceBrokerRecord": ("fence broker", ("id", "epoch")),
    "UnfenceBrokerRecord": ("unfence broker", ("id", "epoch")),
    "RemoveTopicRecord": ("remove topic", ("topicId",)),
    "DelegationTokenRecord": ("put token", ("tokenId",)),
    "UserScramCredentialRecord": ("put scram", ("mechanism", "name")),
    "FeatureLevelRecord": ("put feature", ("name", "featureLevel")),
    "ClientQuotaRecord": ("put quota", ("entity", "key", "remove")),
    "ProducerIdsRecord": ("put producer ids", ()),
    "BrokerRegistrationChangeRecord": (
        "change broker",
        ("brokerId", "brokerEpoch", "fenced", "inControlledShutdown", "logDirs", "cordonedLogDirs"),
    ),
    "AccessControlEntryRecord": ("put acl", ("id",)),
    "RemoveAccessControlEntryRecord": ("remove acl", ("id",)),
    "NoOpRecord": ("nothing", ()),
    "ZkMigrationStateRecord": ("nothing", ()),
    "RemoveUserScramCredentialRecord": ("remove scram", ("mechanism", "name")),
    "BeginTransactionRecord": ("begin transaction", ()),
    "EndTransactionRecord": ("end transaction", ()),
    "AbortTransactionRecord": ("abort transaction", ()),
    "RemoveDelegationTokenRecord": ("remove token", ("tokenId",)),
    "RegisterControllerRecord": ("register controller", ("controllerId", "endPoints")),
    "ClearElrRecord": ("clear elr", ("topicName",)),
}
"""The engine's name of each record's operation, and its fields in the engine's order."""


@cache
def rules() -> _native.Rules:
    return _native.Rules(
        [
            {"number": message.key, "message": message, "op": op, "fields": list(fields)}
            for name, (op, fields) in _RULES.items()
            for message in (messages("metadata")[name],)
        ]
    )


LIMITS: dict[str, Any] = {
    "version_name": metadata_state.VERSION_FEATURE,
    "levels": (metadata_state.VERSION_LEVELS.start, metadata_state.VERSION_LEVELS.stop - 1),
    "quorum_name": metadata_state.QUORUM_FEATURE,
    "topic_resource": metadata_state.TOPIC_RESOURCE,
    "broker_resource": BROKER_RESOURCE,
    "min_isr": MIN_ISR,
    "default_min_isr": DEFAULT_MIN_ISR,
    "most_brokers": MOST_BROKERS,
    "protocols": metadata_state.SECURITY_PROTOCOLS.stop,
    "recoveries": metadata_state.RECOVERY_STATES.stop,
    "kept_leader": metadata_state.KEPT_LEADER,
    "lost_directory": metadata_state.LOST_DIRECTORY,
    "reserved_directories": RESERVED_BELOW,
}
"""The values that records may have."""


def index_records(data: bytes, position: int, number: int, stop: int) -> list[RecordGroup]:
    """Return the groups of similar records; see `kraftops.engine.choice.index_records`."""
    return named_all(RecordGroup, rules().index(data, position, number, stop))
