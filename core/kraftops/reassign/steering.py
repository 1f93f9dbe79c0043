"""Operations cancelled, or followed to their end, by any process."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kraftops.errors import KraftopsError
from kraftops.placement.placement import TopicPartition
from kraftops.reassign.access import CORDON, ClusterAccess, in_parts
from kraftops.reassign.emptying import Emptying, empty_directory, end_emptying
from kraftops.reassign.events import Report
from kraftops.reassign.marks import MOVE_DIRS, Part
from kraftops.reassign.moves import MoveOptions, Mover, check_time
from kraftops.reassign.operations import CORDONS, THROTTLES, Operation
from kraftops.reassign.settings import clear_marked
from kraftops.reassign.throttles import clear_throttles
from kraftops.wire.admin.configs import ConfigChange
from kraftops.wire.admin.configs import Operation as Change
from kraftops.wire.admin.log_dirs import alter_log_dirs
from kraftops.wire.admin.replicas import NO_REASSIGNMENT_IN_PROGRESS, Refusal, alter_reassignments


class Steered(NamedTuple):
    """An operation, its reassignments that were cancelled, and those that Kafka refused to."""

    operation: Operation
    cancelled: Sequence[TopicPartition] = ()
    refused: Mapping[TopicPartition, Refusal] = {}


def named(operations: Sequence[Operation], names: Sequence[str]) -> list[Operation]:
    """Choose operations by name, in the order of *names*.

    Raises:
        KraftopsError: there is no such operation.
    """
    by_name = {operation.name: operation for operation in operations}
    for name in names:
        if name not in by_name:
            under_way = ", ".join(by_name)
            raise KraftopsError(
                f"operation {name!r} is not under way",
                hint=f"under way: {under_way}" if under_way else "nothing is under way",
                code="not-found",
                operation=name,
            )
    return [by_name[name] for name in dict.fromkeys(names)]


def cancel_operation(access: ClusterAccess, operation: Operation) -> Steered:
    """Cancel the reassignments of an operation, and remove its throttles, cordons and marks.

    The marks stay while a reassignment of it is in flight, so that it can be cancelled again.

    Raises:
        WireError: no server answers.
        RefusedError: a broker with a setting of ours is down, and no controllers are given.
    """
    if operation.kind == MOVE_DIRS:
        return _cancel_emptying(access, operation)
    steered = _cancel_reassignments(access, operation)
    if operation.throttled or operation.throttled_topics:
        clear_throttles_of(access, operation)
    if operation.is_ours:
        brokers = {*operation.brokers, *operation.cordoned}
        access.with_placement(clear_marked, brokers, Part.CORDON)
        if not steered.refused:
            access.patiently(access.end_operation, operation.kind, operation.brokers)
    elif operation.kind == CORDONS:
        deletion = [ConfigChange(CORDON, Change.DELETE)]
        for broker in operation.brokers:
            access.with_placement(ClusterAccess.change_broker, broker, deletion)
    return steered


def _cancel_emptying(access: ClusterAccess, operation: Operation) -> Steered:
    """Keep replicas where they are: a broker then removes the copies that it has begun."""
    (broker,) = operation.brokers
    paths = dict.fromkeys(operation.moving, operation.directories[0])
    refused: dict[TopicPartition, Refusal] = {}
    if paths:
        refused = access.patiently(access.ask_broker, broker, alter_log_dirs, paths)
    if not refused:
        end_emptying(access, broker)
    return Steered(operation, [name for name in paths if name not in refused], refused)


def _cancel_reassignments(access: ClusterAccess, operation: Operation) -> Steered:
    """Cancel reassignments; those that have ended in the meantime count as neither.

    Raises:
        WireError: no server answers.
    """
    partitions = [*operation.moving]
    answers: dict[TopicPartition, Refusal] = {}
    for part in in_parts(partitions):
        answers |= access.patiently(access.ask, alter_reassignments, dict.fromkeys(part))
    return Steered(
        operation,
        [partition for partition in partitions if partition not in answers],
        {
            partition: refusal
            for partition, refusal in answers.items()
            if refusal.code != NO_REASSIGNMENT_IN_PROGRESS
        },
    )


def clear_throttles_of(access: ClusterAccess, operation: Operation) -> bool:
    """Remove the throttles of an operation; tell whether there were any; errors as above."""
    if operation.kind == MOVE_DIRS:
        return access.with_placement(clear_marked, operation.brokers, Part.DIRECTORY_THROTTLE)
    of_others = operation.kind == THROTTLES and not operation.is_ours
    return access.with_placement(clear_throttles, of_others=of_others)


def follow_to_end(
    access: ClusterAccess, operation: Operation, options: MoveOptions, report: Report
) -> None:
    """Wait until all reassignments of an operation have ended, then remove what it leaves.

    Nothing is planned again, but for a log directory, which is emptied. With a throttle in
    *options*, throttles of ours get its rate.

    Raises:
        KraftopsError: nothing moves, or not in time.
    """
    if operation.kind == MOVE_DIRS:
        source, *targets = operation.directories
        empty_directory(access, Emptying(operation.brokers[0], source, targets, options), report)
        return
    mover = Mover(access, options, report, operation.kind)
    mover.begin(access.patiently(access.placement))
    while True:
        check_time(access)
        placement = access.patiently(access.placement)
        if placement.moving.keys().isdisjoint(operation.moving):
            break
        mover.wait(placement, 0)
    if operation.is_ours:
        mover.clear()
        access.patiently(access.end_operation, operation.kind, operation.brokers)
