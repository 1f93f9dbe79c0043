"""Principals that likely asked for changes, by the log of Kafka's authorizer."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from kraftops.fileio.directories import errors_with_path
from kraftops.timeline.changes import CLIENT, PREFERRED_ELECTION, REASSIGNMENT, MetadataChange

_QUEUED = 5_000
"""ms from a request to its record at most: the controller authorizes it before it queues it."""
_SKEW = 1_000
"""ms by which a request may seem later than its record: the clocks of two servers."""
_LONGEST_LINE = 1 << 16
_ALLOWED = re.compile(
    # `StandardAuthorizerData.buildAuditMessage`. Who may describe a topic did not change it.
    rb"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?(?:Z|[+-]\d\d:?\d\d)?).*?"
    rb"Principal = (.+?) is Allowed operation = (?!DESCRIBE)\w+ from host = \S+"
    rb" on resource = (\w+):\w+:(.*?) for request = (\w+)"
)
_REQUESTS: Mapping[str, frozenset[str]] = {
    "acl": frozenset({"CreateAcls", "DeleteAcls"}),
    "broker": frozenset({"UnregisterBroker"}),
    "config": frozenset({"AlterConfigs", "IncrementalAlterConfigs", "CreateTopics"}),
    "feature": frozenset({"UpdateFeatures"}),
    "leader": frozenset({"ElectLeaders"}),
    "quota": frozenset({"AlterClientQuotas"}),
    "user": frozenset({
        "AlterUserScramCredentials", "CreateDelegationToken", "ExpireDelegationToken",
        "RenewDelegationToken",
    }),
}  # fmt: skip
_TOPIC_CREATED = frozenset({"CreateTopics", "Metadata"})  # a broker may create what is asked for
_TOPIC_DELETED = frozenset({"DeleteTopics"})
_PARTITION_CREATED = frozenset({"CreatePartitions"})
_PARTITION_MOVED = frozenset({"AlterPartitionReassignments"})
_ASKED_FOR = frozenset({CLIENT, REASSIGNMENT, PREFERRED_ELECTION})
"""Causes behind which a client may be."""


class Request(NamedTuple):
    """A request that the authorizer allowed; *topic* is None for another resource."""

    time: int
    principal: str
    name: str
    topic: str | None


def allowed_requests(paths: Iterable[str]) -> Iterator[Request]:
    """Yield the allowed requests of logs of the authorizer, `kafka.authorizer.logger` at DEBUG.

    Lines may have any layout with date and time before the message. Times without a zone are local.

    Raises:
        OSError: a file cannot be read.
    """
    for path in paths:
        with errors_with_path(path), open(path, "rb") as file:
            while line := file.readline(_LONGEST_LINE):
                if parts := _ALLOWED.search(line):
                    time, *texts = (part.decode(errors="replace") for part in parts.groups())
                    principal, resource, name, request = texts
                    with suppress(ValueError):  # no such day or hour
                        moment = int(datetime.fromisoformat(time).timestamp() * 1000)
                        topic = name if resource == "Topic" else None
                        yield Request(moment, principal, request, topic)


def with_principals(
    changes: Sequence[MetadataChange], requests: Iterable[Request]
) -> list[MetadataChange]:
    """Return changes with the principals whose requests fit them by time, kind and topic.

    Those that named the topic come before those that were allowed to change any topic, and then
    the nearest in time.
    """
    asked = [index for index, change in enumerate(changes) if _requests_for(change)]
    asked.sort(key=lambda index: changes[index].time)
    times = [changes[index].time for index in asked]
    distances: dict[int, dict[str, tuple[bool, int]]] = {}
    for request in requests:
        begin = bisect_left(times, request.time - _SKEW)
        for index in asked[begin : bisect_right(times, request.time + _QUEUED)]:
            change = changes[index]
            if request.topic not in (None, change.topic):
                continue
            if request.name not in _requests_for(change):
                continue
            distance = request.topic is None, abs(change.time - request.time)
            principals = distances.setdefault(index, {})
            principals[request.principal] = min(
                distance, principals.get(request.principal, distance)
            )
    joined = list(changes)
    for index, principals in distances.items():
        is_named = not min(principals.values())[0]
        likely = sorted(
            (name for name, distance in principals.items() if not (is_named and distance[0])),
            key=lambda name: principals[name],
        )
        joined[index] = replace(changes[index], likely_principals=tuple(likely))
    return joined


def _requests_for(change: MetadataChange) -> frozenset[str]:
    """Return the names of the requests that make such a change; none if no client asks for it."""
    if change.cause not in _ASKED_FOR:
        return frozenset()
    if change.kind != "topic":
        return _REQUESTS.get(change.kind, frozenset())
    if change.partition is None:
        return _TOPIC_DELETED if change.new is None else _TOPIC_CREATED
    return _PARTITION_CREATED if change.before is None else _PARTITION_MOVED
