"""Plans: the replica lists that partitions get, so that brokers are emptied or loads are even."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.placement.placement import Placement, Replicas, TopicPartition
from kraftops.placement.spread import Spread


class Move(NamedTuple):
    """The change of a partition's replica list."""

    partition: TopicPartition
    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def added(self) -> tuple[int, ...]:
        """The brokers that get a replica."""
        return tuple(each for each in self.after if each not in self.before)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a plan: the brokers that take replicas (None: all), and topics that stay."""

    to: frozenset[int] | None = None
    excluded_topics: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """Moves by topic and partition in order, and partitions for which there is no broker."""

    moves: list[Move]
    stuck: list[TopicPartition]


def plan_removal(placement: Placement, leaving: Collection[int], limits: Limits) -> Plan:
    """Plan to move all replicas away from brokers, and no others.

    Partitions with a reassignment in flight are left out, and so are those of excluded topics.
    """
    gone = frozenset(leaving)
    allowed = takers(placement, gone, limits)
    spread = _spread(placement, allowed)
    slots, stuck = [], []
    for partition, found in _free(placement, limits):
        lost = [at for at, broker in enumerate(found.target) if broker in gone]
        if len(allowed.difference(found.target)) < len(lost):
            stuck.append(partition)
        else:
            slots += [(partition, at) for at in lost]
    for slot in slots:
        spread.replace(slot)
    spread.even_out(slots)
    spread.choose_leaders(partition for partition, at in slots if at == 0)
    return Plan(_moves(placement, spread, {partition for partition, _ in slots}), stuck)


def plan_balance(placement: Placement, limits: Limits) -> Plan:
    """Plan to give all brokers that take replicas as many, by as few moves as possible."""
    allowed = takers(placement, (), limits)
    spread = _spread(placement, allowed)
    spread.even_out(
        (partition, position)
        for partition, found in _free(placement, limits)
        for position, broker in enumerate(found.target)
        if broker in allowed
    )
    changed = {
        partition
        for partition, found in placement.partitions.items()
        if tuple(spread.lists[partition]) != found.target
    }
    spread.choose_leaders(changed)
    return Plan(_moves(placement, spread, changed), [])


def takers(placement: Placement, leaving: Collection[int], limits: Limits) -> frozenset[int]:
    """Return the brokers that take replicas."""
    return frozenset(
        broker
        for broker, place in placement.brokers.items()
        if place.takes_replicas
        and broker not in leaving
        and (limits.to is None or broker in limits.to)
    )


def fewer_racks(placement: Placement, moves: Iterable[Move]) -> list[TopicPartition]:
    """Return the partitions that are in fewer racks after their move."""
    racks = {broker: place.rack for broker, place in placement.brokers.items()}
    return [
        move.partition
        for move in moves
        if len({racks.get(each) for each in move.after})
        < len({racks.get(each) for each in move.before})
    ]


def counts_after(placement: Placement, moves: Iterable[Move]) -> Counter[int]:
    """Return the number of replicas by broker after moves."""
    counts = placement.replica_counts()
    for move in moves:
        counts.subtract(move.before)
        counts.update(move.after)
    return counts


def _spread(placement: Placement, allowed: Iterable[int]) -> Spread:
    lists = {partition: found.target for partition, found in placement.partitions.items()}
    return Spread(placement.brokers, allowed, lists)


def _free(placement: Placement, limits: Limits) -> Iterable[tuple[TopicPartition, Replicas]]:
    """Return the partitions that may be moved now."""
    return (
        (partition, found)
        for partition, found in placement.partitions.items()
        if not found.is_moving and partition.topic not in limits.excluded_topics
    )


def _moves(
    placement: Placement, spread: Spread, partitions: Collection[TopicPartition]
) -> list[Move]:
    return [
        Move(partition, placement.partitions[partition].target, tuple(spread.lists[partition]))
        for partition in sorted(partitions)
    ]
