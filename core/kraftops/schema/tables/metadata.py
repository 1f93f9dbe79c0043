"""Records of the KRaft metadata log (KIP-631 and its successors; Kafka's `metadata` module).

As of Kafka 4.3.
"""

from kraftops.schema.message import parse

MESSAGES = parse(
    """
RegisterBrokerRecord 0 0-4 0+
  brokerId int32
  isMigratingZkBroker bool 2+
  incarnationId uuid
  brokerEpoch int64
  endPoints []BrokerEndpoint
    name string
    host string
    port uint16
    securityProtocol int16
  features []BrokerFeature
    name string
    minSupportedVersion int16
    maxSupportedVersion int16
  rack string?
  fenced bool =true
  inControlledShutdown bool 1+
  logDirs []uuid 3+ #0
  cordonedLogDirs []uuid? 4+ #1 =null

UnregisterBrokerRecord 1 0 0+
  brokerId int32
  brokerEpoch int64

TopicRecord 2 0 0+
  name string
  topicId uuid

PartitionRecord 3 0-2 0+
  partitionId int32 =-1
  topicId uuid
  replicas []int32
  isr []int32
  removingReplicas []int32
  addingReplicas []int32
  leader int32 =-1
  leaderRecoveryState int8 #0
  leaderEpoch int32 =-1
  partitionEpoch int32 =-1
  directories []uuid 1+
  eligibleLeaderReplicas []int32? 2+ #1 =null
  lastKnownElr []int32? 2+ #2 =null

ConfigRecord 4 0 0+
  resourceType int8
  resourceName string
  name string
  value string?

PartitionChangeRecord 5 0-2 0+
  partitionId int32 =-1
  topicId uuid
  isr []int32? #0 =null
  leader int32 #1 =-2
  replicas []int32? #2 =null
  removingReplicas []int32? #3 =null
  addingReplicas []int32? #4 =null
  leaderRecoveryState int8 #5 =-1
  directories []uuid? 1+ #8 =null
  eligibleLeaderReplicas []int32? 2+ #6 =null
  lastKnownElr []int32? 2+ #7 =null

FenceBrokerRecord 7 0 0+
  id int32
  epoch int64

UnfenceBrokerRecord 8 0 0+
  id int32
  epoch int64

RemoveTopicRecord 9 0 0+
  topicId uuid

DelegationTokenRecord 10 0 0+
  owner string
  requester string
  renewers []string
  issueTimestamp int64
  maxTimestamp int64
  expirationTimestamp int64
  tokenId string

UserScramCredentialRecord 11 0 0+
  name string
  mechanism int8
  salt bytes
  storedKey bytes
  serverKey bytes
  iterations int32

FeatureLevelRecord 12 0 0+
  name string
  featureLevel int16

ClientQuotaRecord 14 0 0+
  entity []EntityData
    entityType string
    entityName string?
  key string
  value float64
  remove bool

ProducerIdsRecord 15 0 0+
  brokerId int32
  brokerEpoch int64 =-1
  nextProducerId int64

BrokerRegistrationChangeRecord 17 0-3 0+
  brokerId int32
  brokerEpoch int64
  fenced int8 #0
  inControlledShutdown int8 1+ #1
  logDirs []uuid 2+ #2
  cordonedLogDirs []uuid? 3+ #3 =null

AccessControlEntryRecord 18 0 0+
  id uuid
  resourceType int8
  resourceName string
  patternType int8
  principal string
  host string
  operation int8
  permissionType int8

RemoveAccessControlEntryRecord 19 0 0+
  id uuid

NoOpRecord 20 0 0+

ZkMigrationStateRecord 21 0 0+
  zkMigrationState int8

RemoveUserScramCredentialRecord 22 0 0+
  name string
  mechanism int8

BeginTransactionRecord 23 0 0+
  name string? #0 =null

EndTransactionRecord 24 0 0+

AbortTransactionRecord 25 0 0+
  reason string? #0 =null

RemoveDelegationTokenRecord 26 0 0+
  tokenId string

RegisterControllerRecord 27 0 0+
  controllerId int32
  incarnationId uuid
  zkMigrationReady bool
  endPoints []ControllerEndpoint
    name string
    host string
    port uint16
    securityProtocol int16
  features []ControllerFeature
    name string
    minSupportedVersion int16
    maxSupportedVersion int16

ClearElrRecord 28 0 0+
  topicName string
"""
)
