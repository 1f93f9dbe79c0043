"""Operations that are under way: ours by their marks, those of others by what they change."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kraftops.errors import WireError
from kraftops.placement.disks import sizes_of
from kraftops.placement.placement import Placement, Replicas, TopicPartition
from kraftops.reassign.access import CORDON, ClusterAccess
from kraftops.reassign.copying import (
    CopyMeter,
    CopyState,
    copies_between,
    directories_of,
    look_at_copies,
)
from kraftops.reassign.decommission import is_leaving
from kraftops.reassign.marks import (
    DECOMMISSION,
    DRAIN,
    MOVE_DIRS,
    RESTART,
    Author,
    Mark,
    Part,
    marks_in,
)
from kraftops.reassign.obstacles import Obstacle, Pace, moving_between, obstacles_of
from kraftops.reassign.throttles import (
    Throttles,
    find_throttles,
    rate_in,
    rates_of_brokers,
    throttled_by_others,
)
from kraftops.wire.admin.configs import ConfigValue
from kraftops.wire.admin.log_dirs import ask_log_dirs

REASSIGNMENTS, THROTTLES, CORDONS = "reassignments", "throttles", "cordon"
"""Kinds of operations of others."""
Configs = Mapping[int, Mapping[str, ConfigValue]]
"""The dynamic configurations of brokers, as far as they can be read."""


class State(StrEnum):
    """What an operation does at the moment."""

    MOVING = "moving"
    STALLED = "stalled"
    WAITING = "waiting"
    """Nothing is in flight; it goes on with its next step, or with the next run."""
    IN_FORCE = "in-force"
    """It is a setting that stays until it is removed."""
    LEFT_OVER = "left-over"
    """Nothing is in flight, and no process works on it: only its marks and settings are there."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Bytes of an operation: those copied in flight, those left with what waits, and their pace.

    *done* are those of all that was moved, None where it is not known how many there were when it
    began; *seconds_left* is None while those left do not get less.
    """

    done: int | None
    copied: int
    left: int
    rate: int
    seconds_left: int | None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation, and what it has changed.

    *brokers* are those that it is about: that leave, are drained or cordoned; none for all; of a
    restart, the nodes to go. *total* is the number of partitions, or such nodes, when it began,
    *waiting* that of those that are not in flight and not done, *size* and *waiting_size* are the
    bytes of both; None where they are unknown. *throttle* is its lowest rate, *directories* are
    those of its mark.
    """

    kind: str
    brokers: tuple[int, ...] = ()
    author: Author | None = None
    is_ours: bool = False
    moving: Mapping[TopicPartition, Replicas] = field(default_factory=dict)
    total: int | None = None
    waiting: int | None = None
    size: int | None = None
    waiting_size: int | None = None
    directories: tuple[str, ...] = ()
    throttle: int | None = None
    throttled: tuple[int, ...] = ()
    throttled_topics: tuple[str, ...] = ()
    cordoned: tuple[int, ...] = ()
    is_idle_cluster: bool = False
    amounts: Amounts | None = None
    obstacles: tuple[Obstacle, ...] = ()

    @property
    def name(self) -> str:
        """Its name, by which it is cancelled and resumed.

        There is one restart at a time, and the nodes in its mark get fewer.
        """
        if self.kind == RESTART:
            return self.kind
        return f"{self.kind}-{','.join(map(str, self.brokers))}" if self.brokers else self.kind

    @property
    def is_running(self) -> bool | None:
        """Whether its author's process still exists; None where that cannot be seen."""
        return self.author.is_alive() if self.author else None

    @property
    def done(self) -> int | None:
        if self.total is None or self.waiting is None:
            return None
        return max(self.total - self.waiting - len(self.moving), 0)

    @property
    def state(self) -> State:
        """What it does at the moment."""
        if self.moving:
            is_stalled = self.amounts is not None and not self.amounts.rate and self.obstacles
            return State.STALLED if is_stalled else State.MOVING
        if not self.is_ours:
            # Without reassignments, a throttle only slows followers that catch up.
            is_over = self.kind == THROTTLES and self.is_idle_cluster
            return State.LEFT_OVER if is_over else State.IN_FORCE
        if self.kind == DRAIN:
            return State.IN_FORCE
        if self.kind == DECOMMISSION and self.brokers and self.waiting == 0:
            return State.WAITING  # for the stop of its brokers, and the run that unregisters them
        is_over = self.is_running is False or (self.author is None and not self.waiting)
        return State.LEFT_OVER if is_over else State.WAITING


def operations_of(
    placement: Placement, marks: Iterable[Mark], configs: Configs, throttles: Throttles | None
) -> list[Operation]:
    """Join marks, reassignments and throttles: our operations first, the oldest at the top.

    A reassignment that takes replicas off brokers of a decommission is taken to be part of it; all
    others to be part of an operation of ours that is about the whole cluster, if there is one: a
    reassignment itself has no author.
    """
    parts = [
        (broker, mark)
        for broker, values in configs.items()
        for mark in marks_in(values).values()
        if mark.part is not None
    ]
    begun = {(mark.kind, mark.brokers): _begun(mark) for mark in marks if mark.part is None}
    for broker, mark in parts:
        if not any(_is_of(operation, broker, mark) for operation in begun.values()):
            # Its own mark is gone, as after a kill between two changes.
            brokers = (broker,) if mark.part is Part.CORDON else ()
            begun[mark.kind, brokers] = _begun(mark._replace(brokers=brokers))
    ours = sorted(
        begun.values(),
        key=lambda operation: (operation.author.since if operation.author else 0, operation.name),
    )
    rest = dict(placement.moving)
    ours = [_with_moves(placement, operation, rest) for operation in ours]
    ours = [
        _with_settings(operation, [part for part in parts if _is_of(operation, *part)], configs)
        for operation in ours
    ]
    return [*ours, *_others(placement, rest, configs, throttles)]


def _begun(mark: Mark) -> Operation:
    waiting, waiting_size = mark.waiting or (None, None)
    return Operation(
        mark.kind,
        mark.brokers,
        mark.author,
        is_ours=True,
        total=mark.partitions,
        size=mark.size,
        waiting=waiting,
        waiting_size=waiting_size,
        directories=mark.directories,
    )


def _is_of(operation: Operation, broker: int, mark: Mark) -> bool:
    is_about = mark.part is not Part.CORDON or broker in operation.brokers
    return operation.kind == mark.kind and is_about


def _with_moves(
    placement: Placement, operation: Operation, rest: dict[TopicPartition, Replicas]
) -> Operation:
    """Take an operation's reassignments out of the *rest*, which is changed."""
    if operation.kind in (DRAIN, MOVE_DIRS):
        return operation
    if operation.kind == RESTART:
        return replace(operation, waiting=len(operation.brokers))
    leaving = frozenset(operation.brokers)
    own = {
        partition: replicas
        for partition, replicas in rest.items()
        if not leaving or is_leaving(replicas, leaving)
    }
    for partition in own:
        del rest[partition]
    waiting = operation.waiting
    if operation.kind == DECOMMISSION:
        waiting = sum(1 for partition, _ in placement.on(leaving) if partition not in own)
    return replace(operation, moving=own, waiting=waiting)


def _with_settings(
    operation: Operation, parts: Sequence[tuple[int, Mark]], configs: Configs
) -> Operation:
    throttles = {broker: mark.part for broker, mark in parts if mark.part is not Part.CORDON}
    cordoned = [broker for broker, mark in parts if mark.part is Part.CORDON]
    rates = [rate_in(configs[broker], part) for broker, part in throttles.items() if part]
    return replace(
        operation,
        throttle=min((rate for rate in rates if rate is not None), default=None),
        throttled=tuple(sorted(throttles)),
        cordoned=tuple(sorted(cordoned)),
    )


def _others(
    placement: Placement,
    moving: Mapping[TopicPartition, Replicas],
    configs: Configs,
    throttles: Throttles | None,
) -> list[Operation]:
    others = []
    if moving:
        others.append(Operation(REASSIGNMENTS, moving=moving, waiting=0))
    brokers = throttles.other_brokers if throttles else throttled_by_others(configs)
    topics = throttles.other_topics if throttles else []
    if brokers or topics:
        rates = [rate for b in brokers if (rate := rate_in(configs[b])) is not None]
        others.append(
            Operation(
                THROTTLES,
                throttle=min(rates, default=None),
                throttled=tuple(brokers),
                throttled_topics=tuple(topics),
                is_idle_cluster=not placement.moving,
            )
        )
    for broker, values in sorted(configs.items()):
        is_ours = any(mark.part is Part.CORDON for mark in marks_in(values).values())
        if not is_ours and CORDON in values and values[CORDON].value:
            others.append(Operation(CORDONS, (broker,), cordoned=(broker,)))
    return others


def operations_under_way(access: ClusterAccess, placement: Placement) -> list[Operation]:
    """Ask a cluster for its operations, without their amounts.

    Raises:
        WireError: no server answers.
        AnswerError: it is not permitted.
    """
    configs = access.broker_configs(placement)
    throttles = find_throttles(access, placement) if access.brokers else None
    operations = operations_of(placement, access.marks().values(), configs, throttles)
    return [_with_directories(access, operation)[0] for operation in operations]


def _with_directories(
    access: ClusterAccess, operation: Operation
) -> tuple[Operation, CopyState | None]:
    """Measure copies between directories, if their broker answers."""
    if not operation.directories:
        return operation, None
    broker, source = operation.brokers[0], operation.directories[0]
    try:
        directories = access.ask_broker(broker, ask_log_dirs)
    except WireError:  # it is down, or the user may not see them
        return operation, None
    state = copies_between(broker, directories, source)
    moving = moving_between(broker, [partition for partition, _ in state.copied])
    waiting = [
        replica.size
        for directory in directories
        for partition, replica in directory.replicas.items()
        if directory.path == source and partition not in moving
    ]
    operation = replace(operation, moving=moving, waiting=len(waiting), waiting_size=sum(waiting))
    return operation, state


def measured(
    access: ClusterAccess, placement: Placement, operations: Sequence[Operation], seconds: float
) -> list[Operation]:
    """Return operations with their amounts and obstacles, by two looks *seconds* apart.

    Raises:
        WireError: a broker no longer answers.
    """
    if not any(operation.moving or operation.waiting for operation in operations):
        return [*operations]
    sizes = sizes_of(directories_of(access, placement, dict.fromkeys(placement.brokers)))
    first = look_at_copies(access, placement, placement.moving)
    firsts = [_with_directories(access, operation)[1] for operation in operations]
    if any(operation.moving for operation in operations):
        time.sleep(seconds)
        placement = access.placement()
    last = look_at_copies(access, placement, placement.moving)
    rates = rates_of_brokers(access, placement)

    def measure(operation: Operation, own_first: CopyState | None) -> Operation:
        if operation.kind == RESTART:
            return operation  # what it waits for has no bytes
        operation, own_last = _with_directories(access, operation)
        if own_first and own_last:
            pace = Pace(own_first, own_last, 0, {})
        else:
            moving = {
                partition: replicas
                for partition, replicas in placement.moving.items()
                if partition in operation.moving
            }
            operation = replace(operation, moving=moving)
            pace = Pace(first.of(moving), last.of(moving), 0, rates)
        return _with_amounts(placement, operation, pace, sizes)

    return [*map(measure, operations, firsts)]


def _with_amounts(
    placement: Placement, operation: Operation, pace: Pace, sizes: Mapping[TopicPartition, int]
) -> Operation:
    first, last = pace.older, pace.newer
    meter = CopyMeter()
    meter.add(first)
    meter.add(last)
    waiting = operation.waiting_size or 0
    if operation.kind == DECOMMISSION:
        waiting = sum(
            sizes.get(partition, 0)
            for partition, _ in placement.on(frozenset(operation.brokers))
            if partition not in operation.moving
        )
    bytes_to_go, net = last.bytes_left + waiting, meter.net_rate
    pace = pace._replace(still_seconds=last.seconds - first.seconds)
    return replace(
        operation,
        amounts=Amounts(
            done=None if operation.size is None else max(operation.size - bytes_to_go, 0),
            copied=last.total_bytes - last.bytes_left,
            left=bytes_to_go,
            rate=round(meter.rate),
            seconds_left=round(bytes_to_go / net) if net > 0 else None,
        ),
        obstacles=tuple(obstacles_of(placement, operation.moving, pace)),
    )
