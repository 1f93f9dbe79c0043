"""Principals that likely asked for changes, by the log of Kafka's authorizer."""

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
_LONGEST_LINE = 1 << 16  # bytes; a topic or group in it has 32,767 at most (a STRING)
_ALLOWED = re.compile(
    # `StandardAuthorizerData.buildAuditMessage`. Who may describe a topic did not change it.
    rb"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?(?:Z|[+-]\d\d:?\d\d)?).*?"
    rb"Principal = (.+?) is Allowed operation = (?!DESCRIBE)\w+ from host = \S+"
    rb" on resource = (\w+):\w+:(.*?) for request = (\w+)"
)
_USERS = frozenset({"AlterUserScramCredentials"})
_TOKENS = frozenset({"CreateDelegationToken", "ExpireDelegationToken", "RenewDelegationToken"})
REQUESTS: Mapping[str, frozenset[str]] = {
    "acl": frozenset({"CreateAcls", "DeleteAcls"}),
    "broker": frozenset({"UnregisterBroker"}),
    "config": frozenset({"AlterConfigs", "IncrementalAlterConfigs", "CreateTopics"}),
    "feature": frozenset({"UpdateFeatures"}),
    "leader": frozenset({"ElectLeaders"}),
    "partition-created": frozenset({"CreatePartitions"}),
    "partition-moved": frozenset({"AlterPartitionReassignments"}),
    "quota": frozenset({"AlterClientQuotas"}),
    "scram": _USERS,
    "token": _TOKENS,
    "topic-created": frozenset({"CreateTopics", "Metadata"}),  # a broker may create what is read
    "topic-deleted": frozenset({"DeleteTopics"}),
    "user": _USERS | _TOKENS,
}
"""The requests that make a change, by what it is."""
_ASKED_FOR = frozenset({CLIENT, REASSIGNMENT, PREFERRED_ELECTION})
"""Causes that a request of a client may lie behind."""


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


class Asked(NamedTuple):
    """A change that a client may have asked for; *requests* are the names of those that make it."""

    time: int
    requests: frozenset[str]
    topic: str | None


def with_principals(
    changes: Sequence[MetadataChange], requests: Iterable[Request]
) -> list[MetadataChange]:
    """Return changes with the principals whose requests fit them, as `likely_principals`."""
    asked = [Asked(change.time, _requests_for(change), change.topic) for change in changes]
    likely = likely_principals(asked, requests)
    return [
        replace(change, likely_principals=names) if names else change
        for change, names in zip(changes, likely, strict=True)
    ]


def likely_principals(asked: Sequence[Asked], requests: Iterable[Request]) -> list[tuple[str, ...]]:
    """Return for each change the principals whose requests fit it by time, kind and topic.

    Those that named the topic come before those that were allowed to change any topic, and then
    the nearest in time.
    """
    order = [index for index, change in enumerate(asked) if change.requests]
    order.sort(key=lambda index: asked[index].time)
    times = [asked[index].time for index in order]
    distances: list[dict[str, tuple[bool, int]]] = [{} for _ in asked]
    for request in requests:
        begin = bisect_left(times, request.time - _SKEW)
        for index in order[begin : bisect_right(times, request.time + _QUEUED)]:
            change = asked[index]
            if request.topic not in (None, change.topic) or request.name not in change.requests:
                continue
            distance = request.topic is None, abs(change.time - request.time)
            nearest = distances[index].get(request.principal, distance)
            distances[index][request.principal] = min(distance, nearest)
    return [tuple(_likeliest(principals)) for principals in distances]


def _likeliest(distances: Mapping[str, tuple[bool, int]]) -> list[str]:
    """Return principals, the nearest first; who named the topic leaves no other."""
    is_named = any(not is_for_any for is_for_any, _ in distances.values())
    likely = (name for name, distance in distances.items() if not (is_named and distance[0]))
    return sorted(likely, key=lambda name: distances[name])


def _requests_for(change: MetadataChange) -> frozenset[str]:
    """Return the names of the requests that make such a change; none if no client asks for it."""
    if change.cause not in _ASKED_FOR:
        return frozenset()
    kind: str = change.kind
    if kind == "topic" and change.partition is None:
        kind = "topic-deleted" if change.new is None else "topic-created"
    elif kind == "topic":
        kind = "partition-created" if change.before is None else "partition-moved"
    return REQUESTS.get(kind, frozenset())
