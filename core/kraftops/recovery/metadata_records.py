"""Records of the metadata that a recovery writes after the voters: elections and producer ids.

Counters that a lost tail of the log had moved are raised: what was handed out is not handed out
again. Leader epochs are by elections. Broker epochs are offsets of registrations; each broker gets
a new one when it starts, and none outlives its process but in the file of a clean stop, where it
only makes the stop count as unclean (`ClusterControlManager.registerBroker`).

As after an unclean election (`PartitionChangeBuilder`), the leader is alone in the ISR; followers
join it once they have truncated to it. No other replica has all records for certain: the ELR is
empty.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops.engine.metadata_state import PartitionKey, PartitionState
from kraftops.image.state.findings import OPEN_TRANSACTION
from kraftops.image.state.image import MetadataImage
from kraftops.recovery.log_selection import ComparedLog
from kraftops.recovery.missing_state import next_producer_id
from kraftops.recovery.partitions.comparison import (
    ComparedBroker,
    Comparison,
    compare,
    missing_ends,
)
from kraftops.recovery.partitions.copies import PartitionCopy, newest_of
from kraftops.recovery.partitions.disk import BrokerDisk, misplaced_partitions, unread_directories
from kraftops.recovery.partitions.losses import (
    Assignment,
    PartitionLoss,
    assignments,
    copies_by_partition,
    copies_to_be_led,
    losses,
    partly_read,
)
from kraftops.storage.bootstrap.records import MetadataRecord
from kraftops.tree.leaves import partition_data

_DIRECTORY_LEVEL, _ELR_LEVEL = 17, 23
"""Levels of metadata.version from which a PartitionRecord has directories and ELR
(3.7-IV2, 4.0-IV1; `MetadataVersion.partitionRecordVersion`)."""
_BLOCK = 1000  # ids of a `ProducerIdsBlock`
_BLOCKS_OF_BROKER = 2  # one in use, and the next, which `RPCProducerIdManager` fetches ahead


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


@dataclass(frozen=True, slots=True)
class PartitionPlan:
    """What a recovery does to partitions and producer ids.

    Attributes:
        comparison: the copies that were read, with those that a start creates again, empty, and as
            findings what brokers had that none of them has.
        losses: what would be cut after it.
        elections: the elections that keep the most.
        is_elected: whether they are written.
        producer_ids: the next producer id, and the raised one; equal where it stays.
        records: the records to write.
        replica_brokers: the ids of the brokers that have replicas by the metadata.
    """

    comparison: Comparison
    losses: tuple[PartitionLoss, ...]
    elections: tuple[Election, ...]
    is_elected: bool
    producer_ids: tuple[int, int]
    records: tuple[MetadataRecord, ...]
    replica_brokers: frozenset[int]

    @property
    def can_elect(self) -> bool:
        """Whether elections would keep more, and are not written."""
        return bool(self.elections) and not self.is_elected

    @property
    def cuts_needlessly(self) -> bool:
        """Whether records would be cut that elections would keep, which are not written."""
        # Without segments ends are unknown: then an election may choose the worse copy.
        return self.can_elect and any(loss.copy.is_end_exact for loss in self.losses)

    @property
    def start_order(self) -> list[int]:
        """The ids of the brokers whose copies were read, in the order of their start."""
        return [broker.broker for broker in self.comparison.brokers]

    @property
    def first_brokers(self) -> list[ComparedBroker]:
        """The brokers to start before the others: each alone has newest copies of partitions."""
        return [broker for broker in self.comparison.brokers if broker.newest_alone]


def plan_partitions(
    image: MetadataImage,
    logs: Iterable[ComparedLog],
    disks: Sequence[BrokerDisk],
    *,
    elects_newest: bool,
) -> PartitionPlan:
    """Return what a recovery to an image does to the partitions on disks.

    Raises:
        KraftopsError: a source of an image can no longer be read.
    """
    others = [log.image for log in logs if log.image]
    assigned = assignments(image)
    copies = [copy for disk in disks for copy in disk.copies]
    led = copies_to_be_led(assigned, disks)
    losing = {(loss.copy.topic_id, loss.copy.number) for loss in losses(assigned, led)}
    elections = newest_elections(assigned, copies, losing, image.brokers, _later_epochs(others))
    elected = elections if elects_newest else []
    before = next_producer_id(image)
    after = _raised(before, others, copies, len(image.brokers))
    version = _partition_record_version(image.metadata_version[0] if image.metadata_version else 0)
    records = [
        MetadataRecord("PartitionRecord", _partition_record(election), version)
        for election in elected
    ]
    if after > before:
        fields = {"brokerId": -1, "brokerEpoch": -1, "nextProducerId": after}
        records.append(MetadataRecord("ProducerIdsRecord", fields))
    if records and any(finding.code == OPEN_TRANSACTION for finding in image.log_findings):
        # The next leader aborts what an open transaction holds, and these records with it.
        records.insert(0, MetadataRecord("AbortTransactionRecord", {"reason": "recovery"}))
    partly = partly_read(assigned, led, unread_directories(image, disks))
    table = compare(led, partly_read=partly)
    misplaced = misplaced_partitions(disks, image)
    return PartitionPlan(
        comparison=replace(
            table, findings=tuple(missing_ends(table.all_copies, misplaced, partly))
        ),
        losses=tuple(losses(_after_elections(assigned, elected), led)),
        elections=tuple(elections),
        is_elected=elects_newest,
        producer_ids=(before, after),
        records=tuple(records),
        replica_brokers=frozenset(
            broker for assignment in assigned.values() for broker in assignment.state.replicas
        ),
    )


def _later_epochs(images: Iterable[MetadataImage]) -> dict[PartitionKey, int]:
    """Return the highest leader epoch of each partition in other logs."""
    epochs: dict[PartitionKey, int] = {}
    for image in images:
        for key, assignment in assignments(image).items():
            epochs[key] = max(epochs.get(key, -1), assignment.state.leader_epoch)
    return epochs


def _raised(
    before: int, images: Iterable[MetadataImage], copies: Iterable[PartitionCopy], brokers: int
) -> int:
    """Return the next producer id: above all in other logs and on disks.

    Of each block that a broker was given, the disks show only ids whose producers have written.
    """
    highest = max(
        [before, *map(next_producer_id, images), *(copy.next_producer_id for copy in copies)]
    )
    if highest == before:
        return before
    blocks = -(-highest // _BLOCK) + brokers * _BLOCKS_OF_BROKER
    return blocks * _BLOCK


def newest_elections(
    assigned: Mapping[PartitionKey, Assignment],
    copies: Sequence[PartitionCopy],
    losing: Collection[tuple[bytes | None, int]],
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
        losing: the partitions that would lose records.
        registered: the ids of the registered brokers; no other can lead.
        later_epochs: the leader epochs of partitions in other metadata logs.
    """
    elections = []
    for key, on_disks in copies_by_partition(copies).items():
        assignment = assigned.get(key)
        if assignment is None:
            continue
        state = assignment.state
        able = [
            copy
            for copy in on_disks
            if copy.is_loaded and copy.broker in state.replicas and copy.broker in registered
        ]
        highest = max([*(copy.epoch for copy in on_disks), later_epochs.get(key, -1)])
        if able and (key in losing or highest > state.leader_epoch):
            epoch = max(highest, state.leader_epoch) + 1
            elections.append(
                Election(
                    topic=assignment.topic,
                    key=key,
                    copy=newest_of(able),
                    leader_epoch=epoch,
                    before=state,
                )
            )
    return sorted(elections, key=lambda election: (election.topic, election.key[1]))


def _after_elections(
    assigned: Mapping[PartitionKey, Assignment], elections: Iterable[Election]
) -> dict[PartitionKey, Assignment]:
    elected = {election.key: election.state for election in elections}
    return {
        key: assignment._replace(state=elected.get(key, assignment.state))
        for key, assignment in assigned.items()
    }


def _partition_record_version(metadata_version: int) -> int:
    return (metadata_version >= _DIRECTORY_LEVEL) + (metadata_version >= _ELR_LEVEL)


def _partition_record(election: Election) -> dict[str, object]:
    """Return the fields of the PartitionRecord of an election, which replaces the partition.

    A PartitionChangeRecord would raise the leader epoch by one only.
    """
    topic_id, number = election.key
    state = election.state
    return partition_data(topic_id, number, state) | {
        "topicId": topic_id,
        "directories": state.directories,
        "leaderRecoveryState": state.leader_recovery_state,
        "eligibleLeaderReplicas": None,  # as a controller writes an empty ELR
        "lastKnownElr": None,
    }
