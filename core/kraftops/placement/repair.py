"""Repair: partitions whose replicas are gone for good, and what can still be had of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops.placement.metadata_facts import Leadership
from kraftops.placement.placement import Placement, TopicPartition
from kraftops.placement.plan import Limits, Plan, plan_removal


class Leaderless(NamedTuple):
    """A partition without a leader.

    *last_in_sync* have all records that were acknowledged: the ISR, or eligible leaders; else the
    last leader. *live* replicas are not among them, and lack records, nobody knows how many.
    """

    partition: TopicPartition
    last_in_sync: tuple[int, ...]
    live: tuple[int, ...]


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
) -> Repair:
    """Plan to replace the *lost* replicas of partitions by broker."""
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
            if broker in placement.brokers
            and not placement.brokers[broker].is_fenced
            and partition not in lost.get(broker, ())
            and broker not in last
        )
        leaderless.append(Leaderless(partition, last, live))
    plan = plan_removal(placement, lost.keys(), replace(limits, partitions=frozenset(able)))
    return Repair(plan, leaderless)
