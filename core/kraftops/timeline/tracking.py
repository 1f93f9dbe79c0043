"""An incident while changes are read: who is away, and what it does to partitions."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftops.engine.metadata_state import PartitionState
from kraftops.timeline.changes import RECOVERING, MetadataChange

Key = tuple[str, int]
"""A partition by topic and number."""


class Fall(NamedTuple):
    """The moment at which a broker went away, and whether it had asked to."""

    time: int
    broker: int
    in_order: bool


@dataclass(slots=True)
class Harm:
    """Partitions of a topic in trouble of one kind: since when, and for how long at most, in ms."""

    since: dict[int, int] = field(default_factory=dict)
    partitions: set[int] = field(default_factory=set)
    longest: int = 0

    def set(self, number: int, time: int, *, is_bad: bool) -> None:
        """Note whether a partition is in trouble from a time on."""
        if is_bad:
            self.partitions.add(number)
            self.since.setdefault(number, time)
        elif number in self.since:
            self.longest = max(self.longest, time - self.since.pop(number))

    def longest_until(self, time: int) -> int:
        """Return the longest trouble, also one that lasts, in ms."""
        return max([self.longest, *(time - since for since in self.since.values())])


@dataclass(slots=True)
class Tracked:
    """An incident of brokers, of partitions that move, or of a topic; *cause* if it has no rule."""

    begin: int
    first_offset: int
    last_offset: int
    cause: str | None = None
    end: int | None = None
    brokers: dict[int, None] = field(default_factory=dict)  # in the order of their falls
    falls: list[Fall] = field(default_factory=list)
    away: set[int] = field(default_factory=set)
    overlaps: bool = False  # whether a broker went away before another was back
    registered: set[int] = field(default_factory=set)
    unregistered: set[int] = field(default_factory=set)
    back: int | None = None
    missing: dict[str, dict[int, set[int]]] = field(default_factory=dict)  # by topic and partition
    offline: dict[str, Harm] = field(default_factory=lambda: defaultdict(Harm))
    under_min_isr: dict[str, Harm] = field(default_factory=lambda: defaultdict(Harm))
    elections: int = 0
    unclean: list[Key] = field(default_factory=list)
    with_elr: set[Key] = field(default_factory=set)
    took_over: Counter[int] = field(default_factory=Counter)
    moved: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    config: MetadataChange | None = None

    @property
    def is_in_order(self) -> bool:
        """Whether all brokers went as they had asked."""
        return bool(self.falls) and all(fall.in_order for fall in self.falls)

    def fall(self, change: MetadataChange, broker: int, *, in_order: bool) -> None:
        """Note that a broker goes away."""
        self.brokers[broker] = None
        self.falls.append(Fall(change.time, broker, in_order))
        self.overlaps |= not self.away <= {broker}
        self.away.add(broker)
        self.end = self.back = None

    def take(self, change: MetadataChange) -> None:
        """Note what becomes of a partition whose leader or ISR has changed."""
        before, after = change.before, change.after
        assert isinstance(before, PartitionState)
        assert isinstance(after, PartitionState)
        assert change.topic is not None
        assert change.partition is not None
        key = change.topic, change.partition
        self.last_offset = change.offset
        lost = {*before.isr} - {*after.isr}
        absent = self.missing_of(key) | (lost & self.brokers.keys())
        self._set_missing(key, (absent - {*after.isr}) & {*after.replicas})
        self.offline[key[0]].set(key[1], change.time, is_bad=after.leader < 0)
        is_under = len(after.isr) < change.needed
        self.under_min_isr[key[0]].set(key[1], change.time, is_bad=is_under)
        if after.eligible_leader_replicas and not before.eligible_leader_replicas:
            self.with_elr.add(key)
        if after.leader == before.leader:
            return
        self.elections += after.leader >= 0
        if after.leader >= 0 and before.leader in self.brokers:
            self.took_over[after.leader] += 1
        if after.leader_recovery_state == RECOVERING != before.leader_recovery_state:
            self.unclean.append(key)

    def missing_of(self, key: Key) -> set[int]:
        """Return the brokers of the incident that the ISR of a partition waits for."""
        return self.missing.get(key[0], {}).get(key[1], set())

    def _set_missing(self, key: Key, brokers: set[int]) -> None:
        of_topic = self.missing.setdefault(key[0], {})
        if brokers:
            of_topic[key[1]] = brokers
            return
        of_topic.pop(key[1], None)
        if not of_topic:
            del self.missing[key[0]]

    def forget_topic(self, topic: str, time: int) -> None:
        """Note that a topic is deleted: nothing of it is in trouble any more."""
        self.missing.pop(topic, None)
        for harms in (self.offline, self.under_min_isr):
            if topic in harms:
                for number in list(harms[topic].since):
                    harms[topic].set(number, time, is_bad=False)

    def _is_leaderless(self) -> bool:
        return any(harm.since for harm in self.offline.values())

    def settle(self, time: int) -> None:
        """Note whether all is well again."""
        if self.away:
            return
        self.back = self.back if self.back is not None else time
        if self.end is None and not (self.missing or self._is_leaderless()):
            self.end = time
