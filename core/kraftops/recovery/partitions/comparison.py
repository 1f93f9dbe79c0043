"""Copies of partitions on several disks: which is newest, and what each broker alone has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kraftops.findings.finding import Finding, worst_first
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.recovery.log_copy import partition_folder, read_log
from kraftops.recovery.node_copies import LogSource
from kraftops.recovery.partitions.content import ContentDifference, first_difference
from kraftops.recovery.partitions.copies import (
    PartitionCopy,
    common_end,
    newest_by_broker,
    newest_of,
)
from kraftops.recovery.partitions.disk import read_disks
from kraftops.recovery.partitions.losses import (
    UNKNOWN_LEADERS,
    LossTotal,
    PartitionLoss,
    assignments,
    copies_to_be_led,
    losses,
    lost_if_gone,
    total_of,
)
from kraftops.recovery.partitions.start_order import best_copies, replacement, start_order
from kraftops.recovery.refusal import RecoveryRefused

_ELR_FEATURE = "eligible.leader.replicas.version"


@dataclass(frozen=True, slots=True)
class ComparedCopy:
    """A copy of a partition, the newest copy, and the offset where its epochs part from that.

    *is_compared* tells whether checksums of batches before that offset were compared, and
    *difference* where these are not those of the newest copy.
    """

    copy: PartitionCopy
    newest: PartitionCopy
    equal_up_to: int
    is_compared: bool = False
    difference: ContentDifference | None = None

    @property
    def content(self) -> str:
        """What was compared, in a word."""
        if self.copy is self.newest:
            return "newest"
        same = "same" if self.is_compared else "not compared"
        return f"differs at {self.difference.offset}" if self.difference else same

    @property
    def is_newest(self) -> bool:
        """Whether no copy has a later epoch, or more records of it."""
        return self.copy.rank == self.newest.rank

    @property
    def lacking(self) -> int:
        """How many offsets of the newest copy it lacks."""
        return self.newest.end - self.equal_up_to

    @property
    def own(self) -> int:
        """How many offsets it has that the newest copy lacks."""
        return self.copy.end - self.equal_up_to


@dataclass(frozen=True, slots=True)
class ComparedBroker:
    """A broker: how many copies it has, and what is lost if it is gone for good.

    *newest_alone* counts the partitions whose newest copy it alone has, *gone* are the records
    that are nowhere else.
    """

    broker: int
    copies: int
    newest_alone: int
    gone: LossTotal


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compared copies by partition and broker, and brokers in the order in which to start them.

    Without *has_order* none keeps all records: the best copies must replace others before.
    *losses* are what a start with the metadata log *metadata_log* would cut, if one was given, and
    *findings* what a start of the brokers takes from their copies.
    """

    copies: tuple[ComparedCopy, ...]
    brokers: tuple[ComparedBroker, ...]
    metadata_log: str | None = None
    losses: Sequence[PartitionLoss] = ()
    findings: Sequence[Finding] = ()
    has_order: bool = True

    @property
    def loss_total(self) -> LossTotal:
        """The numbers of the losses; unknown without a metadata log."""
        return total_of(self.losses) if self.metadata_log else UNKNOWN_LEADERS

    @property
    def replacements(self) -> list[str]:
        """The copies that must be replaced before the brokers start in any order."""
        if self.has_order:
            return []
        return [
            replacement(copy, leaders)
            for copy, leaders in best_copies(self.losses)
            if copy.name not in self.of_other_content
        ]

    @property
    def differing(self) -> list[ComparedCopy]:
        """The copies of the partitions whose copies are not all equal."""
        newest = {
            copy.newest for copy in self.copies if copy.lacking or copy.own or copy.difference
        }
        return [copy for copy in self.copies if copy.newest in newest]

    @property
    def equal_count(self) -> int:
        """The number of the other copies."""
        return len(self.copies) - len(self.differing)

    @property
    def is_safe(self) -> bool:
        """Whether a start loses nothing, whoever leads."""
        is_equal = not (self.losses if self.metadata_log else self.differing)
        is_sound = not any(finding.is_severe for finding in self.findings)
        return is_equal and is_sound and not self.of_other_content

    @property
    def of_other_content(self) -> set[str]:
        """The names of partitions of which copies have other records at the same offsets."""
        return {copy.copy.name for copy in self.copies if copy.difference}


def compare(copies: Iterable[PartitionCopy], *, is_deep: bool = False) -> Comparison:
    """Compare the copies of each partition; a broker's older copy in another directory is left out.

    A broker that alone has the newest copy of a partition should start before the others: the
    brokers are ordered by the number of such partitions.
    """
    by_partition: dict[tuple[str, int, bytes], list[PartitionCopy]] = {}
    for copy in copies:
        key = (copy.topic, copy.number, copy.topic_id or b"")
        by_partition.setdefault(key, []).append(copy)
    partitions = [newest_by_broker(by_partition[key]) for key in sorted(by_partition)]
    compared = [
        _compared(copy, newest_of(partition.values()), is_deep=is_deep)
        for partition in partitions
        for _, copy in sorted(partition.items())
    ]
    ids = sorted({copy.copy.broker for copy in compared})
    brokers = [_broker(broker, partitions, compared) for broker in ids]
    brokers.sort(key=lambda broker: (-broker.newest_alone, broker.broker))
    return Comparison(tuple(compared), tuple(brokers))


def _compared(copy: PartitionCopy, newest: PartitionCopy, *, is_deep: bool) -> ComparedCopy:
    end = common_end(copy, newest)
    if copy is newest:
        return ComparedCopy(copy, newest, end)
    return ComparedCopy(copy, newest, end, *first_difference(copy, newest, end, is_deep=is_deep))


def _broker(
    broker: int,
    partitions: Sequence[dict[int, PartitionCopy]],
    compared: Sequence[ComparedCopy],
) -> ComparedBroker:
    gone = [lost_if_gone(partition, broker) for partition in partitions if broker in partition]
    own = [copy for copy in compared if copy.copy.broker == broker]
    return ComparedBroker(
        broker,
        len(own),
        sum(_is_alone(partition, broker) for partition in partitions),
        total_of([loss for loss in gone if loss.offsets]),
    )


def _is_alone(partition: dict[int, PartitionCopy], broker: int) -> bool:
    """Tell whether a broker alone has the newest copy of a partition that others have too."""
    copy = partition.get(broker)
    others = [other.rank for other in partition.values() if other.broker != broker]
    return copy is not None and bool(others) and copy.rank > max(others)


def compare_disks(sources: Sequence[LogSource], *, is_deep: bool = False) -> Comparison:
    """Compare the copies on disks, and those that a start by the newest metadata log makes anew.

    With *is_deep* all headers of batches are compared.

    Raises:
        RecoveryRefused: a directory does not exist.
        RecoveryRefused: one is of another cluster, or none has a copy of a partition.
        KraftopsError: a metadata log cannot be read.
    """
    logs = [
        read_log(source.name, partition_folder(source.folder, is_packed=source.is_packed))
        for source in sources
    ]
    disks = read_disks(sources)
    clusters = {disk.cluster_id: disk.name for disk in disks if disk.cluster_id}
    if len(clusters) > 1:
        names = ", ".join(f"{name} of {cluster}" for cluster, name in sorted(clusters.items()))
        raise RecoveryRefused("other-cluster", f"the disks are of several clusters: {names}")
    if not any(disk.copies for disk in disks):
        hint = "name log directories of brokers, with their meta.properties"
        raise RecoveryRefused("no-partitions", "none of the disks has a copy of a partition", hint)
    sound = [log for log in logs if not log.is_empty and not log.damage]
    newest = max(sound, key=lambda log: log.rank, default=None)
    image = load([newest.folder]) if newest else MetadataImage()
    assigned = assignments(image)
    led = copies_to_be_led(assigned, disks)
    table, lost = compare(led, is_deep=is_deep), losses(assigned, led)
    has_elr = image.features.get(_ELR_FEATURE, (0,))[0] > 0
    order = start_order([broker.broker for broker in table.brokers], lost, has_elr=has_elr)
    ranks = {broker: rank for rank, broker in enumerate(order or ())}
    return replace(
        table,
        brokers=tuple(sorted(table.brokers, key=lambda broker: ranks.get(broker.broker, 0))),
        has_order=order is not None,
        metadata_log=newest.name if newest else None,
        losses=lost,
        findings=worst_first([finding for disk in disks for finding in disk.findings]),
    )
