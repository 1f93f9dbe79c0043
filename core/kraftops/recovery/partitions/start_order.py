"""The order in which brokers start: the best copy of a partition leads before a worse one can."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kraftops.display.sizes import named
from kraftops.recovery.partitions.copies import PartitionCopy, newest_of
from kraftops.recovery.partitions.losses import PartitionLoss

NO_ORDER = "No order of starts keeps all records: while these brokers are stopped"


def start_order(brokers: Sequence[int], losses: Iterable[PartitionLoss]) -> list[int] | None:
    """Return brokers in an order that keeps all records, else as they are; None if none does."""
    before: dict[int, set[int]] = defaultdict(set)
    for best, leaders in best_copies(losses):
        for leader in leaders if best.broker in leaders else ():
            before[leader] |= {best.broker} - {leader}
    order, waiting = list[int](), list(brokers)
    while waiting:
        ready = next((broker for broker in waiting if before[broker].isdisjoint(waiting)), None)
        if ready is None:
            return None
        waiting.remove(ready)
        order.append(ready)
    return order


def best_copies(losses: Iterable[PartitionLoss]) -> list[tuple[PartitionCopy, tuple[int, ...]]]:
    """Return the best of the copies that would be cut, by partition, and who may lead it."""
    by_partition: dict[str, list[PartitionLoss]] = defaultdict(list)
    for loss in losses:
        by_partition[loss.copy.name].append(loss)
    return [
        (newest_of([loss.copy for loss in lost], leaders := lost[0].leaders), leaders)
        for lost in by_partition.values()
    ]


def replacement(best: PartitionCopy, leaders: Iterable[int]) -> str:
    """Return how the best copy leads whoever starts first."""
    others = [leader for leader in leaders if leader != best.broker]
    return f"copy {best.name} of broker {best.broker} over that of {named('broker', others)}"
