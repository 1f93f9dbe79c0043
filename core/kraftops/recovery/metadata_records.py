"""Records of the metadata that a recovery writes behind the voters: elections and producer ids.

Counters that a lost tail of the log had moved are raised: what was handed out is not handed out
again. Leader epochs are by elections. Broker epochs are offsets of registrations; each broker gets
a new one when it starts, and none outlives its process but in the file of a clean stop, where it
only makes the stop count as unclean (`ClusterControlManager.registerBroker`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kraftops.image.state.findings import OPEN_TRANSACTION
from kraftops.image.state.image import MetadataImage
from kraftops.recovery.missing_state import ComparedLog, next_producer_id
from kraftops.recovery.partitions.comparison import ComparedBroker, compare
from kraftops.recovery.partitions.copies import PartitionCopy
from kraftops.recovery.partitions.election import (
    Election,
    after_elections,
    newest_elections,
    partition_record,
    partition_record_version,
)
from kraftops.recovery.partitions.losses import (
    PartitionKey,
    PartitionLoss,
    assignments,
    losses,
)
from kraftops.storage.bootstrap.records import MetadataRecord

_BLOCK = 1000  # ids of a `ProducerIdsBlock`
_BLOCKS_OF_BROKER = 2  # one in use, and the next, which `RPCProducerIdManager` fetches ahead


@dataclass(frozen=True, slots=True)
class PartitionPlan:
    """What a recovery does to partitions and producer ids.

    Attributes:
        brokers: the brokers whose copies were read, in the order in which they should start.
        losses: what would be cut after it.
        elections: the elections that keep the most.
        is_elected: whether they are written.
        producer_ids: the next producer id, and the raised one; equal where it stays.
        records: the records to write.
    """

    brokers: tuple[ComparedBroker, ...]
    losses: tuple[PartitionLoss, ...]
    elections: tuple[Election, ...]
    is_elected: bool
    producer_ids: tuple[int, int]
    records: tuple[MetadataRecord, ...]

    @property
    def first_brokers(self) -> list[ComparedBroker]:
        """The brokers to start before the others: each alone has newest copies of partitions."""
        return [broker for broker in self.brokers if broker.newest_alone]


def plan_partitions(
    image: MetadataImage,
    logs: Iterable[ComparedLog],
    copies: Sequence[PartitionCopy],
    *,
    elects_newest: bool,
) -> PartitionPlan:
    """Return what a recovery to an image does to the partitions on disks.

    Raises:
        KraftopsError: a source of an image cannot be read any more.
    """
    others = [log.image for log in logs if log.image]
    assigned = assignments(image)
    elections = newest_elections(assigned, copies, image.brokers, _later_epochs(others))
    elected = elections if elects_newest else []
    before = next_producer_id(image)
    after = _raised(before, others, copies, len(image.brokers))
    version = partition_record_version(image.metadata_version[0] if image.metadata_version else 0)
    records = [
        MetadataRecord("PartitionRecord", partition_record(election), version)
        for election in elected
    ]
    if after > before:
        fields = {"brokerId": -1, "brokerEpoch": -1, "nextProducerId": after}
        records.append(MetadataRecord("ProducerIdsRecord", fields))
    if records and any(finding.code == OPEN_TRANSACTION for finding in image.log_findings):
        # The next leader aborts what an open transaction holds, and these records with it.
        records.insert(0, MetadataRecord("AbortTransactionRecord", {"reason": "recovery"}))
    return PartitionPlan(
        brokers=compare(copies).brokers,
        losses=tuple(losses(after_elections(assigned, elected), copies)),
        elections=tuple(elections),
        is_elected=elects_newest,
        producer_ids=(before, after),
        records=tuple(records),
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
