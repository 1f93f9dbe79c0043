"""Plan of a user, compared with the cluster before anything is moved."""

from __future__ import annotations

from collections.abc import Collection

from kraftops.errors import KraftopsError, RefusedError, UsageError
from kraftops.placement.placement import Placement, TopicPartition
from kraftops.placement.reassignment_json import PlannedReplicas, read_plan


def checked_plan(
    path: str, placement: Placement, leaving: Collection[int] = ()
) -> dict[TopicPartition, PlannedReplicas]:
    """Return the plan in a file, if it fits the cluster and puts nothing on *leaving* brokers.

    Raises:
        UsageError: the file has no plan, or one that puts something on a *leaving* broker.
        KraftopsError: a partition or a broker of the plan is not there.
        RefusedError: the plan is of another state of the cluster, or loses replicas.
    """
    planned = read_plan(path)
    for partition, wanted in planned.items():
        found = placement.partitions.get(partition)
        if found is None:
            raise KraftopsError(
                f"{path}: partition {partition} does not exist",
                code="not-found",
                topic=partition.topic,
                partition=partition.number,
            )
        unknown = sorted({*wanted.replicas} - placement.brokers.keys())
        if unknown:
            raise KraftopsError(
                f"{path}: {partition}: broker {unknown[0]} is not registered",
                code="broker-not-registered",
                brokers=unknown,
            )
        stays = sorted({*wanted.replicas}.intersection(leaving))
        if stays:
            raise UsageError(f"{path}: {partition}: broker {stays[0]} would not be empty")
        if len(wanted.replicas) != len(found.target):
            raise RefusedError(
                f"{path}: {partition}: it has {len(found.target)} replicas, and would have"
                f" {len(wanted.replicas)}",
                hint="the number of replicas is not changed here; make a new plan with --dry-run",
            )
        is_old = wanted.previous is not None and {*found.target} not in (
            {*wanted.previous},
            {*wanted.replicas},
        )
        if is_old:
            raise RefusedError(
                f"{path}: {partition}: it has other replicas than the plan was made for",
                hint="--dry-run makes a new plan",
            )
        down = [each for each in wanted.replicas if placement.brokers[each].is_fenced]
        added = [each for each in down if each not in found.target]
        if added:
            raise RefusedError(f"{path}: {partition}: broker {added[0]} is fenced")
    return planned
