"""Records of `__remote_log_metadata` (KIP-405; Kafka's `storage` module)."""

from kraftops.schema.message import parse

MESSAGES = parse(
    """
RemoteLogSegmentMetadataRecord 0 0 0+
  remoteLogSegmentId RemoteLogSegmentIdEntry
    topicIdPartition TopicIdPartitionEntry
      name string
      id uuid
      partition int32
    id uuid
  startOffset int64
  endOffset int64
  brokerId int32
  maxTimestampMs int64
  eventTimestampMs int64
  segmentLeaderEpochs []SegmentLeaderEpochEntry
    leaderEpoch int32
    offset int64
  segmentSizeInBytes int32
  customMetadata bytes? =null
  remoteLogSegmentState int8
  txnIndexEmpty bool #0

RemoteLogSegmentMetadataUpdateRecord 1 0 0+
  remoteLogSegmentId RemoteLogSegmentIdEntry
    topicIdPartition TopicIdPartitionEntry
      name string
      id uuid
      partition int32
    id uuid
  brokerId int32
  eventTimestampMs int64
  customMetadata bytes? =null
  remoteLogSegmentState int8

RemotePartitionDeleteMetadataRecord 2 0 0+
  topicIdPartition TopicIdPartitionEntry
    name string
    id uuid
    partition int32
  brokerId int32
  eventTimestampMs int64
  remotePartitionDeleteState int8

RemoteLogSegmentMetadataSnapshotRecord 3 0 0+
  segmentId uuid
  startOffset int64
  endOffset int64
  brokerId int32
  maxTimestampMs int64
  eventTimestampMs int64
  segmentLeaderEpochs []SegmentLeaderEpochEntry
    leaderEpoch int32
    offset int64
  segmentSizeInBytes int32
  customMetadata bytes? =null
  remoteLogSegmentState int8
  txnIndexEmpty bool #0
"""
)
