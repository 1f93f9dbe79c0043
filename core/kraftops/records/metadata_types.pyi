# The fields of metadata records as they are decoded; made by scripts/generate.py.
#
# A field that is not in all versions may be absent; `kraftops.schema.codegen.read` has the values.
# Types alone: no code runs this file.

from typing import NotRequired, TypedDict

# Tagged fields that no table knows, by tag, where there are any.
class _Tagged(TypedDict):
    _unknownTags: NotRequired[dict[int, bytes]]

# A struct of `RegisterBrokerRecord`.
class BrokerEndpoint(_Tagged):
    name: str
    host: str
    port: int
    securityProtocol: int

# A struct of `RegisterBrokerRecord`.
class BrokerFeature(_Tagged):
    name: str
    minSupportedVersion: int
    maxSupportedVersion: int

# Type 0, versions 0 to 4.
class RegisterBrokerRecord(_Tagged):
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

# Type 1, version 0.
class UnregisterBrokerRecord(_Tagged):
    brokerId: int
    brokerEpoch: int

# Type 2, version 0.
class TopicRecord(_Tagged):
    name: str
    topicId: bytes

# Type 3, versions 0 to 2.
class PartitionRecord(_Tagged):
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

# Type 4, version 0.
class ConfigRecord(_Tagged):
    resourceType: int
    resourceName: str
    name: str
    value: str | None

# Type 5, versions 0 to 2.
class PartitionChangeRecord(_Tagged):
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

# Type 7, version 0.
class FenceBrokerRecord(_Tagged):
    id: int
    epoch: int

# Type 8, version 0.
class UnfenceBrokerRecord(_Tagged):
    id: int
    epoch: int

# Type 9, version 0.
class RemoveTopicRecord(_Tagged):
    topicId: bytes

# Type 10, version 0.
class DelegationTokenRecord(_Tagged):
    owner: str
    requester: str
    renewers: list[str]
    issueTimestamp: int
    maxTimestamp: int
    expirationTimestamp: int
    tokenId: str

# Type 11, version 0.
class UserScramCredentialRecord(_Tagged):
    name: str
    mechanism: int
    salt: bytes
    storedKey: bytes
    serverKey: bytes
    iterations: int

# Type 12, version 0.
class FeatureLevelRecord(_Tagged):
    name: str
    featureLevel: int

# A struct of `ClientQuotaRecord`.
class EntityData(_Tagged):
    entityType: str
    entityName: str | None

# Type 14, version 0.
class ClientQuotaRecord(_Tagged):
    entity: list[EntityData]
    key: str
    value: float
    remove: bool

# Type 15, version 0.
class ProducerIdsRecord(_Tagged):
    brokerId: int
    brokerEpoch: int
    nextProducerId: int

# Type 17, versions 0 to 3.
class BrokerRegistrationChangeRecord(_Tagged):
    brokerId: int
    brokerEpoch: int
    fenced: int
    inControlledShutdown: NotRequired[int]
    logDirs: NotRequired[list[bytes]]
    cordonedLogDirs: NotRequired[list[bytes] | None]

# Type 18, version 0.
class AccessControlEntryRecord(_Tagged):
    id: bytes
    resourceType: int
    resourceName: str
    patternType: int
    principal: str
    host: str
    operation: int
    permissionType: int

# Type 19, version 0.
class RemoveAccessControlEntryRecord(_Tagged):
    id: bytes

# Type 20, version 0.
class NoOpRecord(_Tagged): ...

# Type 21, version 0.
class ZkMigrationStateRecord(_Tagged):
    zkMigrationState: int

# Type 22, version 0.
class RemoveUserScramCredentialRecord(_Tagged):
    name: str
    mechanism: int

# Type 23, version 0.
class BeginTransactionRecord(_Tagged):
    name: str | None

# Type 24, version 0.
class EndTransactionRecord(_Tagged): ...

# Type 25, version 0.
class AbortTransactionRecord(_Tagged):
    reason: str | None

# Type 26, version 0.
class RemoveDelegationTokenRecord(_Tagged):
    tokenId: str

# A struct of `RegisterControllerRecord`.
class ControllerEndpoint(_Tagged):
    name: str
    host: str
    port: int
    securityProtocol: int

# A struct of `RegisterControllerRecord`.
class ControllerFeature(_Tagged):
    name: str
    minSupportedVersion: int
    maxSupportedVersion: int

# Type 27, version 0.
class RegisterControllerRecord(_Tagged):
    controllerId: int
    incarnationId: bytes
    zkMigrationReady: bool
    endPoints: list[ControllerEndpoint]
    features: list[ControllerFeature]

# Type 28, version 0.
class ClearElrRecord(_Tagged):
    topicName: str
