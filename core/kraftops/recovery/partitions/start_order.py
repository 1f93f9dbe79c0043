"""The order in which brokers start: the best copy of a partition leads before a worse one can."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kraftops.display.sizes import named
from kraftops.recovery.partitions.copies import PartitionCopy, newest_of
from kraftops.recovery.partitions.losses import PartitionLoss

NO_ORDER = "No order of starts keeps all records: while these brokers are stopped"


def start_order(
    brokers: Sequence[int], losses: Iterable[PartitionLoss], *, has_elr: bool
) -> list[int] | None:
    """Return brokers in an order that keeps all records; None if none does for certain.

    Args:
        brokers: in the order to keep where nothing else decides.
        losses: what a start in a wrong order cuts.
        has_elr: whether the cluster has eligible leader replicas (KIP-966).
    """
    before: dict[int, set[int]] = defaultdict(set)
    for best, leaders in best_copies(losses):
        # As one that was killed registers, the controller takes it out of ISR and ELR, and only the
        # last leader is elected (`ReplicationControlManager.handleUncleanBrokerShutdown`; 4.3.1).
        may_lead = best.is_loaded and best.broker in leaders
        if not may_lead or (has_elr and not best.was_clean):
            return None
        for leader in leaders:
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
    """Return how the best copy leads whoever starts first; a refused one serves nobody."""
    if not best.is_loaded:
        return (
            f"mend the copy of {best.name} on broker {best.broker}, which has the newest records "
            "and which a start refuses; do not move it away, and compare again"
        )
    others = [leader for leader in sorted(leaders) if leader != best.broker]
    return f"copy {best.name} of broker {best.broker} over that of {named('broker', others)}"
