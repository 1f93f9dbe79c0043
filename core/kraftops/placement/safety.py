"""Safety of a stop: the partitions that a stop of brokers takes under min ISR, or offline."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from kraftops.placement.placement import Placement, Replicas, TopicPartition

ASSUMED_MIN_ISR = 1
"""Kafka's default of `min.insync.replicas`."""


class MinIsr(NamedTuple):
    """The `min.insync.replicas` of a topic; *is_assumed* if no server tells it."""

    value: int
    is_assumed: bool = False


class Danger(NamedTuple):
    """A partition that a stop takes offline, or under its min ISR; *left* stay in sync."""

    partition: TopicPartition
    left: tuple[int, ...]
    min_isr: MinIsr
    is_single_replica: bool = False

    @property
    def is_offline(self) -> bool:
        """Whether no replica stays in sync."""
        return not self.left


def dangers(
    placement: Placement, stopping: Collection[int], min_isr: Mapping[str, MinIsr]
) -> list[Danger]:
    """Find partitions that fall under their min ISR, or go offline, if these brokers all stop.

    Partitions that have none of the brokers in sync are not changed by the stop. A partition
    with fewer replicas than its min ISR needs all of them.
    """
    gone = frozenset(stopping)
    return [
        danger
        for partition, replicas in placement.partitions.items()
        if not gone.isdisjoint(replicas.isr)
        and (danger := _danger(partition, replicas, gone, min_isr))
    ]


def new_dangers(
    placement: Placement, stopping: Collection[int], min_isr: Mapping[str, MinIsr]
) -> list[Danger]:
    """Find the dangers that a stop adds to those that are there now.

    A partition without a leader is offline already: its ISR has the last replica in sync, which is
    down (`PartitionChangeBuilder` keeps it). Brokers that are fenced are down, too.
    """
    running = {broker for broker in stopping if not _is_fenced(placement, broker)}
    return [
        danger
        for danger in dangers(placement, running, min_isr)
        if placement.partitions[danger.partition].leader >= 0
    ]


def new_dangers_by_broker(
    placement: Placement, min_isr: Mapping[str, MinIsr]
) -> dict[int, list[Danger]]:
    """Return `new_dangers` of a stop of each broker alone, in one pass over the partitions."""
    by_broker: dict[int, list[Danger]] = {broker: [] for broker in placement.brokers}
    for partition, replicas in placement.partitions.items():
        if replicas.leader < 0:
            continue
        for broker in replicas.isr:
            danger = _danger(partition, replicas, frozenset((broker,)), min_isr)
            if danger and broker in by_broker and not _is_fenced(placement, broker):
                by_broker[broker].append(danger)
    return by_broker


def _is_fenced(placement: Placement, broker: int) -> bool:
    place = placement.brokers.get(broker)
    return place is not None and place.is_fenced


def _danger(
    partition: TopicPartition,
    replicas: Replicas,
    gone: frozenset[int],
    min_isr: Mapping[str, MinIsr],
) -> Danger | None:
    still_in_sync = tuple(broker for broker in replicas.isr if broker not in gone)
    needed = min_isr.get(partition.topic, MinIsr(ASSUMED_MIN_ISR, is_assumed=True))
    if len(still_in_sync) >= max(min(needed.value, len(replicas.target)), 1):
        return None
    return Danger(partition, still_in_sync, needed, len(replicas.target) == 1)
