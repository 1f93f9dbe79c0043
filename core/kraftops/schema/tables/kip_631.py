"""Metadata records as the published text of KIP-631 defines them; Kafka shipped others."""

from kraftops.schema.message import parse

MESSAGES = parse(
    """
RegisterBrokerRecord 0 0 0+
  brokerId int32
  incarnationId uuid
  brokerEpoch int64
  endPoints []BrokerEndpoint?
    name string
    host string
    port uint16
    securityProtocol int16
  features []BrokerFeature?
    name string
    minVersion int16
    maxVersion int16
  rack string?

UnregisterBrokerRecord 1 0 0+
  brokerId int32
  brokerEpoch int64

TopicRecord 2 0 0+
  topicName string
  topicId uuid

PartitionRecord 3 0 0+
  partitionId int32 =-1
  topicId uuid
  replicas []int32
  isr []int32
  removingReplicas []int32
  addingReplicas []int32
  leader int32 =-1
  leaderEpoch int32 =-1

ConfigRecord 4 0 0+
  resourceType int8
  resourceName string
  name string
  value string

PartitionChangeRecord 5 0 0+
  partitionId int32 =-1
  topicId uuid
  isr []int32? #0 =null
  leader int32 #1 =-2
  replicas []int32? #2 =null
  removingReplicas []int32? #3 =null
  addingReplicas []int32? #4 =null

AccessControlRecord 6 0 0+
  resourceType int8
  resourceName string?
  patternType int8
  principal string
  host string
  operation int8
  permissionType int8

FenceBrokerRecord 7 0 0+
  brokerId int32
  brokerEpoch int64

UnfenceBrokerRecord 8 0 0+
  brokerId int32
  brokerEpoch int64

RemoveTopicRecord 9 0 0+
  topicId uuid

DelegationTokenRecord 10 0 0+
  owner string
  renewers []string
  issueTimestamp int64
  maxTimestamp int64
  expirationTimestamp int64
  tokenId string

UserScramCredentialRecord 11 0 0+
  userName string
  credentialInfos []CredentialInfo
    mechanism int8
    salt bytes
    saltedPassword bytes
    iterations int32

FeatureLevelRecord 12 0 0+
  name string
  minFeatureLevel int16
  maxFeatureLevel int16

FailedReplicasRecord 13 0 0+
  brokerId int32
  topics []TopicWithFailures
    topicId uuid
    partitions []int32

QuotaRecord 14 0 0+
  entity []EntityData
    entityType string
    entityName string?
  key string
  value float64
  remove bool
"""
)
