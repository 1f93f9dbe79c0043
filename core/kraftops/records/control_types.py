"""The fields of control records as they are decoded; made by scripts/generate.py.

A field that is not in all versions may be absent; `kraftops.schema.codegen.read` has the values.
"""

from typing import NotRequired, TypedDict


class _Tagged(TypedDict):
    """Tagged fields that no table knows, by tag, where there are any."""

    _unknownTags: NotRequired[dict[int, bytes]]


class EndTxnMarker(TypedDict):
    """Type 0 and 1, version 0."""

    coordinatorEpoch: int


class LeaderChangeMessageVoter(_Tagged):
    """A struct of `LeaderChangeMessage`."""

    voterId: int
    voterDirectoryId: NotRequired[bytes]


class LeaderChangeMessage(_Tagged):
    """Type 2, versions 0 to 1."""

    version: int
    leaderId: int
    voters: list[LeaderChangeMessageVoter]
    grantingVoters: list[LeaderChangeMessageVoter]


class SnapshotHeaderRecord(_Tagged):
    """Type 3, version 0."""

    version: int
    lastContainedLogTimestamp: int


class SnapshotFooterRecord(_Tagged):
    """Type 4, version 0."""

    version: int


class KRaftVersionRecord(_Tagged):
    """Type 5, version 0."""

    version: int
    kRaftVersion: int


class Endpoint(_Tagged):
    """A struct of `VotersRecord`."""

    name: str
    host: str
    port: int


class KRaftVersionFeature(_Tagged):
    """A struct of `VotersRecord`."""

    minSupportedVersion: int
    maxSupportedVersion: int


class VotersRecordVoter(_Tagged):
    """A struct of `VotersRecord`."""

    voterId: int
    voterDirectoryId: bytes
    endpoints: list[Endpoint]
    kRaftVersionFeature: KRaftVersionFeature


class VotersRecord(_Tagged):
    """Type 6, version 0."""

    version: int
    voters: list[VotersRecordVoter]
