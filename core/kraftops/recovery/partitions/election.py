"""Elections that a recovery writes: the broker with the newest copy of a partition leads it.

As an unclean election does (`PartitionChangeBuilder`), each has an ISR of the leader alone; the
followers join it once they have truncated to the leader. No other replica has all records for
certain, so that the ELR is empty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from kraftops.engine.metadata_state import PartitionState
from kraftops.recovery.partitions.copies import PartitionCopy, newest_of
from kraftops.recovery.partitions.losses import (
    Assignment,
    PartitionKey,
    copies_by_partition,
    losses,
)

_DIRECTORY_LEVEL, _ELR_LEVEL = 17, 23
"""Levels of metadata.version from which a PartitionRecord has directories and ELR
(3.7-IV2, 4.0-IV1; `MetadataVersion.partitionRecordVersion`)."""


class Election(NamedTuple):
    """A partition that is to be led by the broker of its newest copy; *before* is its state."""

    topic: str
    key: PartitionKey
    copy: PartitionCopy
    leader_epoch: int
    before: PartitionState

    @property
    def state(self) -> PartitionState:
        """The state after the election, as if a controller had elected for each epoch."""
        return self.before._replace(
            leader=self.copy.broker,
            isr=[self.copy.broker],
            eligible_leader_replicas=[],
            last_known_elr=[],
            leader_recovery_state=0,
            leader_epoch=self.leader_epoch,
            partition_epoch=self.before.partition_epoch
            + self.leader_epoch
            - self.before.leader_epoch,
        )


def newest_elections(
    assigned: Mapping[PartitionKey, Assignment],
    copies: Sequence[PartitionCopy],
    registered: Collection[int],
    later_epochs: Mapping[PartitionKey, int],
) -> list[Election]:
    """Return the elections that keep most records.

    They are for partitions that would lose records, and for those whose leader epochs would be
    handed out again: replicas with other records in one epoch never notice (KIP-101), a follower
    with a higher epoch than its leader never gets its records, and clients ignore a leader of an
    epoch before the one that they know (KIP-320).

    Args:
        assigned: the partitions of the chosen metadata.
        copies: the copies on all disks.
        registered: the ids of the registered brokers; no other can lead.
        later_epochs: the leader epochs of partitions in other metadata logs.
    """
    losing = {(loss.copy.topic_id, loss.copy.number) for loss in losses(assigned, copies)}
    elections = []
    for key, on_disks in copies_by_partition(copies).items():
        assignment = assigned.get(key)
        if assignment is None:
            continue
        state = assignment.state
        able = [
            copy for copy in on_disks if copy.broker in state.replicas and copy.broker in registered
        ]
        highest = max([*(copy.epoch for copy in on_disks), later_epochs.get(key, -1)])
        if able and (key in losing or highest > state.leader_epoch):
            epoch = max(highest, state.leader_epoch) + 1
            elections.append(Election(assignment.topic, key, newest_of(able), epoch, state))
    return sorted(elections, key=lambda election: (election.topic, election.key[1]))


def after_elections(
    assigned: Mapping[PartitionKey, Assignment], elections: Iterable[Election]
) -> dict[PartitionKey, Assignment]:
    """Return the partitions as they are after elections."""
    elected = {election.key: election.state for election in elections}
    return {
        key: assignment._replace(state=elected.get(key, assignment.state))
        for key, assignment in assigned.items()
    }


def partition_record_version(metadata_version: int) -> int:
    """Return the version of a PartitionRecord at a level of metadata.version."""
    return (metadata_version >= _DIRECTORY_LEVEL) + (metadata_version >= _ELR_LEVEL)


def partition_record(election: Election) -> dict[str, object]:
    """Return the fields of the PartitionRecord of an election, which replaces the partition.

    A PartitionChangeRecord would raise the leader epoch by one only.
    """
    topic_id, number = election.key
    state = election.state
    return {
        "partitionId": number,
        "topicId": topic_id,
        "replicas": state.replicas,
        "isr": state.isr,
        "removingReplicas": state.removing_replicas,
        "addingReplicas": state.adding_replicas,
        "leader": state.leader,
        "leaderRecoveryState": state.leader_recovery_state,
        "leaderEpoch": state.leader_epoch,
        "partitionEpoch": state.partition_epoch,
        "directories": state.directories,
    }
