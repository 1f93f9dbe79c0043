"""Values of control records.

Transaction markers (KIP-98), leader changes and snapshots (KIP-595, KIP-630), voters (KIP-853).
"""

from kraftops.schema.message import parse

MESSAGES = parse(
    """
EndTxnMarker - 0 none
  coordinatorEpoch int32

LeaderChangeMessage - 0-1 0+
  version int16
  leaderId int32
  voters []Voter
    voterId int32
    voterDirectoryId uuid 1+
  grantingVoters []Voter
    voterId int32
    voterDirectoryId uuid 1+

SnapshotHeaderRecord - 0 0+
  version int16
  lastContainedLogTimestamp int64

SnapshotFooterRecord - 0 0+
  version int16

KRaftVersionRecord - 0 0+
  version int16
  kRaftVersion int16

VotersRecord - 0 0+
  version int16
  voters []Voter
    voterId int32
    voterDirectoryId uuid
    endpoints []Endpoint
      name string
      host string
      port uint16
    kRaftVersionFeature KRaftVersionFeature
      minSupportedVersion int16
      maxSupportedVersion int16
"""
)
