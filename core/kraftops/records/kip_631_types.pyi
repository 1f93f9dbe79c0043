# Fields of KIP-631's records that Kafka's own records do not have.
#
# Types alone: no code runs this file. `kraftops.records.kip_631` makes the records.

from typing import NotRequired, TypedDict, final

from kraftops.records.metadata_types import (
    FenceBrokerRecord,
    PartitionChangeRecord,
    TopicRecord,
    UnregisterBrokerRecord,
)

# Of any dialect.
class AnyUnregisterBrokerRecord(UnregisterBrokerRecord, TypedDict):
    leavesIsrs: NotRequired[bool]

# Of any dialect.
class AnyTopicRecord(TopicRecord, TypedDict):
    deleting: NotRequired[bool]

# Of any dialect; a leader epoch is the one after the change.
class AnyPartitionChangeRecord(PartitionChangeRecord, TypedDict):
    leaderEpoch: NotRequired[int]

# Of any dialect; records that unfence have the same fields.
class AnyFenceBrokerRecord(FenceBrokerRecord, TypedDict):
    leavesIsrs: NotRequired[bool]

# A SCRAM credential of a user.
class ScramCredential(TypedDict):
    mechanism: int
    salt: bytes
    saltedPassword: bytes
    iterations: int

# All credentials of a user, where the dialect has no record for each.
@final
class UserScramCredentials(TypedDict):
    name: str
    credentials: list[ScramCredential]

# Partitions of a topic that have failed.
class TopicWithFailures(TypedDict):
    topicId: bytes
    partitions: list[int]

# Type 13, which Kafka never shipped.
class FailedReplicasRecord(TypedDict):
    brokerId: int
    topics: list[TopicWithFailures]
