"""Throttles of reassignments: set, found again after a kill, and removed.

A throttle has rates on brokers and lists of replicas on topics (KIP-73). Each broker whose rates
are ours has a mark, set and deleted in the same request as the rates. Before ours, there are no
others: so list entries of marked brokers are ours, and where a broker is marked, also those of
brokers that are down and cannot be asked.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.errors import RefusedError
from kraftops.java.numbers import parse_integer
from kraftops.placement.placement import Placement
from kraftops.placement.plan import Move
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.marks import Mark, Part, keys_of
from kraftops.reassign.settings import DIRECTORY_RATE, KEYS, RATES, clear_marked, marked_changes
from kraftops.wire.admin.configs import (
    ConfigChange,
    ConfigValue,
    Operation,
    ResourceType,
    alter_configs,
)

_LEADERS, _FOLLOWERS = (
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)


class Throttle(NamedTuple):
    """A throttle of ours: bytes per second and broker, and the mark of its operation."""

    rate: int
    mark: Mark


@dataclass(frozen=True, slots=True)
class Throttles:
    """The brokers with rates of ours, and brokers and topics with throttles of others."""

    ours: frozenset[int]
    other_brokers: list[int]
    other_topics: list[str]

    @property
    def others(self) -> list[str]:
        """Brokers and topics with throttles of others, in words."""
        brokers = (f"broker {broker}" for broker in self.other_brokers)
        return [*brokers, *(f"topic {topic}" for topic in self.other_topics)]


def find_throttles(access: ClusterAccess, placement: Placement) -> Throttles:
    """Ask for rates and lists of throttled replicas, and which of them we have set.

    Raises:
        WireError: a broker cannot be asked.
    """
    brokers = access.broker_configs(placement)
    ours = _marked(brokers)
    other_brokers = throttled_by_others(brokers)
    is_ours = _owner(access, placement, ours)
    other_topics = [
        topic
        for topic, values in _topic_lists(access, placement).items()
        if any(not is_ours(entry) for lists in values.values() for entry in _entries(lists))
    ]
    return Throttles(ours, other_brokers, other_topics)


def throttled_by_others(configs: Mapping[int, Mapping[str, ConfigValue]]) -> list[int]:
    throttled = {broker for broker, values in configs.items() if values.keys() & {*RATES}}
    return sorted(throttled - _marked(configs))


def rate_in(values: Mapping[str, ConfigValue], part: Part = Part.THROTTLE) -> int | None:
    """Take the lowest of a broker's own rates, in bytes/s; None without a throttle."""
    rates = [parse_integer(values[key].value or "", 64) for key in KEYS[part] if key in values]
    return min((rate for rate in rates if rate is not None), default=None)


def rates_of_brokers(access: ClusterAccess, placement: Placement) -> dict[int, int]:
    """Ask for rates in bytes/s, where there are any; errors as `find_throttles`."""
    configs = access.broker_configs(placement)
    rates = {broker: rate_in(values) for broker, values in configs.items()}
    return {broker: rate for broker, rate in rates.items() if rate is not None}


def set_throttle(
    access: ClusterAccess,
    placement: Placement,
    moves: Iterable[Move],
    throttle: Throttle,
    rated: Collection[int] = (),
) -> frozenset[int]:
    """Throttle the copies of moves.

    Return the brokers that take part; those that are *rated* have their rates already.

    Raises:
        WireError: a broker cannot be asked; some throttles may be set.
    """
    leaders: dict[str, list[str]] = defaultdict(list)
    followers: dict[str, list[str]] = defaultdict(list)
    running = {*placement.running}
    brokers: set[int] = set()
    for (topic, number), before, after, _ in moves:
        sources = [broker for broker in before if broker in running]
        added = [broker for broker in after if broker not in before and broker in running]
        if added:
            leaders[topic] += [f"{number}:{broker}" for broker in sources]
            followers[topic] += [f"{number}:{broker}" for broker in added]
            brokers.update(sources, added)
    # First, since the marks are beside the rates: entries without a mark would be another's.
    set_rates(access, placement, brokers.difference(rated), throttle)
    lists = {
        topic: [
            ConfigChange(_LEADERS, Operation.APPEND, ",".join(leaders[topic])),
            ConfigChange(_FOLLOWERS, Operation.APPEND, ",".join(followers[topic])),
        ]
        for topic in leaders
    }
    access.ask(alter_configs, ResourceType.TOPIC, lists)
    return frozenset(brokers)


def set_rates(
    access: ClusterAccess, placement: Placement, brokers: Collection[int], throttle: Throttle
) -> None:
    """Set the rates of brokers that run, with our mark.

    Raises:
        WireError: a broker cannot be asked; some rates may be set.
    """
    mark = throttle.mark.on(Part.THROTTLE)
    for broker, values in access.broker_configs(placement.part_of(brokers)).items():
        if placement.is_running(broker):
            changes = marked_changes(values, mark, str(throttle.rate))
            access.change_broker(placement, broker, changes)


def clear_throttles(
    access: ClusterAccess, placement: Placement, *, of_others: bool = False
) -> bool:
    """Remove all throttles of ours, or all those of others; tell whether there were any.

    Raises:
        WireError: a broker cannot be asked; some throttles may stay, with their marks.
        RefusedError: a broker with a throttle of ours is down, and no controllers are given.
    """
    configs = access.broker_configs(placement)
    ours = _marked(configs)
    brokers = throttled_by_others(configs) if of_others else ours
    if not brokers and not of_others:
        return False
    is_ours = _owner(access, placement, ours)
    lists = {}
    for topic, values in _topic_lists(access, placement).items():
        changes = []
        for key, value in values.items():
            entries = _entries(value)
            removed = [entry for entry in entries if is_ours(entry) is not of_others]
            if len(removed) == len(entries):
                # Subtracting the last entry would leave an empty list.
                changes.append(ConfigChange(key, Operation.DELETE))
            elif removed:
                changes.append(ConfigChange(key, Operation.SUBTRACT, ",".join(removed)))
        if changes:
            lists[topic] = changes
    access.ask(alter_configs, ResourceType.TOPIC, lists)
    # Last: without the marks, the owner of the lists would be unknown.
    if not of_others:
        clear_marked(access, placement, brokers, Part.THROTTLE)
    for broker in sorted(brokers) if of_others else ():
        keys = [key for key in RATES if key in configs[broker]]
        deletions = [ConfigChange(key, Operation.DELETE) for key in keys]
        access.change_broker(placement, broker, deletions)
    return bool(brokers or lists)


def set_directory_rate(
    access: ClusterAccess, placement: Placement, broker: int, throttle: Throttle
) -> None:
    """Set the rate of copies between the directories of a broker, with our mark.

    Raises:
        RefusedError: another has set it.
        WireError: the broker cannot be asked.
    """
    values = access.broker_configs(placement.part_of((broker,))).get(broker, {})
    if DIRECTORY_RATE in values and not keys_of(values, Part.DIRECTORY_THROTTLE):
        raise RefusedError(
            f"broker {broker} already has a throttle of another tool: {DIRECTORY_RATE}",
            hint="leave --throttle out, or remove it by kafka-configs",
        )
    mark = throttle.mark.on(Part.DIRECTORY_THROTTLE)
    access.change_broker(placement, broker, marked_changes(values, mark, str(throttle.rate)))


def _marked(configs: Mapping[int, Mapping[str, ConfigValue]]) -> frozenset[int]:
    return frozenset(broker for broker, values in configs.items() if keys_of(values, Part.THROTTLE))


def _topic_lists(access: ClusterAccess, placement: Placement) -> dict[str, dict[str, ConfigValue]]:
    """Ask for lists of throttled replicas that are not empty, by topic and key."""
    lists = {
        topic: {key: entry for key, entry in values.items() if entry.is_dynamic and entry.value}
        for topic, values in access.topic_configs(placement, (_LEADERS, _FOLLOWERS)).items()
    }
    return {topic: values for topic, values in lists.items() if values}


def _entries(config: ConfigValue) -> list[str]:
    """Split a list into `PARTITION:BROKER`; `*` stands for all."""
    return (config.value or "").split(",")


def _owner(
    access: ClusterAccess, placement: Placement, ours: Collection[int]
) -> Callable[[str], bool]:
    """Make a predicate: whether we, not another tool, set an entry of a throttle list."""
    marked = {str(broker) for broker in ours}
    asked = {*map(str, placement.running)}
    sees_all = access.controllers is not None or not ours

    def is_ours(entry: str) -> bool:
        broker = entry.partition(":")[2]
        return broker in marked or bool(broker and broker not in asked and not sees_all)

    return is_ours
