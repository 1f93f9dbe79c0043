"""The fields of metadata records as they are decoded; made by scripts/generate.py.

A field that is not in all versions may be absent; `kraftops.schema.codegen.read` has the values.
"""

from typing import NotRequired, TypedDict


class _Tagged(TypedDict):
    """Tagged fields that no table knows, by tag, where there are any."""

    _unknownTags: NotRequired[dict[int, bytes]]


class BrokerEndpoint(_Tagged):
    """A struct of `RegisterBrokerRecord`."""

    name: str
    host: str
    port: int
    securityProtocol: int


class BrokerFeature(_Tagged):
    """A struct of `RegisterBrokerRecord`."""

    name: str
    minSupportedVersion: int
    maxSupportedVersion: int


class RegisterBrokerRecord(_Tagged):
    """Type 0, versions 0 to 4."""

    brokerId: int
    isMigratingZkBroker: NotRequired[bool]
    incarnationId: bytes
    brokerEpoch: int
    endPoints: list[BrokerEndpoint]
    features: list[BrokerFeature]
    rack: str | None
    fenced: bool
    inControlledShutdown: NotRequired[bool]
    logDirs: NotRequired[list[bytes]]
    cordonedLogDirs: NotRequired[list[bytes] | None]


class UnregisterBrokerRecord(_Tagged):
    """Type 1, version 0."""

    brokerId: int
    brokerEpoch: int


class TopicRecord(_Tagged):
    """Type 2, version 0."""

    name: str
    topicId: bytes


class PartitionRecord(_Tagged):
    """Type 3, versions 0 to 2."""

    partitionId: int
    topicId: bytes
    replicas: list[int]
    isr: list[int]
    removingReplicas: list[int]
    addingReplicas: list[int]
    leader: int
    leaderRecoveryState: int
    leaderEpoch: int
    partitionEpoch: int
    directories: NotRequired[list[bytes]]
    eligibleLeaderReplicas: NotRequired[list[int] | None]
    lastKnownElr: NotRequired[list[int] | None]


class ConfigRecord(_Tagged):
    """Type 4, version 0."""

    resourceType: int
    resourceName: str
    name: str
    value: str | None


class PartitionChangeRecord(_Tagged):
    """Type 5, versions 0 to 2."""

    partitionId: int
    topicId: bytes
    isr: list[int] | None
    leader: int
    replicas: list[int] | None
    removingReplicas: list[int] | None
    addingReplicas: list[int] | None
    leaderRecoveryState: int
    directories: NotRequired[list[bytes] | None]
    eligibleLeaderReplicas: NotRequired[list[int] | None]
    lastKnownElr: NotRequired[list[int] | None]


class FenceBrokerRecord(_Tagged):
    """Type 7, version 0."""

    id: int
    epoch: int


class UnfenceBrokerRecord(_Tagged):
    """Type 8, version 0."""

    id: int
    epoch: int


class RemoveTopicRecord(_Tagged):
    """Type 9, version 0."""

    topicId: bytes


class DelegationTokenRecord(_Tagged):
    """Type 10, version 0."""

    owner: str
    requester: str
    renewers: list[str]
    issueTimestamp: int
    maxTimestamp: int
    expirationTimestamp: int
    tokenId: str


class UserScramCredentialRecord(_Tagged):
    """Type 11, version 0."""

    name: str
    mechanism: int
    salt: bytes
    storedKey: bytes
    serverKey: bytes
    iterations: int


class FeatureLevelRecord(_Tagged):
    """Type 12, version 0."""

    name: str
    featureLevel: int


class EntityData(_Tagged):
    """A struct of `ClientQuotaRecord`."""

    entityType: str
    entityName: str | None


class ClientQuotaRecord(_Tagged):
    """Type 14, version 0."""

    entity: list[EntityData]
    key: str
    value: float
    remove: bool


class ProducerIdsRecord(_Tagged):
    """Type 15, version 0."""

    brokerId: int
    brokerEpoch: int
    nextProducerId: int


class BrokerRegistrationChangeRecord(_Tagged):
    """Type 17, versions 0 to 3."""

    brokerId: int
    brokerEpoch: int
    fenced: int
    inControlledShutdown: NotRequired[int]
    logDirs: NotRequired[list[bytes]]
    cordonedLogDirs: NotRequired[list[bytes] | None]


class AccessControlEntryRecord(_Tagged):
    """Type 18, version 0."""

    id: bytes
    resourceType: int
    resourceName: str
    patternType: int
    principal: str
    host: str
    operation: int
    permissionType: int


class RemoveAccessControlEntryRecord(_Tagged):
    """Type 19, version 0."""

    id: bytes


class NoOpRecord(_Tagged):
    """Type 20, version 0."""


class ZkMigrationStateRecord(_Tagged):
    """Type 21, version 0."""

    zkMigrationState: int


class RemoveUserScramCredentialRecord(_Tagged):
    """Type 22, version 0."""

    name: str
    mechanism: int


class BeginTransactionRecord(_Tagged):
    """Type 23, version 0."""

    name: str | None


class EndTransactionRecord(_Tagged):
    """Type 24, version 0."""


class AbortTransactionRecord(_Tagged):
    """Type 25, version 0."""

    reason: str | None


class RemoveDelegationTokenRecord(_Tagged):
    """Type 26, version 0."""

    tokenId: str


class ControllerEndpoint(_Tagged):
    """A struct of `RegisterControllerRecord`."""

    name: str
    host: str
    port: int
    securityProtocol: int


class ControllerFeature(_Tagged):
    """A struct of `RegisterControllerRecord`."""

    name: str
    minSupportedVersion: int
    maxSupportedVersion: int


class RegisterControllerRecord(_Tagged):
    """Type 27, version 0."""

    controllerId: int
    incarnationId: bytes
    zkMigrationReady: bool
    endPoints: list[ControllerEndpoint]
    features: list[ControllerFeature]


class ClearElrRecord(_Tagged):
    """Type 28, version 0."""

    topicName: str
