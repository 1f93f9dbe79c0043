"""Fields of KIP-631's records that Kafka's own records do not have.

Types alone; `kraftops.records.kip_631` makes the records.
"""

from typing import NotRequired, TypedDict, final

from kraftops.records.metadata_types import (
    FenceBrokerRecord,
    PartitionChangeRecord,
    TopicRecord,
    UnregisterBrokerRecord,
)


class AnyUnregisterBrokerRecord(UnregisterBrokerRecord, TypedDict):
    """Of any dialect."""

    leavesIsrs: NotRequired[bool]


class AnyTopicRecord(TopicRecord, TypedDict):
    """Of any dialect."""

    deleting: NotRequired[bool]


class AnyPartitionChangeRecord(PartitionChangeRecord, TypedDict):
    """Of any dialect; a leader epoch is the one after the change."""

    leaderEpoch: NotRequired[int]


class AnyFenceBrokerRecord(FenceBrokerRecord, TypedDict):
    """Of any dialect; records that unfence have the same fields."""

    leavesIsrs: NotRequired[bool]


class ScramCredential(TypedDict):
    """A SCRAM credential of a user."""

    mechanism: int
    salt: bytes
    saltedPassword: bytes
    iterations: int


@final
class UserScramCredentials(TypedDict):
    """All credentials of a user, where the dialect has no record for each."""

    name: str
    credentials: list[ScramCredential]


class TopicWithFailures(TypedDict):
    """Partitions of a topic that have failed."""

    topicId: bytes
    partitions: list[int]


class FailedReplicasRecord(TypedDict):
    """Type 13, which Kafka never shipped."""

    brokerId: int
    topics: list[TopicWithFailures]
