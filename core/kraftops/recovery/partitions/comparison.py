"""Copies of partitions on several disks: which is newest, and what each broker alone has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kraftops.recovery.partitions.copies import (
    PartitionCopy,
    common_end,
    newest_by_broker,
    newest_of,
    proven_high_watermark,
)
from kraftops.recovery.partitions.losses import LossTotal, PartitionLoss, lost_if_gone, total_of


@dataclass(frozen=True, slots=True)
class ComparedCopy:
    """A copy of a partition, the newest copy, and the offset where it parts from that."""

    copy: PartitionCopy
    newest: PartitionCopy
    equal_up_to: int

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
    places: tuple[str, ...]
    copies: int
    newest_alone: int
    gone: LossTotal


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compared copies by partition and broker, and brokers in the order in which to start them."""

    copies: tuple[ComparedCopy, ...]
    brokers: tuple[ComparedBroker, ...]


def compare(copies: Iterable[PartitionCopy]) -> Comparison:
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
        ComparedCopy(copy, newest := newest_of(partition.values()), common_end(copy, newest))
        for partition in partitions
        for _, copy in sorted(partition.items())
    ]
    ids = sorted({copy.copy.broker for copy in compared})
    brokers = [_broker(broker, partitions, compared) for broker in ids]
    brokers.sort(key=lambda broker: (-broker.newest_alone, broker.broker))
    return Comparison(tuple(compared), tuple(brokers))


def _broker(
    broker: int,
    partitions: Sequence[dict[int, PartitionCopy]],
    compared: Sequence[ComparedCopy],
) -> ComparedBroker:
    gone = [_gone(partition, broker) for partition in partitions if broker in partition]
    own = [copy for copy in compared if copy.copy.broker == broker]
    return ComparedBroker(
        broker,
        tuple(dict.fromkeys(copy.copy.place for copy in own)),
        len(own),
        sum(_is_alone(partition, broker) for partition in partitions),
        total_of([loss for loss in gone if loss.offsets]),
    )


def _is_alone(partition: dict[int, PartitionCopy], broker: int) -> bool:
    """Tell whether a broker alone has the newest copy of a partition that others have too."""
    copy = partition.get(broker)
    others = [other.rank for other in partition.values() if other.broker != broker]
    return copy is not None and bool(others) and copy.rank > max(others)


def _gone(partition: dict[int, PartitionCopy], broker: int) -> PartitionLoss:
    copy = partition[broker]
    offsets = lost_if_gone(partition.values(), broker)
    proven = proven_high_watermark(copy, partition.values())
    return PartitionLoss(
        copy=copy,
        offsets=offsets,
        acknowledged=max(0, min(proven, offsets.stop) - offsets.start),
        leader=broker,
        leaders=(broker,),
        also_on=(),
        is_certain=True,
    )
