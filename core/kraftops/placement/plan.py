"""Plans: the replica lists that partitions get, so that brokers are emptied or loads are even."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftops.placement.placement import Placement, Replicas, TopicPartition
from kraftops.placement.spread import Spread

ANY = "any"
"""A directory that the broker chooses, in the words of kafka-reassign-partitions."""


class Move(NamedTuple):
    """The change of a partition's replica list.

    *directories* are those of the replicas *after*, a path or `any`; none for any of all.
    """

    partition: TopicPartition
    before: tuple[int, ...]
    after: tuple[int, ...]
    directories: tuple[str, ...] = ()

    @property
    def added(self) -> tuple[int, ...]:
        """The brokers that get a replica."""
        return tuple(broker for broker in self.after if broker not in self.before)

    def directory_on(self, broker: int) -> str:
        return self.directories[self.after.index(broker)] if self.directories else ANY


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a plan: the brokers that take replicas (None: all), and topics that stay.

    Where there are *partitions*, all others stay as well. *sizes* are the bytes of partitions, if
    they can be seen: loads are even in bytes first.
    """

    to: frozenset[int] | None = None
    excluded_topics: frozenset[str] = frozenset()
    partitions: frozenset[TopicPartition] | None = None
    sizes: Mapping[TopicPartition, int] = field(default_factory=dict)


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
    spread = _spread(placement, allowed, limits)
    slots, stuck = [], []
    for partition, replicas in _free(placement, limits):
        lost = [position for position, broker in enumerate(replicas.target) if broker in gone]
        if len(allowed.difference(replicas.target)) < len(lost):
            stuck.append(partition)
        else:
            slots += [(partition, position) for position in lost]
    for slot in sorted(slots, key=spread.largest_first):
        spread.replace(slot)
    spread.even_out(slots)
    spread.choose_leaders(partition for partition, position in slots if position == 0)
    return Plan(_moves(placement, spread, {partition for partition, _ in slots}), stuck)


def plan_balance(placement: Placement, limits: Limits) -> Plan:
    """Plan to give all brokers that take replicas as many bytes, then as many replicas.

    It moves as little as possible.
    """
    allowed = takers(placement, (), limits)
    spread = _spread(placement, allowed, limits)
    spread.even_out(
        (partition, position)
        for partition, replicas in _free(placement, limits)
        for position, broker in enumerate(replicas.target)
        if broker in allowed
    )
    changed = {
        partition
        for partition, replicas in placement.partitions.items()
        if tuple(spread.lists[partition]) != replicas.target
    }
    spread.choose_leaders(changed)
    return Plan(_moves(placement, spread, changed), [])


def plan_factor(
    placement: Placement, partitions: Iterable[TopicPartition], factor: int, limits: Limits
) -> Plan:
    """Plan to give partitions a number of replicas, and to move nothing else.

    A replica that goes is best one that is not in sync, and never that of the leader.
    """
    allowed = takers(placement, (), limits)
    spread = _spread(placement, allowed, limits)
    slots, stuck, changed = [], [], []
    for partition in sorted(partitions, key=lambda name: (-limits.sizes.get(name, 0), name)):
        replicas = placement.partitions[partition]
        missing = factor - len(replicas.target)
        if replicas.is_moving or not missing:
            continue
        if len(allowed.difference(replicas.target)) < missing:
            stuck.append(partition)
            continue
        changed.append(partition)
        slots += [spread.add(partition) for _ in range(missing)]
        for _ in range(-missing):
            spread.drop(partition, Counter((*replicas.isr, replicas.leader)))
    spread.even_out(slots)
    return Plan(_moves(placement, spread, changed), sorted(stuck))


def takers(placement: Placement, leaving: Collection[int], limits: Limits) -> frozenset[int]:
    return frozenset(
        broker
        for broker, place in placement.brokers.items()
        if place.takes_replicas
        and broker not in leaving
        and (limits.to is None or broker in limits.to)
    )


def fewer_racks(placement: Placement, moves: Iterable[Move]) -> list[TopicPartition]:
    racks = {broker: place.rack for broker, place in placement.brokers.items()}
    return [
        move.partition
        for move in moves
        if len({racks.get(broker) for broker in move.after})
        < len({racks.get(broker) for broker in move.before})
    ]


def counts_after(placement: Placement, moves: Iterable[Move]) -> Counter[int]:
    counts = placement.replica_counts()
    for move in moves:
        counts.subtract(move.before)
        counts.update(move.after)
    return counts


def _spread(placement: Placement, allowed: Iterable[int], limits: Limits) -> Spread:
    lists = {partition: replicas.target for partition, replicas in placement.partitions.items()}
    return Spread(placement.brokers, allowed, lists, limits.sizes)


def _free(placement: Placement, limits: Limits) -> Iterable[tuple[TopicPartition, Replicas]]:
    """Leave out partitions in flight and topics that limits exclude."""
    return (
        (partition, replicas)
        for partition, replicas in placement.partitions.items()
        if not replicas.is_moving
        and partition.topic not in limits.excluded_topics
        and (limits.partitions is None or partition in limits.partitions)
    )


def _moves(
    placement: Placement, spread: Spread, partitions: Collection[TopicPartition]
) -> list[Move]:
    return [
        Move(partition, placement.partitions[partition].target, tuple(spread.lists[partition]))
        for partition in sorted(partitions)
    ]
