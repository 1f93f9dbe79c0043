"""Effects of a plan: replicas and bytes of brokers and directories before and after, and copies."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.placement.disks import Disks, Shortage, sizes_of, with_directories
from kraftops.placement.placement import BrokerPlace, Placement, TopicPartition
from kraftops.placement.plan import Move, counts_after, fewer_racks


class BrokerEffect(NamedTuple):
    """What a broker has before and after; bytes are None where no broker tells them."""

    broker: int
    place: BrokerPlace
    replicas: int
    replicas_after: int
    size: int | None
    size_after: int | None


class DirectoryEffect(NamedTuple):
    """The bytes of a log directory before and after, and the room on its volume before."""

    broker: int
    path: str
    size: int
    size_after: int
    usable: int | None


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects of *moves*, which name directories where Kafka's choice would have too little room.

    *copied_by_generate* are the bytes that a plan of `kafka-reassign-partitions --generate` for
    these topics and the same brokers would copy on average.
    """

    moves: Sequence[Move]
    brokers: list[BrokerEffect]
    directories: list[DirectoryEffect]
    shortages: list[Shortage]
    fewer_racks: list[TopicPartition]
    copied_replicas: int
    copied: int | None
    copied_by_generate: int | None


def effects_of(placement: Placement, moves: Sequence[Move], disks: Disks) -> Effects:
    """Count what a plan changes; numbers of bytes are missing where *disks* cannot be seen."""
    sizes = sizes_of(disks)
    placed = with_directories(moves, disks, sizes)
    counts, counts_then = placement.replica_counts(), counts_after(placement, moves)
    loads = Counter[int]()
    for partition, replicas in placement.partitions.items():
        loads.update(dict.fromkeys(replicas.target, sizes.get(partition, 0)))
    loads_then = Counter(loads)
    for move in moves:
        loads_then.subtract(dict.fromkeys(move.before, sizes.get(move.partition, 0)))
        loads_then.update(dict.fromkeys(move.after, sizes.get(move.partition, 0)))
    brokers = [
        BrokerEffect(
            broker=broker,
            place=place,
            replicas=counts[broker],
            replicas_after=counts_then[broker],
            size=loads[broker] if disks else None,
            size_after=loads_then[broker] if disks else None,
        )
        for broker, place in placement.brokers.items()
    ]
    copied = sum(len(move.added) * sizes.get(move.partition, 0) for move in moves)
    by_generate = _copied_by_generate(placement, moves, counts_then, sizes)
    return Effects(
        moves=placed.moves,
        brokers=brokers,
        directories=_directories(moves, disks, placed.arrivals, sizes),
        shortages=placed.shortages,
        fewer_racks=fewer_racks(placement, moves),
        copied_replicas=sum(len(move.added) for move in moves),
        copied=copied if disks else None,
        copied_by_generate=by_generate if disks else None,
    )


def _directories(
    moves: Sequence[Move],
    disks: Disks,
    arrivals: Mapping[tuple[int, str], Sequence[TopicPartition]],
    sizes: Mapping[TopicPartition, int],
) -> list[DirectoryEffect]:
    leaving = {
        (broker, move.partition)
        for move in moves
        for broker in move.before
        if broker not in move.after
    }
    effects = []
    for broker, directories in sorted(disks.items()):
        for directory in directories:
            if directory.is_failed:
                continue
            freed = sum(
                replica.size
                for partition, replica in directory.replicas.items()
                if (broker, partition) in leaving
            )
            coming = arrivals.get((broker, directory.path), ())
            size_after = directory.size - freed + sum(sizes.get(name, 0) for name in coming)
            effects.append(
                DirectoryEffect(
                    broker=broker,
                    path=directory.path,
                    size=directory.size,
                    size_after=size_after,
                    usable=directory.usable,
                )
            )
    return effects


def _copied_by_generate(
    placement: Placement,
    moves: Sequence[Move],
    counts_then: Mapping[int, int],
    sizes: Mapping[TopicPartition, int],
) -> int:
    """Estimate the bytes that `--generate` would copy on average, to compare with.

    It assigns all partitions of the topics again, from a random broker on (AdminUtils): a broker of
    *n* gets one of *r* replicas with the probability r/n, whether it has one by now or not.
    """
    brokers = {broker for broker, count in counts_then.items() if count > 0}
    topics = {move.partition.topic for move in moves}
    copied = 0.0
    for partition, replicas in placement.partitions.items():
        if partition.topic in topics and brokers:
            count = min(len(replicas.target), len(brokers))
            kept = len(brokers.intersection(replicas.target)) * count / len(brokers)
            copied += sizes.get(partition, 0) * (count - kept)
    return round(copied)
