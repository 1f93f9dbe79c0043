"""Problems of partitions by their causes: what is offline or lacks replicas, and why."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from kraftops.placement.disks import Disks
from kraftops.placement.leaders import misled
from kraftops.placement.metadata_facts import LoggedChange, MetadataFacts
from kraftops.placement.placement import Placement, Replicas, TopicPartition
from kraftops.placement.safety import MinIsr


class Cause(StrEnum):
    """Why a partition is in a bad state; the worst come first."""

    BROKER_DOWN = "broker-down"
    DIRECTORY_FAILED = "directory-failed"
    CORDONED = "cordoned"
    FOLLOWER_BEHIND = "follower-behind"
    MIN_ISR = "min-isr-above-replicas"
    REASSIGNMENT = "reassignment"
    OTHER_LEADER = "other-leader"


class State(StrEnum):
    """The states of partitions, the worst first."""

    OFFLINE = "offline"
    UNDER_MIN_ISR = "under-min-isr"
    UNDER_REPLICATED = "under-replicated"
    MOVING = "moving"
    OTHER_LEADER = "other-leader"


HARMLESS = frozenset({Cause.REASSIGNMENT, Cause.OTHER_LEADER})
"""Causes that alone take no replica out of sync."""


class Affected(NamedTuple):
    """A partition with a problem; *behind* are the bytes that a replica has less than its leader.

    *change* is the last one of the partition in the metadata log.
    """

    partition: TopicPartition
    state: State
    replicas: Replicas
    behind: int | None = None
    is_catching_up: bool | None = None
    change: LoggedChange | None = None


class Problem(NamedTuple):
    """A cause, and all that it affects: *broker* and *directories* have failed, or lag."""

    cause: Cause
    broker: int | None
    directories: tuple[str, ...]
    affected: list[Affected]
    change: LoggedChange | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known beyond the placement: disks at two moments, and facts of the metadata log."""

    disks: Disks = field(default_factory=dict)
    disks_later: Disks = field(default_factory=dict)
    log: MetadataFacts = field(default_factory=MetadataFacts)


def find_problems(
    placement: Placement, min_isr: Mapping[str, MinIsr], evidence: Evidence
) -> list[Problem]:
    """Group unhealthy partitions by cause, and by broker where one is the cause."""
    affected: dict[tuple[Cause, int | None], list[Affected]] = defaultdict(list)
    for partition, replicas in placement.partitions.items():
        needed = min_isr[partition.topic].value if partition.topic in min_isr else 1
        state = _state_of(replicas, needed)
        change = evidence.log.partition_changes.get(partition)
        if needed > len(replicas.target):
            affected[Cause.MIN_ISR, None].append(
                Affected(partition, state or State.UNDER_MIN_ISR, replicas, change=change)
            )
        for cause, broker in _causes(placement, partition, replicas, evidence):
            lag, is_catching_up = None, None
            if cause is Cause.FOLLOWER_BEHIND:
                lag, is_catching_up = _lag(partition, replicas.leader, broker, evidence)
            affected[cause, broker].append(
                Affected(
                    partition=partition,
                    state=state or State.MOVING,
                    replicas=replicas,
                    behind=lag,
                    is_catching_up=is_catching_up,
                    change=change,
                )
            )
    for partition in misled(placement, placement.partitions):
        affected[Cause.OTHER_LEADER, None].append(
            Affected(partition, State.OTHER_LEADER, placement.partitions[partition])
        )
    order = [*Cause]
    return [
        Problem(
            cause=cause,
            broker=broker,
            directories=_failed_directories(cause, broker, evidence),
            affected=affected[cause, broker],
            change=_change(cause, broker, evidence),
        )
        for cause, broker in sorted(affected, key=lambda key: (order.index(key[0]), key[1] or 0))
    ]


def lost_replicas(placement: Placement, broker: int, evidence: Evidence) -> list[TopicPartition]:
    """List partitions whose replica went with a broker that is down, or a failed directory."""
    losses = (Cause.BROKER_DOWN, Cause.DIRECTORY_FAILED)
    return [
        partition
        for partition, _ in placement.on(frozenset({broker}))
        if _loss(placement, partition, broker, evidence) in losses
    ]


def _state_of(replicas: Replicas, needed: int) -> State | None:
    """Name the worst state, as Kafka's own metrics count it; None if all is well."""
    if replicas.leader < 0:
        return State.OFFLINE
    if len(replicas.isr) < needed:
        return State.UNDER_MIN_ISR
    # Replicas that a reassignment adds are not missing (Partition.isUnderReplicated, 4.3.1).
    stable = {*replicas.replicas} - {*replicas.adding}
    return State.UNDER_REPLICATED if not stable <= {*replicas.isr} else None


def _causes(
    placement: Placement, partition: TopicPartition, replicas: Replicas, evidence: Evidence
) -> Iterator[tuple[Cause, int | None]]:
    """Yield the causes for each replica that is not in sync, or of a partition that is offline."""
    is_offline = replicas.leader < 0
    is_explained = False
    for broker in replicas.replicas:
        if broker in replicas.isr and not is_offline:
            continue
        cause = _loss(placement, partition, broker, evidence)
        if cause is not None:
            is_explained |= broker in replicas.isr or not replicas.isr
            yield cause, broker
        elif broker in replicas.adding:
            yield Cause.REASSIGNMENT, None
        elif not is_offline:
            yield Cause.FOLLOWER_BEHIND, broker
    if is_offline and not is_explained:  # its last leader is back, and not elected yet
        for broker in replicas.isr:
            yield Cause.FOLLOWER_BEHIND, broker


def _loss(
    placement: Placement, partition: TopicPartition, broker: int, evidence: Evidence
) -> Cause | None:
    """Return why a broker has no replica of a partition; None if it has, or that is unknown."""
    if not placement.is_running(broker):
        return Cause.BROKER_DOWN
    if (broker, partition) in evidence.log.lost_replicas:
        return Cause.DIRECTORY_FAILED
    directories = evidence.disks.get(broker, ())
    if not directories or any(partition in directory.replicas for directory in directories):
        return None
    if any(directory.is_failed for directory in directories):
        return Cause.DIRECTORY_FAILED
    is_cordoned = all(directory.is_cordoned for directory in directories)
    return Cause.CORDONED if is_cordoned else None


def _failed_directories(cause: Cause, broker: int | None, evidence: Evidence) -> tuple[str, ...]:
    if cause is not Cause.DIRECTORY_FAILED or broker is None:
        return ()
    failed = [directory.path for directory in evidence.disks.get(broker, ()) if directory.is_failed]
    return tuple(sorted(failed)) or evidence.log.failed_directories.get(broker, ())


def _change(cause: Cause, broker: int | None, evidence: Evidence) -> LoggedChange | None:
    if broker is None or cause is Cause.FOLLOWER_BEHIND:
        return None
    changes = evidence.log.fenced if cause is Cause.BROKER_DOWN else evidence.log.failed
    return changes.get(broker)


def _lag(
    partition: TopicPartition, leader: int, broker: int | None, evidence: Evidence
) -> tuple[int | None, bool | None]:
    """Measure what a follower lacks in bytes, and whether that shrinks; None if unknown.

    Bytes, since no server tells the offsets of a follower: DescribeLogDirs has its lag behind the
    high watermark that the follower itself knows (ReplicaManager.getLogEndOffsetLag, 4.3.1).
    """
    gaps = []
    for disks in (evidence.disks, evidence.disks_later):
        sizes = [_size(partition, disks, node) for node in (leader, broker)]
        if sizes[0] is None or sizes[1] is None:
            return None, None
        gaps.append(max(sizes[0] - sizes[1], 0))
    return gaps[1], not gaps[1] or gaps[1] < gaps[0]


def _size(partition: TopicPartition, disks: Disks, broker: int | None) -> int | None:
    for directory in disks.get(-1 if broker is None else broker, ()):
        if partition in directory.replicas:
            return directory.replicas[partition].size
    return None


def topics_of(affected: Collection[Affected]) -> list[str]:
    return sorted({member.partition.topic for member in affected})
