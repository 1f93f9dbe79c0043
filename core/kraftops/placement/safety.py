"""Safety of a stop: the partitions that a stop of brokers takes under min ISR, or offline."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from kraftops.placement.placement import Placement, TopicPartition

ASSUMED_MIN_ISR = 1
"""Kafka's default of `min.insync.replicas`."""


class MinIsr(NamedTuple):
    """The `min.insync.replicas` of a topic; *is_assumed* if nobody told it."""

    value: int
    is_assumed: bool = False


class Danger(NamedTuple):
    """A partition that a stop takes offline, or under its min ISR; *left* stay in sync."""

    partition: TopicPartition
    left: tuple[int, ...]
    min_isr: MinIsr

    @property
    def is_offline(self) -> bool:
        """Whether nobody stays in sync."""
        return not self.left


def dangers(
    placement: Placement, stopping: Collection[int], min_isr: Mapping[str, MinIsr]
) -> list[Danger]:
    """Return the partitions for which stopping all these brokers at once is no longer safe.

    Partitions that have none of the brokers in sync are not changed by the stop. A partition
    with fewer replicas than its min ISR needs all of them.
    """
    gone = frozenset(stopping)
    found = []
    for partition, replicas in placement.partitions.items():
        if gone.isdisjoint(replicas.isr):
            continue
        left = tuple(each for each in replicas.isr if each not in gone)
        needed = min_isr.get(partition.topic, MinIsr(ASSUMED_MIN_ISR, is_assumed=True))
        if len(left) < max(min(needed.value, len(replicas.target)), 1):
            found.append(Danger(partition, left, needed))
    return found
