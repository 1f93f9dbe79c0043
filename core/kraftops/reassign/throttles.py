"""Throttles of reassignments: set, found again after a kill, and removed.

A throttle has rates on brokers and lists of replicas on topics (KIP-73). Each broker whose rates
are ours has a mark, a key that Kafka does not know, set and deleted in the same request as the
rates. Before ours, there are no others: so list entries of marked brokers are ours, and where a
broker is marked, also those of brokers that are down and cannot be asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial

from kraftops.placement.placement import Placement
from kraftops.placement.plan import Move
from kraftops.reassign.access import TOPICS_AT_ONCE, ClusterAccess
from kraftops.wire.admin.configs import (
    ConfigChange,
    ConfigValue,
    Operation,
    ResourceType,
    alter_configs,
    describe_configs,
)

MARK = "kraftops.throttle"
_RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
_LEADERS, _FOLLOWERS = (
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)


@dataclass(frozen=True, slots=True)
class Throttles:
    """The brokers with rates of ours, and brokers and topics with throttles of others."""

    ours: frozenset[int]
    others: list[str]


def find_throttles(access: ClusterAccess, placement: Placement) -> Throttles:
    """Return the throttles that are set.

    Raises:
        WireError: a broker cannot be asked.
    """
    brokers = access.broker_configs(placement, (*_RATES, MARK))
    ours = frozenset(broker for broker, values in brokers.items() if MARK in values)
    others = [
        f"broker {broker}"
        for broker, values in sorted(brokers.items())
        if broker not in ours and not values.keys().isdisjoint(_RATES)
    ]
    is_ours = _owner(access, placement, ours)
    for topic, values in _topic_lists(access, placement).items():
        if any(not is_ours(entry) for each in values.values() for entry in _entries(each)):
            others.append(f"topic {topic}")
    return Throttles(ours, others)


def set_throttle(
    access: ClusterAccess, placement: Placement, moves: Iterable[Move], rate: int
) -> None:
    """Throttle the copies of moves to *rate* bytes per second and broker.

    Raises:
        WireError: a broker cannot be asked; some throttles may be set.
    """
    leaders: dict[str, list[str]] = defaultdict(list)
    followers: dict[str, list[str]] = defaultdict(list)
    running = {each for each, place in placement.brokers.items() if not place.is_fenced}
    brokers: set[int] = set()
    for (topic, number), before, after, _ in moves:
        sources = [each for each in before if each in running]
        added = [each for each in after if each not in before and each in running]
        if added:
            leaders[topic] += [f"{number}:{broker}" for broker in sources]
            followers[topic] += [f"{number}:{broker}" for broker in added]
            brokers.update(sources, added)
    set_rates(access, placement, brokers, rate)
    lists = {
        topic: [
            ConfigChange(_LEADERS, Operation.APPEND, ",".join(leaders[topic])),
            ConfigChange(_FOLLOWERS, Operation.APPEND, ",".join(followers[topic])),
        ]
        for topic in leaders
    }
    access.ask(lambda connection: alter_configs(connection, ResourceType.TOPIC, lists))


def set_rates(
    access: ClusterAccess, placement: Placement, brokers: Collection[int], rate: int
) -> None:
    """Set the rates of brokers that run, with our mark; errors as `set_throttle`."""
    changes = [ConfigChange(key, Operation.SET, str(rate)) for key in (*_RATES, MARK)]
    for broker in sorted(brokers):
        place = placement.brokers.get(broker)
        if place is not None and not place.is_fenced:
            access.change_broker(placement, broker, changes)


def clear_throttles(access: ClusterAccess, placement: Placement) -> bool:
    """Remove all throttles of ours; tell whether there were any.

    Raises:
        WireError: a broker cannot be asked; some throttles may be left, with their marks.
        RefusedError: a broker with a throttle of ours is down, and no controllers are given.
    """
    brokers = access.broker_configs(placement, (MARK,))
    ours = frozenset(broker for broker, values in brokers.items() if MARK in values)
    if not ours:
        return False
    is_ours = _owner(access, placement, ours)
    lists = {}
    for topic, values in _topic_lists(access, placement).items():
        changes = []
        for key, value in values.items():
            entries = _entries(value)
            removed = [entry for entry in entries if is_ours(entry)]
            if len(removed) == len(entries):
                # Subtracting the last entry would leave an empty list.
                changes.append(ConfigChange(key, Operation.DELETE))
            elif removed:
                changes.append(ConfigChange(key, Operation.SUBTRACT, ",".join(removed)))
        if changes:
            lists[topic] = changes
    access.ask(lambda connection: alter_configs(connection, ResourceType.TOPIC, lists))
    for broker in sorted(ours):
        # Last, since without the marks nobody would know whose the lists are.
        deletions = [ConfigChange(key, Operation.DELETE) for key in (*_RATES, MARK)]
        access.change_broker(placement, broker, deletions)
    return True


def _topic_lists(access: ClusterAccess, placement: Placement) -> dict[str, dict[str, ConfigValue]]:
    """Return the lists of throttled replicas that are set, by topic and key."""
    topics = sorted({partition.topic for partition in placement.partitions})
    found = {}
    for start in range(0, len(topics), TOPICS_AT_ONCE):
        some = topics[start : start + TOPICS_AT_ONCE]
        keys = (_LEADERS, _FOLLOWERS)
        answer = access.ask(
            partial(describe_configs, kind=ResourceType.TOPIC, names=some, keys=keys)
        )
        for topic, values in answer.items():
            lists = {key: each for key, each in values.items() if each.is_dynamic and each.value}
            if lists:
                found[topic] = lists
    return found


def _entries(found: ConfigValue) -> list[str]:
    """Return the entries `PARTITION:BROKER` of a list; or `*`, for all."""
    return (found.value or "").split(",")


def _owner(
    access: ClusterAccess, placement: Placement, ours: Collection[int]
) -> Callable[[str], bool]:
    """Return the function that tells whether an entry of a list is ours."""
    marked = {str(broker) for broker in ours}
    asked = {str(broker) for broker, each in placement.brokers.items() if not each.is_fenced}
    sees_all = access.controllers is not None or not ours

    def is_ours(entry: str) -> bool:
        broker = entry.partition(":")[2]
        return broker in marked or bool(broker and broker not in asked and not sees_all)

    return is_ours
