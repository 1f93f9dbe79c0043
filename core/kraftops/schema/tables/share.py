"""Records of `__share_group_state` (KIP-932; Kafka's `share-coordinator` module)."""

from kraftops.schema.message import parse

MESSAGES = parse(
    """
ShareSnapshotKey 0 0 none
  groupId string
  topicId uuid
  partition int32

ShareSnapshotValue 0 0 0+
  snapshotEpoch int32
  stateEpoch int32
  leaderEpoch int32
  startOffset int64
  deliveryCompleteCount int32 #0 =-1
  createTimestamp int64
  writeTimestamp int64
  stateBatches []StateBatch
    firstOffset int64
    lastOffset int64
    deliveryState int8
    deliveryCount int16

ShareUpdateKey 1 0 none
  groupId string
  topicId uuid
  partition int32

ShareUpdateValue 1 0 0+
  snapshotEpoch int32
  leaderEpoch int32
  startOffset int64
  deliveryCompleteCount int32 #0 =-1
  stateBatches []StateBatch
    firstOffset int64
    lastOffset int64
    deliveryState int8
    deliveryCount int16
"""
)
