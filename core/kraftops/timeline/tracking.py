"""An incident while changes are read: who is away, and what it does to partitions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftops.engine.metadata_state import PartitionState
from kraftops.timeline.changes import RECOVERING, MetadataChange

ROLLING = 300_000
"""ms between the stops of a rolling restart: a broker that loads many partitions takes minutes."""
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

    def join(self, other: Harm) -> None:
        """Add the trouble that another incident of the same time made."""
        self.since = {**other.since, **self.since}
        self.partitions |= other.partitions
        self.longest = max(self.longest, other.longest)

    def longest_until(self, time: int) -> int:
        """Return the longest trouble, also one that lasts, in ms."""
        return max([self.longest, *(time - since for since in self.since.values())])


@dataclass(slots=True)
class Tracked:
    """An incident of brokers, of partitions that move, or of a topic.

    *cause* is what it begins as, if one change tells.
    """

    begin: int
    first_offset: int
    last_offset: int
    cause: str | None = None
    end: int | None = None
    brokers: dict[int, None] = field(default_factory=dict)  # in the order of their falls
    falls: list[Fall] = field(default_factory=list)
    away: set[int] = field(default_factory=set)
    overlaps: bool = False  # whether a broker went away before another was back
    is_rack: bool = False  # whether its brokers are all those of a rack, and there are others
    registered: set[int] = field(default_factory=set)
    unregistered: set[int] = field(default_factory=set)
    back: int | None = None
    missing: dict[str, dict[int, set[int]]] = field(default_factory=dict)  # by topic and partition
    offline: dict[str, Harm] = field(default_factory=lambda: defaultdict(Harm))
    under_min_isr: dict[str, Harm] = field(default_factory=lambda: defaultdict(Harm))
    elections: set[int] = field(default_factory=set)  # offsets of records
    unclean: list[Key] = field(default_factory=list)
    with_elr: set[Key] = field(default_factory=set)
    took_over: dict[int, int] = field(default_factory=dict)  # new leaders, by those offsets
    moved: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    config: MetadataChange | None = None

    @property
    def is_in_order(self) -> bool:
        """Whether all brokers went as they had asked."""
        return bool(self.falls) and all(fall.in_order for fall in self.falls)

    def note(self, offset: int) -> None:
        """Note that a record is a part of it; those of a batch come in any order."""
        self.first_offset = min(self.first_offset, offset)
        self.last_offset = max(self.last_offset, offset)

    def goes_on_with(self, later: Tracked) -> bool:
        """Tell whether a later stop belongs to this one: a rolling restart, or both at a time."""
        if not (self.is_in_order and later.is_in_order) or self.brokers.keys() & later.brokers:
            return False
        is_soon = later.begin - self.falls[-1].time <= ROLLING
        are_restarts = all(
            incident.registered >= incident.brokers.keys() and not incident.away
            for incident in (self, later)
        )
        return is_soon and (are_restarts or self._overlaps(later))

    def _overlaps(self, later: Tracked) -> bool:
        return self.back is None or later.begin < self.back

    def join(self, later: Tracked) -> None:
        """Take over what a later incident has: both are one."""
        self.overlaps |= self._overlaps(later)
        self.last_offset = max(self.last_offset, later.last_offset)
        self.back = None if self.back is None or later.back is None else max(self.back, later.back)
        self.end = None if self.end is None or later.end is None else max(self.end, later.end)
        self.brokers |= later.brokers
        self.falls += later.falls
        self.away |= later.away
        self.registered |= later.registered
        self.unregistered |= later.unregistered
        for own, others in (
            (self.offline, later.offline),
            (self.under_min_isr, later.under_min_isr),
        ):
            for topic, harm in others.items():
                own[topic].join(harm)
        self.elections |= later.elections
        self.unclean += [key for key in later.unclean if key not in self.unclean]
        self.with_elr |= later.with_elr
        self.took_over |= later.took_over
        self.config = self.config or later.config

    def fall(self, change: MetadataChange, broker: int, *, in_order: bool) -> None:
        """Note that a broker goes away."""
        self.brokers[broker] = None
        self.falls.append(Fall(change.time, broker, in_order))
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
        self.note(change.offset)
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
        if after.leader >= 0:
            self.elections.add(change.offset)
            if before.leader in self.brokers:
                self.took_over[change.offset] = after.leader
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
        """Note that a topic is deleted: none of it is in trouble."""
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
