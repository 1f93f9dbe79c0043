# The fields of control records as they are decoded; made by scripts/generate.py.
#
# A field that is not in all versions may be absent; `kraftops.schema.codegen.read` has the values.
# Types alone: no code runs this file.

from typing import NotRequired, TypedDict

# Tagged fields that no table knows, by tag, where there are any.
class _Tagged(TypedDict):
    _unknownTags: NotRequired[dict[int, bytes]]

# Type 0 and 1, version 0.
class EndTxnMarker(TypedDict):
    coordinatorEpoch: int

# A struct of `LeaderChangeMessage`.
class LeaderChangeMessageVoter(_Tagged):
    voterId: int
    voterDirectoryId: NotRequired[bytes]

# Type 2, versions 0 to 1.
class LeaderChangeMessage(_Tagged):
    version: int
    leaderId: int
    voters: list[LeaderChangeMessageVoter]
    grantingVoters: list[LeaderChangeMessageVoter]

# Type 3, version 0.
class SnapshotHeaderRecord(_Tagged):
    version: int
    lastContainedLogTimestamp: int

# Type 4, version 0.
class SnapshotFooterRecord(_Tagged):
    version: int

# Type 5, version 0.
class KRaftVersionRecord(_Tagged):
    version: int
    kRaftVersion: int

# A struct of `VotersRecord`.
class Endpoint(_Tagged):
    name: str
    host: str
    port: int

# A struct of `VotersRecord`.
class KRaftVersionFeature(_Tagged):
    minSupportedVersion: int
    maxSupportedVersion: int

# A struct of `VotersRecord`.
class VotersRecordVoter(_Tagged):
    voterId: int
    voterDirectoryId: bytes
    endpoints: list[Endpoint]
    kRaftVersionFeature: KRaftVersionFeature

# Type 6, version 0.
class VotersRecord(_Tagged):
    version: int
    voters: list[VotersRecordVoter]
