"""Consumer protocol payloads inside classic group metadata (Kafka's `ConsumerProtocol`)."""

from kraftops.schema.message import parse

MESSAGES = parse(
    """
ConsumerProtocolSubscription - 0-3 none
  topics []string
  userData bytes? =null
  ownedPartitions []TopicPartition 1+
    topic string 1+
    partitions []int32 1+
  generationId int32 2+ =-1
  rackId string? 3+ =null

ConsumerProtocolAssignment - 0-3 none
  assignedPartitions []TopicPartition
    topic string
    partitions []int32
  userData bytes? =null
"""
)
