"""Metadata records of KIP-631's drafts: version 28 of the text.

Version 19 is its first six types.
"""

from kraftops.schema.message import parse

MESSAGES = parse(
    """
BrokerRecord 0 0 0+
  brokerId int32
  brokerEpoch int64
  endPoints []BrokerEndpoint
    name string
    host string
    port int16
    securityProtocol int16
  rack string?

TopicRecord 1 0 0+
  name string
  topicId uuid
  deleting bool

PartitionRecord 2 0 0+
  partitionId int32 =-1
  topicId uuid
  replicas []int32
  isr []int32
  removingReplicas []int32
  addingReplicas []int32
  leader int32 =-1
  leaderEpoch int32 =-1

ConfigRecord 3 0 0+
  resourceType int8
  resourceName string
  name string
  value string

IsrChangeRecord 4 0 0+
  partitionId int32 =-1
  topicId uuid
  isr []int32
  leader int32 =-1
  leaderEpoch int32 =-1

AccessControlRecord 5 0 0+
  resourceType int8
  resourceName string?
  patternType int8
  principal string
  host string
  operation int8
  permissionType int8

DeleteBrokerRecord 6 0 0+
  id int32

DeleteTopicRecord 7 0 0+
  name uuid
"""
)
