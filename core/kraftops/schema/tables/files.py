"""Files of a log directory that have a schema.

The producer state snapshot (KIP-98) and the quorum state (KIP-595, KIP-853).
"""

from kraftops.schema.message import parse

MESSAGES = parse(
    """
ProducerSnapshot - 1 none
  crc uint32
  producerEntries []ProducerEntry
    producerId int64
    epoch int16
    lastSequence int32
    lastOffset int64
    offsetDelta int32
    timestamp int64
    coordinatorEpoch int32
    currentTxnFirstOffset int64

QuorumStateData - 0-1 0+
  clusterId string 0
  leaderId int32 =-1
  leaderEpoch int32 =-1
  votedId int32 =-1
  votedDirectoryId uuid 1+
  appliedOffset int64 0
  currentVoters []Voter? 0
    voterId int32 0
"""
)
