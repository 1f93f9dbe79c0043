"""Emptying of a log directory: its replicas move into others of the same broker (KIP-113)."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from kraftops.display.sizes import many, size_text
from kraftops.errors import KraftopsError, RefusedError
from kraftops.placement.disks import LogDirectory, plan_emptying
from kraftops.placement.placement import TopicPartition
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.copying import CopyMeter, copies_between
from kraftops.reassign.disks import move_between_directories
from kraftops.reassign.events import Event, Report
from kraftops.reassign.marks import MOVE_DIRS, Mark, Part, new_author
from kraftops.reassign.moves import PAUSE_SECONDS, MoveOptions, check_time, stalled
from kraftops.reassign.obstacles import Pace, moving_between, obstacles_of
from kraftops.reassign.settings import clear_marked
from kraftops.reassign.throttles import Throttle, set_directory_rate
from kraftops.wire.admin.log_dirs import ask_log_dirs


def source_and_targets(
    directories: Sequence[LogDirectory], source: str, targets: Collection[str]
) -> tuple[LogDirectory, list[LogDirectory]]:
    """Check the directory to empty and its *targets*, by default all others that take replicas.

    Raises:
        KraftopsError: the broker has no such directory.
        RefusedError: a directory has failed, is cordoned, or there is no other one.
    """
    by_path = {directory.path: directory for directory in directories}
    for path in (source, *targets):
        if path not in by_path:
            raise KraftopsError(
                f"the broker has no log directory {path}",
                hint=f"it has {', '.join(sorted(by_path))}",
                code="not-found",
                directory=path,
            )
    if by_path[source].is_failed:
        raise RefusedError(
            f"{source} has failed, so its replicas cannot be read",
            hint="kafka-cluster repair gives them to other brokers",
        )
    able = [
        directory
        for path, directory in sorted(by_path.items())
        if path != source and not directory.is_failed and not directory.is_cordoned
    ]
    chosen = [directory for directory in able if not targets or directory.path in targets]
    missing = {*targets} - {directory.path for directory in chosen}
    if missing or not chosen:
        raise RefusedError(
            f"{', '.join(sorted(missing)) or 'no other log directory'} cannot take replicas:"
            " it has failed, is cordoned, or is the one to empty"
        )
    return by_path[source], chosen


@dataclass(frozen=True, slots=True)
class Emptying:
    """The directory *source* of a broker to empty into *targets*, by default all others."""

    broker: int
    source: str
    targets: Collection[str]
    options: MoveOptions


def empty_directory(access: ClusterAccess, task: Emptying, report: Report) -> None:
    """Move replicas until a directory is empty.

    The broker knows what is on its way, and the mark what is to be done, so that any run goes on
    after a kill.

    Raises:
        KraftopsError: a directory has failed or has no room, nothing moves, or not in time.
    """
    meter = CopyMeter()
    is_marked = False
    while True:
        check_time(access)
        directories = access.patiently(access.ask_broker, task.broker, ask_log_dirs)
        source, targets = source_and_targets(directories, task.source, task.targets)
        if not source.replicas:
            break
        if not is_marked:
            _mark(access, task, source)
            is_marked = True
        state = copies_between(task.broker, directories, task.source)
        in_flight = {partition for partition, _ in state.copied}
        waiting = source.replicas.keys() - in_flight
        if waiting and len(in_flight) < task.options.batch:
            _begin(
                access, task, source, [_after_copies(directory, source) for directory in targets]
            )
        meter.note((frozenset(in_flight), len(waiting)))
        meter.add(state)
        report(_progress(meter, in_flight, waiting))
        if meter.still_seconds >= task.options.stall_seconds:
            moving = moving_between(task.broker, in_flight)
            pace = Pace(meter.first or state, state, meter.still_seconds, {})
            placement = access.patiently(access.placement)
            raise stalled(meter, obstacles_of(placement, moving, pace))
        time.sleep(PAUSE_SECONDS)
    end_emptying(access, task.broker)


def end_emptying(access: ClusterAccess, broker: int) -> None:
    """Remove the throttle and the mark of an operation; errors as `clear_marked`."""
    access.with_placement(clear_marked, (broker,), Part.DIRECTORY_THROTTLE)
    access.patiently(access.end_operation, MOVE_DIRS, (broker,))


def _mark(access: ClusterAccess, task: Emptying, source: LogDirectory) -> None:
    mark = Mark(
        MOVE_DIRS,
        new_author(),
        brokers=(task.broker,),
        partitions=len(source.replicas),
        size=source.size,
        directories=(task.source, *task.targets),
    )
    mark = access.patiently(access.begin_operation, mark)
    if rate := task.options.throttle:
        access.with_placement(set_directory_rate, task.broker, Throttle(rate, mark))


def _progress(
    meter: CopyMeter, in_flight: Collection[TopicPartition], waiting: Collection[TopicPartition]
) -> Event:
    state = meter.newest
    assert state
    return Event(
        "progress",
        f"in flight: {many(len(in_flight), 'replica')},"
        f" {size_text(state.total_bytes - state.bytes_left)} of {size_text(state.total_bytes)},"
        f" {size_text(round(meter.rate))}/s; {many(len(waiting), 'replica')} to move after them",
        {"partitions": len(in_flight), "waiting": len(waiting)},
    )


def _after_copies(target: LogDirectory, source: LogDirectory) -> LogDirectory:
    """Subtract from a directory's room what has yet to arrive there."""
    rest = sum(
        max(source.replicas[name].size - replica.size, 0)
        for name, replica in target.coming.items()
        if name in source.replicas
    )
    return replace(target, usable=None if target.usable is None else target.usable - rest)


def _begin(
    access: ClusterAccess, task: Emptying, source: LogDirectory, targets: Sequence[LogDirectory]
) -> None:
    """Begin as many moves as may be in flight in addition to those that are.

    Raises:
        RefusedError: there is too little room.
    """
    in_flight = {name for target in targets for name in target.coming}
    waiting = {name: size for name, size in source.replicas.items() if name not in in_flight}
    paths, short = plan_emptying(replace(source, replicas=waiting), targets)
    if short:
        raise RefusedError(f"{short[0].path} has too little room for what is in {source.path}")
    count = task.options.batch - len(source.replicas.keys() & in_flight)
    move_between_directories(access, task.broker, dict(sorted(paths.items())[:count]))
