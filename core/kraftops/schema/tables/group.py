"""Records of `__consumer_offsets` (Kafka's `group-coordinator` module).

Classic, consumer, share and streams groups.
"""

from kraftops.schema.message import parse

MESSAGES = parse(
    """
LegacyOffsetCommitKey 0 0 none
  group string
  topic string
  partition int32

LegacyOffsetCommitValue 0 0 none
  offset int64
  metadata string
  commitTimestamp int64

OffsetCommitKey 1 0 none
  group string
  topic string
  partition int32

OffsetCommitValue 1 0-4 4+
  offset int64
  leaderEpoch int32 3+ =-1
  metadata string
  commitTimestamp int64
  expireTimestamp int64 1 =-1
  topicId uuid 4+ #0

GroupMetadataKey 2 0 none
  group string

GroupMetadataValue 2 0-4 4+
  protocolType string
  generation int32
  protocol string?
  leader string?
  currentStateTimestamp int64 2+ =-1
  members []MemberMetadata
    memberId string
    groupInstanceId string? 3+ =null
    clientId string
    clientHost string
    rebalanceTimeout int32 1+ =-1
    sessionTimeout int32
    subscription bytes
    assignment bytes

ConsumerGroupMetadataKey 3 0 none
  groupId string

ConsumerGroupMetadataValue 3 0 0+
  epoch int32
  metadataHash int64 #0

ConsumerGroupPartitionMetadataKey 4 0 none
  groupId string

ConsumerGroupPartitionMetadataValue 4 0 0+
  topics []TopicMetadata
    topicId uuid
    topicName string
    numPartitions int32
    partitionMetadata []PartitionMetadata
      partition int32
      racks []string

ConsumerGroupMemberMetadataKey 5 0 none
  groupId string
  memberId string

ConsumerGroupMemberMetadataValue 5 0 0+
  instanceId string?
  rackId string?
  clientId string
  clientHost string
  subscribedTopicNames []string
  subscribedTopicRegex string?
  rebalanceTimeoutMs int32 =-1
  serverAssignor string?
  classicMemberMetadata ClassicMemberMetadata? #0
    sessionTimeoutMs int32
    supportedProtocols []ClassicProtocol
      name string
      metadata bytes

ConsumerGroupTargetAssignmentMetadataKey 6 0 none
  groupId string

ConsumerGroupTargetAssignmentMetadataValue 6 0 0+
  assignmentEpoch int32
  assignmentTimestamp int64 #0

ConsumerGroupTargetAssignmentMemberKey 7 0 none
  groupId string
  memberId string

ConsumerGroupTargetAssignmentMemberValue 7 0 0+
  topicPartitions []TopicPartition
    topicId uuid
    partitions []int32

ConsumerGroupCurrentMemberAssignmentKey 8 0 none
  groupId string
  memberId string

ConsumerGroupCurrentMemberAssignmentValue 8 0 0+
  memberEpoch int32
  previousMemberEpoch int32
  state int8
  assignedPartitions []TopicPartitions
    topicId uuid
    partitions []int32
    assignmentEpochs []int32? #0
  partitionsPendingRevocation []TopicPartitions
    topicId uuid
    partitions []int32
    assignmentEpochs []int32? #0

ShareGroupMemberMetadataKey 10 0 none
  groupId string
  memberId string

ShareGroupMemberMetadataValue 10 0 0+
  rackId string?
  clientId string
  clientHost string
  subscribedTopicNames []string

ShareGroupMetadataKey 11 0 none
  groupId string

ShareGroupMetadataValue 11 0 0+
  epoch int32
  metadataHash int64

ShareGroupTargetAssignmentMetadataKey 12 0 none
  groupId string

ShareGroupTargetAssignmentMetadataValue 12 0 0+
  assignmentEpoch int32
  assignmentTimestamp int64 #0

ShareGroupTargetAssignmentMemberKey 13 0 none
  groupId string
  memberId string

ShareGroupTargetAssignmentMemberValue 13 0 0+
  topicPartitions []TopicPartition
    topicId uuid
    partitions []int32

ShareGroupCurrentMemberAssignmentKey 14 0 none
  groupId string
  memberId string

ShareGroupCurrentMemberAssignmentValue 14 0 0+
  memberEpoch int32
  previousMemberEpoch int32
  state int8
  assignedPartitions []TopicPartitions
    topicId uuid
    partitions []int32

ShareGroupStatePartitionMetadataKey 15 0 none
  groupId string

ShareGroupStatePartitionMetadataValue 15 0 0+
  initializingTopics []TopicPartitionsInfo
    topicId uuid
    topicName string
    partitions []int32
  initializedTopics []TopicPartitionsInfo
    topicId uuid
    topicName string
    partitions []int32
  deletingTopics []TopicInfo
    topicId uuid
    topicName string

ConsumerGroupRegularExpressionKey 16 0 none
  groupId string
  regularExpression string

ConsumerGroupRegularExpressionValue 16 0 0+
  topics []string
  version int64
  timestamp int64

StreamsGroupMetadataKey 17 0 none
  groupId string

StreamsGroupMetadataValue 17 0 0+
  epoch int32
  metadataHash int64
  validatedTopologyEpoch int32 #0 =-1
  lastAssignmentConfigs []LastAssignmentConfig? #1
    key string
    value string

StreamsGroupMemberMetadataKey 19 0 none
  groupId string
  memberId string

StreamsGroupMemberMetadataValue 19 0 0+
  instanceId string?
  rackId string?
  clientId string
  clientHost string
  rebalanceTimeoutMs int32 =-1
  topologyEpoch int32
  processId string
  userEndpoint Endpoint? =null
    host string
    port uint16
  clientTags []KeyValue
    key string
    value string

StreamsGroupTargetAssignmentMetadataKey 20 0 none
  groupId string

StreamsGroupTargetAssignmentMetadataValue 20 0 0+
  assignmentEpoch int32
  assignmentTimestamp int64 #0

StreamsGroupTargetAssignmentMemberKey 21 0 none
  groupId string
  memberId string

StreamsGroupTargetAssignmentMemberValue 21 0 0+
  activeTasks []TaskIds
    subtopologyId string
    partitions []int32
  standbyTasks []TaskIds
    subtopologyId string
    partitions []int32
  warmupTasks []TaskIds
    subtopologyId string
    partitions []int32

StreamsGroupCurrentMemberAssignmentKey 22 0 none
  groupId string
  memberId string

StreamsGroupCurrentMemberAssignmentValue 22 0 0+
  memberEpoch int32
  previousMemberEpoch int32
  state int8
  activeTasks []TaskIds
    subtopologyId string
    partitions []int32
    assignmentEpochs []int32? #0
  standbyTasks []TaskIds
    subtopologyId string
    partitions []int32
    assignmentEpochs []int32? #0
  warmupTasks []TaskIds
    subtopologyId string
    partitions []int32
    assignmentEpochs []int32? #0
  activeTasksPendingRevocation []TaskIds
    subtopologyId string
    partitions []int32
    assignmentEpochs []int32? #0
  standbyTasksPendingRevocation []TaskIds
    subtopologyId string
    partitions []int32
    assignmentEpochs []int32? #0
  warmupTasksPendingRevocation []TaskIds
    subtopologyId string
    partitions []int32
    assignmentEpochs []int32? #0

StreamsGroupTopologyKey 23 0 none
  groupId string

StreamsGroupTopologyValue 23 0 0+
  epoch int32
  subtopologies []Subtopology
    subtopologyId string
    sourceTopics []string
    sourceTopicRegex []string
    stateChangelogTopics []TopicInfo
      name string
      partitions int32
      replicationFactor int16
      topicConfigs []TopicConfig
        key string
        value string
    repartitionSinkTopics []string
    repartitionSourceTopics []TopicInfo
      name string
      partitions int32
      replicationFactor int16
      topicConfigs []TopicConfig
        key string
        value string
    copartitionGroups []CopartitionGroup
      sourceTopics []int16
      sourceTopicRegex []int16
      repartitionSourceTopics []int16
"""
)
