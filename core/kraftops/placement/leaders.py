"""Leaders: replica lists in another order, so that brokers lead nothing, or lead again."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from kraftops.placement.placement import Placement, Replicas, TopicPartition
from kraftops.placement.plan import Move


class DrainPlan(NamedTuple):
    """New orders of replica lists, and the led partitions that no other broker can lead."""

    moves: list[Move]
    stay: list[TopicPartition]


class RestorePlan(NamedTuple):
    """Former orders of replica lists, and partitions that have other replicas by now."""

    moves: list[Move]
    changed: list[TopicPartition]


def plan_drain(placement: Placement, draining: Collection[int]) -> DrainPlan:
    """Plan to have brokers lead nothing: they come last in the lists, whose sets stay.

    The first of a list is then in sync, on an unfenced broker, and leads as few as possible.
    """
    gone = frozenset(draining)
    leaders = Counter(placement.leader_counts())
    moves, stay = [], []
    for partition, replicas in placement.partitions.items():
        if replicas.leader not in gone and replicas.replicas[0] not in gone:
            continue
        fit = [broker for broker in _able(placement, replicas) if broker not in gone]
        if not fit or replicas.is_moving:
            if replicas.leader in gone:
                stay.append(partition)
            continue
        first = min(fit, key=lambda broker: (leaders[broker], replicas.replicas.index(broker)))
        leaders[replicas.replicas[0]] -= 1
        leaders[first] += 1
        rest = [broker for broker in replicas.replicas if broker != first and broker not in gone]
        last = [broker for broker in replicas.replicas if broker in gone]
        moves.append(Move(partition, replicas.replicas, (first, *rest, *last)))
    return DrainPlan(moves, stay)


def plan_restore(placement: Placement, planned: Mapping[TopicPartition, Move]) -> RestorePlan:
    """Plan to give replica lists the order that a saved plan found."""
    moves, changed = [], []
    for partition, saved in sorted(planned.items()):
        replicas = placement.partitions.get(partition)
        order = saved.before or saved.after
        if replicas is None or replicas.is_moving or {*replicas.replicas} != {*order}:
            changed.append(partition)
        else:
            moves.append(Move(partition, replicas.replicas, order))
    return RestorePlan(moves, changed)


def preferred(placement: Placement, broker: int) -> tuple[TopicPartition, ...]:
    """List partitions that a broker is first in; those with one replica cannot be led elsewhere."""
    return tuple(
        partition
        for partition, replicas in placement.partitions.items()
        if replicas.replicas[0] == broker and len(replicas.replicas) > 1
    )


def moves_away(placement: Placement, stopping: Collection[int]) -> list[Move]:
    """Rotate lists, so that others lead what these brokers lead now or prefer to.

    A list that is rotated until a broker is first again is in its old order, so that it is
    enough to keep which partitions it was to lead. A list that another broker is first in stays:
    an election is enough.
    """
    return [
        Move(
            move.partition,
            move.before,
            _rotated(move.before, move.after[0]) if move.before[0] in stopping else move.before,
        )
        for move in plan_drain(placement, stopping).moves
    ]


def moves_back(placement: Placement, broker: int, leads: Iterable[TopicPartition]) -> list[Move]:
    """Rotate lists, so that a broker leads again, unless replicas have changed in the meantime."""
    return [
        Move(partition, replicas.replicas, _rotated(replicas.replicas, broker))
        for partition in leads
        if (replicas := placement.partitions.get(partition)) is not None
        and broker in replicas.replicas
        and not replicas.is_moving
    ]


def _rotated(replicas: tuple[int, ...], first: int) -> tuple[int, ...]:
    index = replicas.index(first)
    return replicas[index:] + replicas[:index]


def misled(placement: Placement, partitions: Collection[TopicPartition]) -> list[TopicPartition]:
    """List partitions that their preferred leader could lead, but another replica does."""
    others_lead = []
    for partition in partitions:
        replicas = placement.partitions.get(partition)
        if replicas is None or replicas.target[0] == replicas.leader:
            continue
        if replicas.target[0] in _able(placement, replicas):
            others_lead.append(partition)
    return others_lead


def _able(placement: Placement, replicas: Replicas) -> list[int]:
    """List replicas that an election may choose: in sync, on unfenced brokers."""
    return [
        broker
        for broker in replicas.target
        if broker in replicas.isr and placement.is_running(broker)
    ]
