"""The reference's timeline: levels and counts in buckets, losses of partitions, kept changes."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kraftops.engine.metadata_state import (
    KEPT_LEADER,
    TOPIC_RESOURCE,
    EntryChange,
    is_under_replicated,
)
from kraftops.engine.timeline_contract import (
    BROKER_RESOURCE,
    DEFAULT_MIN_ISR,
    LEVELS,
    MIN_ISR,
    MOST_BROKERS,
    Loss,
    TimedChange,
    Timeline,
    TimelineRequest,
)
from kraftops.records import metadata_numbers as types

_RECOVERING = 1  # `LeaderRecoveryState.RECOVERING`
_LONG_AGO = -(1 << 62)


@dataclass(slots=True)
class _Track:
    """A partition over time; lists are by `LEVELS`."""

    leader: int = -1
    replicas: int = 0
    adding: int = 0  # of the replicas
    isr: list[int] = field(default_factory=list)
    holds: list[bool] = field(default_factory=lambda: [False] * len(LEVELS))
    ever: list[bool] = field(default_factory=lambda: [False] * len(LEVELS))
    since: list[int] = field(default_factory=lambda: [_LONG_AGO] * len(LEVELS))
    lost: list[int] = field(default_factory=lambda: [0] * len(LEVELS))
    elections: int = 0
    isr_changes: int = 0
    trouble: int | None = None


@dataclass(slots=True)
class _Topic:
    """A topic over time, also after its removal."""

    name: str
    is_deleted: bool = False
    tracks: dict[int, _Track] = field(default_factory=dict)


class _Buckets:
    """Series of numbers in buckets that widen with the span of time."""

    def __init__(self, request: TimelineRequest) -> None:
        self.steps = request.steps
        self.most = request.buckets
        self.at = 0  # the place of the step
        self.origin: int | None = None  # the number of the first bucket
        self.peaks: list[list[int]] = [[] for _ in LEVELS]
        self.counts: dict[tuple[str, int | None], list[int]] = {}
        self._brokers: set[int] = set()

    @property
    def step(self) -> int:
        """The width of a bucket in ms."""
        return self.steps[self.at]

    def reach(self, time: int, levels: Sequence[int]) -> int:
        """Return the index of the bucket of a time; buckets before it are filled with *levels*."""
        if self.origin is None:
            self.origin = time // self.step
        while time // self.step - self.origin >= self.most and self.at + 1 < len(self.steps):
            self._widen()
        place = min(time // self.step - self.origin, self.most - 1)
        for peaks, level in zip(self.peaks, levels, strict=True):
            peaks.extend([level] * (place + 1 - len(peaks)))
        return place

    def count(self, name: str, broker: int | None, place: int) -> None:
        """Count an event."""
        if broker is not None and broker not in self._brokers:
            if len(self._brokers) >= MOST_BROKERS:
                return
            self._brokers.add(broker)
        values = self.counts.setdefault((name, broker), [])
        values.extend([0] * (place + 1 - len(values)))
        values[place] += 1

    def _widen(self) -> None:
        assert self.origin is not None
        factor = self.steps[self.at + 1] // self.step
        self.at += 1
        before, self.origin = self.origin, self.origin // factor
        shift = before - self.origin * factor
        self.peaks = [_joined(values, factor, shift, is_sum=False) for values in self.peaks]
        self.counts = {
            key: _joined(values, factor, shift, is_sum=True) for key, values in self.counts.items()
        }


def _joined(values: list[int], factor: int, shift: int, *, is_sum: bool) -> list[int]:
    """Return the sums or the highest of *factor* values each; the first *shift* are missing."""
    buckets: list[int] = []
    for place, value in enumerate(values, shift):
        if place // factor == len(buckets):
            buckets.append(value)
        elif is_sum:
            buckets[-1] += value
        else:
            buckets[-1] = max(buckets[-1], value)
    return buckets


class TimelineNotes:
    """Notes what happens over time; see `kraftops.engine.timeline_contract`."""

    def __init__(self, request: TimelineRequest) -> None:
        self._request = request
        self._buckets = _Buckets(request)
        self._base = 0
        self._append_time: int | None = None
        self._now: int | None = None
        self._began: int | None = None
        self._is_started = False
        self._place = 0
        self._levels = [0] * len(LEVELS)
        self._topics: list[_Topic] = []
        self._by_id: dict[bytes, _Topic] = {}
        self._by_name: dict[str, _Topic] = {}
        self._min_isr: dict[str, int] = {}
        self._default_min_isr = DEFAULT_MIN_ISR
        self._firsts: dict[str, tuple[int, int]] = {}
        self._kept: dict[str, deque[tuple[int, TimedChange]]] = {}
        self._kept_count = 0
        self._left_out: dict[str, int] = {}
        self._odd = self._jump = 0
        self._first_odd: int | None = None

    def set_clock(self, base: int, append_time: int | None) -> None:
        """Note the times of the batch whose records come next."""
        self._base, self._append_time = base, append_time

    def start(self, time: int | None) -> None:
        """Begin after the state is known, which is of this time."""
        self._is_started = True
        if time is not None and self._is_possible(time):
            self._now = time if self._now is None else max(time, self._now)

    def tick(self, delta: int, address: int) -> None:
        """Take the next record: its time after that of its batch, and its address."""
        if not self._is_started:
            return
        time = self._base + delta if self._append_time is None else self._append_time
        before, now = self._now, self._now
        if self._is_possible(time):
            if now is not None and time < now:
                self._note_odd(address)
                self._jump = max(self._jump, now - time)
            else:
                now = time
        else:
            self._note_odd(address)
        self._now = now
        if now is None:
            return
        if self._began is None:
            if now < self._request.since:
                return
            self._began = now if before is None else max(self._request.since, before)
            self._buckets.reach(self._began, self._levels)
        self._place = self._buckets.reach(now, self._levels)
        self._buckets.count("records", None, self._place)

    def keep(self, changes: Sequence[EntryChange], address: int) -> None:
        if self._began is None or self._now is None:
            return
        for change in changes:
            kept = self._kept.setdefault(change.table, deque())
            kept.append((self._kept_count, TimedChange(self._now, address, change)))
            self._kept_count += 1
            if len(kept) > self._request.kept:
                kept.popleft()
                self._left_out[change.table] = self._left_out.get(change.table, 0) + 1

    def apply(
        self, number: int, data: Any, address: int, has_min_isr: Callable[[str], bool]
    ) -> None:
        """Take a record that changed the state.

        Args:
            number: its type.
            data: its fields.
            address: its address.
            has_min_isr: tells whether the state has a min ISR for the name of a topic.
        """
        if number == types.TOPIC:
            self._remove(data["topicId"])
            topic = _Topic(data["name"])
            self._topics.append(topic)
            self._by_id[data["topicId"]] = self._by_name[topic.name] = topic
        elif number == types.REMOVE_TOPIC:
            gone = self._remove(data["topicId"])
            if gone is not None and not has_min_isr(gone.name):
                self._min_isr.pop(gone.name, None)
        elif number == types.PARTITION:
            self._put(data, address)
        elif number == types.PARTITION_CHANGE:
            self._change(data, address)
        elif number == types.CONFIG and data["name"] == MIN_ISR:
            self._put_min_isr(data, address)

    def timeline(self) -> Timeline:
        buckets = self._buckets
        has_buckets = buckets.origin is not None
        series: dict[tuple[str, int | None], list[int]] = {}
        for name, peaks in zip(LEVELS, buckets.peaks, strict=True):
            series[name, None] = _trimmed(peaks)
        for key, values in buckets.counts.items():
            series[key] = _trimmed(values)
        changes = sorted(change for kept in self._kept.values() for change in kept)
        touched = [0] * len(LEVELS)
        partitions: list[tuple[int, Loss]] = []
        topics: list[tuple[int, Loss]] = []
        for place, topic in enumerate(self._topics):
            losses = list(self._losses(topic, touched))
            partitions += ((place, loss) for loss in losses)
            if losses:
                topics.append((place, _sum(losses)))
        most = self._request.worst
        return Timeline(
            start=buckets.origin * buckets.step if buckets.origin is not None else None,
            step=buckets.step if has_buckets else None,
            began=self._began,
            end=self._now if has_buckets else None,
            series=series,
            firsts=self._firsts,
            changes=[change for _, change in changes],
            left_out=self._left_out,
            touched=dict(zip(LEVELS, touched, strict=True)),
            levels=dict(zip(LEVELS, self._levels, strict=True)),
            replicas=sum(
                track.replicas for topic in self._by_id.values() for track in topic.tracks.values()
            ),
            partitions=_worst(partitions, most),
            partitions_left_out=max(len(partitions) - most, 0),
            topics=_worst(topics, most),
            topics_left_out=max(len(topics) - most, 0),
            odd=self._odd,
            jump=self._jump,
            first_odd=self._first_odd,
        )

    def _is_possible(self, time: int) -> bool:
        return self._request.earliest <= time <= self._request.latest

    def _note_odd(self, address: int) -> None:
        self._odd += 1
        if self._first_odd is None:
            self._first_odd = address

    def _count(self, name: str, broker: int | None, address: int) -> None:
        self._buckets.count(name, broker, self._place)
        self._note_first(name, address)

    def _note_first(self, name: str, address: int) -> None:
        if self._began is not None and self._now is not None:
            self._firsts.setdefault(name, (self._now, address))

    def _remove(self, topic_id: bytes) -> _Topic | None:
        topic = self._by_id.pop(topic_id, None)
        if topic is None:
            return None
        if self._by_name.get(topic.name) is topic:
            del self._by_name[topic.name]
        topic.is_deleted = True
        for track in topic.tracks.values():
            for level, holds in enumerate(track.holds):
                if holds:
                    self._leave(track, level)
        topic.tracks = {
            number: track
            for number, track in topic.tracks.items()
            if any(track.lost) or any(track.ever) or track.elections or track.isr_changes
        }
        return topic

    def _put(self, data: Any, address: int) -> None:
        topic = self._by_id.get(data["topicId"])
        if topic is None:
            return
        track = topic.tracks.setdefault(data["partitionId"], _Track())
        track.leader = data["leader"]
        track.replicas, track.isr = len(data["replicas"]), list(data["isr"])
        track.adding = len(data["addingReplicas"] or ())
        self._settle(topic, track, address)

    def _change(self, data: Any, address: int) -> None:
        topic = self._by_id.get(data["topicId"])
        track = None if topic is None else topic.tracks.get(data["partitionId"])
        if topic is None or track is None:
            return
        is_counting = self._began is not None
        leader = data.get("leader", KEPT_LEADER)
        if leader != KEPT_LEADER:
            if is_counting and leader >= 0 and leader != track.leader:
                track.elections += 1
                track.trouble = address if track.trouble is None else track.trouble
                self._count("elections", None, address)
                self._count("elections", leader, address)
                if data.get("leaderRecoveryState", -1) == _RECOVERING:
                    self._count("uncleanElections", None, address)
                    self._count("uncleanElections", leader, address)
            track.leader = leader
        isr = data.get("isr")
        if isr is not None:
            if is_counting:
                self._count_isr(track, isr, address)
            track.isr = list(isr)
        if data.get("replicas") is not None:
            track.replicas = len(data["replicas"])
        if data.get("addingReplicas") is not None:
            track.adding = len(data["addingReplicas"])
        self._settle(topic, track, address)

    def _count_isr(self, track: _Track, isr: Sequence[int], address: int) -> None:
        old, new = set(track.isr), set(isr)
        for name, brokers in (("isrShrinks", old - new), ("isrExpands", new - old)):
            if brokers:
                self._count(name, None, address)
                for broker in sorted(brokers):
                    self._count(name, broker, address)
        track.isr_changes += old != new

    def _put_min_isr(self, data: Any, address: int) -> None:
        value, name = data["value"], data["resourceName"]
        number = int(value) if value is not None and _is_number(value) else None
        if data["resourceType"] == TOPIC_RESOURCE:
            if number is None:
                self._min_isr.pop(name, None)
            else:
                self._min_isr[name] = number
            topic = self._by_name.get(name)
            chosen = [] if topic is None else [topic]
        elif data["resourceType"] == BROKER_RESOURCE and not name:
            self._default_min_isr = DEFAULT_MIN_ISR if number is None else number
            chosen = list(self._by_id.values())
        else:
            return
        for topic in chosen:
            for track in topic.tracks.values():
                self._settle(topic, track, address)

    def _settle(self, topic: _Topic, track: _Track, address: int) -> None:
        """Enter and leave levels after a change of a partition."""
        min_isr = self._min_isr.get(topic.name, self._default_min_isr)
        needed = max(min(min_isr, track.replicas), 1)
        in_sync = len(track.isr)
        is_behind = is_under_replicated(in_sync, track.replicas, track.adding)
        holds = (track.leader < 0, in_sync < needed, is_behind)
        for level, is_there in enumerate(holds):
            if is_there == track.holds[level]:
                continue
            if is_there:
                track.holds[level] = True
                track.since[level] = _LONG_AGO if self._began is None else self._now or 0
                self._levels[level] += 1
                if self._began is not None:
                    track.trouble = address if track.trouble is None else track.trouble
                    self._note_first(LEVELS[level], address)
                    peaks = self._buckets.peaks[level]
                    peaks[-1] = max(peaks[-1], self._levels[level])
            else:
                self._leave(track, level)

    def _leave(self, track: _Track, level: int) -> None:
        track.holds[level] = False
        self._levels[level] -= 1
        if self._began is not None:
            track.ever[level] = True
            track.lost[level] += self._spent(track, level)

    def _spent(self, track: _Track, level: int) -> int:
        """Return the ms since a partition came to a level, within the timeline."""
        if self._began is None or self._now is None:
            return 0
        return self._now - max(track.since[level], self._began)

    def _losses(self, topic: _Topic, touched: list[int]) -> Iterator[Loss]:
        for number, track in topic.tracks.items():
            lost = list(track.lost)
            for level, holds in enumerate(track.holds):
                is_touched = track.ever[level] or (holds and self._began is not None)
                touched[level] += is_touched
                if holds:
                    lost[level] += self._spent(track, level)
            if any(lost) or track.elections or track.isr_changes:
                yield Loss(
                    topic=topic.name,
                    number=number,
                    is_deleted=topic.is_deleted,
                    offline=lost[0],
                    under_min_isr=lost[1],
                    under_replicated=lost[2],
                    elections=track.elections,
                    isr_changes=track.isr_changes,
                    address=track.trouble,
                )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def _trimmed(values: list[int]) -> list[int]:
    end = len(values)
    while end and not values[end - 1]:
        end -= 1
    return values[:end]


def _sum(losses: list[Loss]) -> Loss:
    addresses = [loss.address for loss in losses if loss.address is not None]
    return Loss(
        topic=losses[0].topic,
        number=len(losses),
        is_deleted=losses[0].is_deleted,
        offline=sum(loss.offline for loss in losses),
        under_min_isr=sum(loss.under_min_isr for loss in losses),
        under_replicated=sum(loss.under_replicated for loss in losses),
        elections=sum(loss.elections for loss in losses),
        isr_changes=sum(loss.isr_changes for loss in losses),
        address=min(addresses, default=None),
    )


def _worst(losses: list[tuple[int, Loss]], most: int) -> list[Loss]:
    def rank(item: tuple[int, Loss]) -> tuple[object, ...]:
        place, loss = item
        return (
            -loss.offline,
            -loss.under_min_isr,
            -loss.under_replicated,
            -loss.elections,
            -loss.isr_changes,
            place,
            loss.number,
        )

    return [loss for _, loss in sorted(losses, key=rank)[:most]]
