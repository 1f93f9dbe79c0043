"""Plans as JSON, in the form of kafka-reassign-partitions (`--reassignment-json-file`).

Beside Kafka's fields, a partition has `previous`, its replicas before: Kafka's tool ignores it.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from reprlib import repr as short

from kraftops.errors import KraftopsError, RefusedError, SourceError, UsageError
from kraftops.fileio.reading import PLAN_BYTES, read_whole
from kraftops.placement.placement import Placement, TopicPartition
from kraftops.placement.plan import ANY, Move

_VERSION = 1  # the only one (`ReassignPartitionsCommand`, 4.3.1)
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_MAX_ID = 0x7FFFFFFF  # an int in Kafka


def plan_json(moves: Iterable[Move]) -> dict[str, object]:
    return {
        "version": _VERSION,
        "partitions": [
            {
                "topic": move.partition.topic,
                "partition": move.partition.number,
                "replicas": [*move.after],
                "log_dirs": [*(move.directories or [ANY] * len(move.after))],
                "previous": [*move.before],
            }
            for move in moves
        ],
    }


def read_plan(path: str) -> dict[TopicPartition, Move]:
    """Read a plan of `kafka-reassign-partitions`; a move need not say what was *before*.

    Raises:
        SourceError: the file cannot be read.
        UsageError: it has no plan; the message names the place.
    """
    try:
        data = json.loads(read_whole(path, PLAN_BYTES).decode())
    except OSError as error:
        raise SourceError.of(path, error) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path}: not valid JSON: {error}", hint="--dry-run --format json prints a plan"
        ) from error
    if not isinstance(data, dict) or not isinstance(data.get("partitions"), list):
        raise UsageError(
            f'{path}: not a plan: it has no list "partitions"',
            hint="a plan is JSON as kafka-reassign-partitions takes it",
        )
    if data.get("version", _VERSION) != _VERSION:
        raise UsageError(f"{path}: version {short(data['version'])} of plans is unknown")
    planned: dict[TopicPartition, Move] = {}
    for number, planned_entry in enumerate(data["partitions"]):
        move = _planned(planned_entry, f"{path}: partitions[{number}]")
        if move.partition in planned:
            raise UsageError(f"{path}: partitions[{number}]: {move.partition} is there twice")
        planned[move.partition] = move
    return planned


def checked_plan(
    path: str, placement: Placement, leaving: Collection[int] = ()
) -> dict[TopicPartition, Move]:
    """Read a plan that must fit the cluster and put nothing on *leaving* brokers.

    Raises:
        UsageError: the file has no plan, or one that puts something on a *leaving* broker.
        KraftopsError: a partition or a broker of the plan is not there.
        RefusedError: the plan is of another state of the cluster, or loses replicas.
    """
    planned = read_plan(path)
    for partition, target in planned.items():
        present = placement.partitions.get(partition)
        if present is None:
            raise KraftopsError(
                f"{path}: partition {partition} does not exist",
                code="not-found",
                topic=partition.topic,
                partition=partition.number,
            )
        unknown = sorted({*target.after} - placement.brokers.keys())
        if unknown:
            raise KraftopsError(
                f"{path}: {partition}: broker {unknown[0]} is not registered",
                code="broker-not-registered",
                brokers=unknown,
            )
        stays = sorted({*target.after}.intersection(leaving))
        if stays:
            raise UsageError(f"{path}: {partition}: broker {stays[0]} would not be empty")
        if len(target.after) != len(present.target):
            raise RefusedError(
                f"{path}: {partition}: it has {len(present.target)} replicas, and would have"
                f" {len(target.after)}",
                hint="the number of replicas is not changed here; make a new plan with --dry-run",
            )
        known_sets = {*target.before}, {*target.after}
        if target.before and {*present.target} not in known_sets:
            raise RefusedError(
                f"{path}: {partition}: it has other replicas than the plan was made for",
                hint="--dry-run makes a new plan",
            )
        for broker in target.after:
            if broker not in present.target and not placement.is_running(broker):
                raise RefusedError(f"{path}: {partition}: broker {broker} is fenced")
    return planned


def _planned(planned_entry: object, place: str) -> Move:
    if not isinstance(planned_entry, dict):
        raise UsageError(f"{place}: not an object")
    topic, number = planned_entry.get("topic"), planned_entry.get("partition")
    if not isinstance(topic, str) or not _TOPIC.fullmatch(topic):
        raise UsageError(f"{place}: topic {short(topic)} is not a valid topic name")
    if not isinstance(number, int) or not _is_id(number):
        raise UsageError(f"{place}: partition {short(number)} is not a valid partition number")
    replicas = _replicas(planned_entry.get("replicas"), f"{place}: replicas")
    previous = planned_entry.get("previous")
    before = () if previous is None else _replicas(previous, f"{place}: previous")
    directories = _directories(planned_entry.get("log_dirs"), len(replicas), f"{place}: log_dirs")
    return Move(TopicPartition(topic, number), before, replicas, directories)


def _directories(paths: object, count: int, place: str) -> tuple[str, ...]:
    if paths is None:
        return ()
    if not isinstance(paths, list) or len(paths) != count:
        raise UsageError(f"{place}: {short(paths)} is not a list with a directory for each replica")
    for path in paths:
        if path != ANY and not (isinstance(path, str) and path.startswith("/")):
            raise UsageError(f"{place}: {short(path)} is not 'any' or an absolute path")
    return () if {*paths} == {ANY} else tuple(paths)


def _replicas(listed: object, place: str) -> tuple[int, ...]:
    if not isinstance(listed, list) or not listed or not all(map(_is_id, listed)):
        raise UsageError(f"{place}: {short(listed)} is not a list of broker ids")
    if len(set(listed)) < len(listed):
        raise UsageError(f"{place}: {short(listed)} has a broker twice")
    return tuple(listed)


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_ID


def moves_of_file(placement: Placement, planned: Mapping[TopicPartition, Move]) -> list[Move]:
    """Keep the moves that are neither made nor in flight, in the order of partitions."""
    return [
        move._replace(before=present.target)
        for partition, move in sorted(planned.items())
        if (present := placement.partitions.get(partition)) is not None
        and not present.is_moving
        and present.target != move.after
    ]
