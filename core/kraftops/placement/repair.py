"""Repair: partitions whose replicas are gone for good, and what is left of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from kraftops.placement.metadata_facts import Leadership
from kraftops.placement.placement import Placement, TopicPartition
from kraftops.placement.plan import Limits, Plan, plan_removal

if TYPE_CHECKING:
    from kraftops.recovery.partitions.comparison import ComparedCopy


class Leaderless(NamedTuple):
    """A partition without a leader.

    *last_in_sync* have all records that were acknowledged: the ISR, or eligible leaders; else the
    last leader. *live* replicas are not among them, and lack records; *at_stake* is how many, if
    that is known.
    """

    partition: TopicPartition
    last_in_sync: tuple[int, ...]
    live: tuple[int, ...]
    at_stake: int | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """The *plan* to replace lost replicas of partitions with a leader, and the *leaderless*."""

    plan: Plan
    leaderless: list[Leaderless]


def plan_repair(
    placement: Placement,
    lost: Mapping[int, Collection[TopicPartition]],
    limits: Limits,
    leaderships: Mapping[TopicPartition, Leadership],
    copies: Iterable[ComparedCopy] = (),
) -> Repair:
    """Plan to replace the *lost* replicas of partitions by broker; *copies* are those on disks."""
    leaderless, able = [], set()
    for partition in sorted({name for partitions in lost.values() for name in partitions}):
        replicas = placement.partitions.get(partition)
        if replicas is None:
            continue  # deleted meanwhile
        if replicas.leader >= 0:
            able.add(partition)
            continue
        logged = leaderships.get(partition, Leadership())
        last = replicas.isr or logged.eligible or logged.last_leader
        live = tuple(
            broker
            for broker in replicas.target
            if placement.is_running(broker)
            and partition not in lost.get(broker, ())
            and broker not in last
        )
        own = {
            compared.copy.broker: compared
            for compared in copies
            if compared.copy.name == str(partition)
        }
        leaderless.append(Leaderless(partition, last, live, _records_at_stake(own, last, live)))
    plan = plan_removal(placement, lost.keys(), replace(limits, partitions=frozenset(able)))
    return Repair(plan, leaderless)


def _records_at_stake(
    copies: Mapping[int, ComparedCopy], last: Collection[int], live: Collection[int]
) -> int | None:
    """Count the records that the new leader may lack; None if disks do not tell.

    Kafka elects any of the live ones (`PartitionChangeBuilder.electAnyLeader`): the worst
    counts. Without the disk of a broker that had all records, others may have been acknowledged.
    """
    needed = [copies[broker] for broker in live if broker in copies]
    is_whole = live and len(needed) == len(live) and not copies.keys().isdisjoint(last)
    if not is_whole or not all(compared.copy.is_end_exact for compared in copies.values()):
        return None
    return max(compared.lacking for compared in needed)
