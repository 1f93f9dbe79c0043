"""Leaders away from brokers that restart, and back: replica lists are rotated.

A list that is rotated until a broker is first again has the order of before. So it is enough to
keep which partitions the broker was to lead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kraftops.placement.leaders import plan_drain
from kraftops.placement.placement import Placement, TopicPartition
from kraftops.placement.plan import Move


def preferred(placement: Placement, broker: int) -> tuple[TopicPartition, ...]:
    """Return the partitions whose preferred leader is a broker; those with one replica stay."""
    return tuple(
        partition
        for partition, replicas in placement.partitions.items()
        if replicas.replicas[0] == broker and len(replicas.replicas) > 1
    )


def moves_away(placement: Placement, stopping: Collection[int]) -> list[Move]:
    """Return the lists to rotate, so that others lead what these brokers lead now or prefer to.

    A list that another broker is first in stays: an election is enough.
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
    """Return the lists to rotate, so that a broker leads again; others have changed meanwhile."""
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
