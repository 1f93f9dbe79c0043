"""Incidents: changes of a metadata log with one cause, from begin to end, and what they did."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from kraftops.engine.metadata_state import PartitionState
from kraftops.engine.timeline_contract import MIN_ISR
from kraftops.image.state.image import MetadataImage
from kraftops.timeline import rules
from kraftops.timeline.changes import ChangeLog, MetadataChange
from kraftops.timeline.tracking import Tracked
from kraftops.timeline.words import BROKER_DEFAULTS

_DEFAULT_MIN_ISR = f"{BROKER_DEFAULTS} {MIN_ISR}"


@dataclass(frozen=True, slots=True)
class TopicHarm:
    """What an incident did to a topic: partitions, and the longest time in ms, of each trouble."""

    topic: str
    offline: int
    longest_offline: int
    under_min_isr: int
    longest_under_min_isr: int
    moved: int


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident; *end* is None while it goes on.

    *back* is when the last broker was back, *end* when its partitions were in sync, too. *rack* is
    that of all its brokers. *is_at_risk* says that replicas are still away which may have records
    that leaders of unclean elections lack. *config* is the change of a feature, or of a
    configuration before it.
    """

    cause: str
    begin: int
    back: int | None
    end: int | None
    brokers: tuple[int, ...]
    falls: int
    rack: str | None
    topics: tuple[TopicHarm, ...]
    elections: int
    unclean: tuple[str, ...]
    is_at_risk: bool
    with_elr: int
    took_over: Mapping[int, int]
    config: str | None
    first_offset: int
    last_offset: int


def incidents_of(log: ChangeLog) -> list[Incident]:
    """Return the incidents that changes make, by their beginning.

    The start-up of a cluster is not one: a broker must have been there to go away.
    """
    tracker = _Tracker()
    for _, together in groupby(log.changes, key=lambda change: change.time):
        # Of the records of a batch, those about brokers tell why partitions change.
        for change in sorted(together, key=lambda change: change.kind != "broker"):
            tracker.take(change)
    racks = _racks(log.image, log.changes)
    now = log.image.provenance.timestamp
    return [
        _incident(incident, racks, now)
        for incident in _with_rolling_restarts(tracker.incidents)
        if incident.brokers or incident.moved or incident.config
    ]


def _with_rolling_restarts(incidents: Iterable[Tracked]) -> list[Tracked]:
    """Return incidents by their beginning; stops in order that belong together are one."""
    ordered: list[Tracked] = []
    latest: Tracked | None = None  # a rolling restart stops nothing else in between
    for incident in sorted(incidents, key=lambda incident: incident.first_offset):
        if latest is not None and latest.goes_on_with(incident):
            latest.join(incident)
            continue
        ordered.append(incident)
        if incident.falls:
            latest = incident
    return ordered


class _Tracker:
    """Gives each change to the incident that it belongs to."""

    def __init__(self) -> None:
        self.incidents: list[Tracked] = []
        self._by_broker: dict[int, Tracked] = {}  # the latest
        self._directories: list[Tracked] = []  # that are lost, while brokers fall and come back
        self._moving: Tracked | None = None
        self._in_flight: set[tuple[str, int]] = set()
        self._taken = -1
        self._deleted: dict[str, MetadataChange] = {}
        self._configs: dict[str | None, MetadataChange] = {}  # None is the default

    def take(self, change: MetadataChange) -> None:
        """Take the next change of the log."""
        if change.kind == "broker" and change.broker is not None:
            self._take_broker(change, change.broker)
        elif change.kind in ("leader", "isr"):
            self._take_partition(change)
        elif isinstance(change.after, PartitionState):
            self._take_replicas(change)
        elif change.kind == "topic" and change.topic is not None:
            self._take_topic(change, change.topic)
        elif change.kind == "config" and (change.topic or change.what == _DEFAULT_MIN_ISR):
            if change.what.endswith(f" {MIN_ISR}"):
                self._configs[change.topic] = change
        elif change.kind == "quorum" and change.before is not None:
            self._take_leader(change)
        elif change.kind == "feature" and change.old is not None:
            tracked = self._new(change, rules.FEATURE_CHANGED)
            tracked.config, tracked.end = change, change.time

    def _new(self, change: MetadataChange, cause: str | None = None) -> Tracked:
        tracked = Tracked(change.time, change.offset, change.offset, cause)
        self.incidents.append(tracked)
        return tracked

    def _take_broker(self, change: MetadataChange, broker: int) -> None:
        before, after = change.before, change.after
        tracked = self._by_broker.get(broker)
        if before is None:
            return
        was_there = not before["fenced"] and not before["inControlledShutdown"]
        is_new = after is not None and before["brokerEpoch"] != after["brokerEpoch"]
        stops = after is not None and after["inControlledShutdown"] and not is_new
        if was_there and (after is None or is_new or after["fenced"] or stops):
            tracked = self._fallen(change, broker, in_order=stops or after is None)
        elif was_there and len(after["logDirs"]) < len(before["logDirs"]):
            tracked = self._by_broker[broker] = self._new(change, rules.DIRECTORY_FAILED)
            self._directories.append(tracked)
            tracked.brokers[broker] = None
        if tracked is None:
            return
        tracked.note(change.offset)
        if is_new:
            tracked.registered.add(broker)
        if after is None:
            tracked.unregistered.add(broker)
        if after is None or (before["fenced"] and not after["fenced"]):
            tracked.away.discard(broker)
        if tracked.end is None:
            tracked.settle(change.time)

    def _fallen(self, change: MetadataChange, broker: int, *, in_order: bool) -> Tracked:
        """Return the incident of a broker that goes away: its own, that of others, or a new one."""
        own = self._by_broker.get(broker)
        if own is not None and not self._goes_on(own, change.time, in_order=in_order):
            own = None
        tracked = own or (None if in_order else self._of_others(change.time, broker))
        if tracked is None:
            tracked = self._new(change)
        self._by_broker[broker] = tracked
        tracked.fall(change, broker, in_order=in_order)
        return tracked

    @staticmethod
    def _goes_on(own: Tracked, time: int, *, in_order: bool) -> bool:
        if own.end is None:  # a broker that lost a directory lives on without it
            return own.cause != rules.DIRECTORY_FAILED
        # What several brokers had together is over once all are back.
        is_alone = len(own.brokers) == 1
        may_flap = is_alone and not in_order and not own.is_in_order
        return may_flap and time - own.end <= rules.FLAPPING_PAUSE

    def _of_others(self, time: int, broker: int) -> Tracked | None:
        for tracked in reversed(self.incidents):
            if (
                tracked.falls
                and broker not in tracked.brokers
                and tracked.end is None
                and not tracked.is_in_order
                and time - tracked.begin <= rules.TOGETHER
            ):
                return tracked
        return None

    def _take_partition(self, change: MetadataChange) -> None:
        if change.offset == self._taken:
            return  # a record that changes leader and ISR makes two changes
        self._taken = change.offset
        before, after = change.before, change.after
        lost = ({*before.isr} - {*after.isr}) & {*after.replicas}
        for broker in lost:
            tracked = self._by_broker.get(broker)
            if (tracked is None or tracked.end is not None) and change.cause.startswith("leader "):
                slow = self._new(change, rules.SLOW_REPLICAS)
                slow.brokers[broker] = None
                self._by_broker[broker] = slow
        assert change.topic is not None
        assert change.partition is not None
        key = change.topic, change.partition
        touched = lost | {before.leader, after.leader}
        latest = (*self._by_broker.values(), *self._directories)
        for tracked in {id(tracked): tracked for tracked in latest}.values():
            if tracked.end is not None and tracked.end < change.time:
                continue
            if tracked.missing_of(key) or not touched.isdisjoint(tracked.brokers):
                tracked.end = None  # what a lost directory does comes in the batch that reports it
                tracked.take(change)
                self._note_config(tracked, change)
                tracked.settle(change.time)

    def _note_config(self, tracked: Tracked, change: MetadataChange) -> None:
        """Note a configuration that made a partition need all its replicas before the incident."""
        config = self._configs.get(change.topic) or self._configs.get(None)
        if config is None or not 0 <= tracked.begin - config.time <= rules.CONFIG_BEFORE:
            return
        if len(change.after.isr) < change.needed == len(change.after.replicas) > 1:
            tracked.config = config

    def _take_replicas(self, change: MetadataChange) -> None:
        after = change.after
        if change.topic is None or change.partition is None or change.before is None:
            return
        moving = self._moving
        if moving is None or (moving.end is not None and change.time - moving.end > rules.TOGETHER):
            moving = self._moving = self._new(change, rules.REASSIGNED)
        key = change.topic, change.partition
        moving.moved[key[0]].add(key[1])
        moving.note(change.offset)
        if after.adding_replicas or after.removing_replicas:
            self._in_flight.add(key)
        else:
            self._in_flight.discard(key)
        moving.end = None if self._in_flight else change.time

    def _take_topic(self, change: MetadataChange, topic: str) -> None:
        if change.new is None:
            self._deleted[topic] = change
            for tracked in self.incidents:
                if tracked.end is None:
                    tracked.forget_topic(topic, change.time)
                    if tracked.falls:
                        tracked.settle(change.time)
            return
        deleted = self._deleted.pop(topic, None)
        if deleted is not None and change.time - deleted.time <= rules.RECREATED:
            tracked = self._new(deleted, rules.CREATED_AGAIN)
            tracked.moved[topic] = set()
            tracked.end = change.time
            tracked.note(change.offset)

    def _take_leader(self, change: MetadataChange) -> None:
        if change.before != change.after:
            tracked = self._new(change, rules.CONTROLLER_FAILOVER)
            tracked.brokers = {change.after: None}
            tracked.back = tracked.end = change.time


def _racks(image: MetadataImage, changes: Iterable[MetadataChange]) -> dict[int, str | None]:
    racks = {
        change.broker: state["rack"]
        for change in changes
        if change.kind == "broker" and change.broker is not None
        for state in (change.before, change.after)
        if state is not None
    }
    for broker, entry in image.brokers.items():
        racks.setdefault(broker, image.broker_state(entry, whole=False)["rack"])
    return racks


def _incident(tracked: Tracked, racks: Mapping[int, str | None], now: int) -> Incident:
    own = {racks.get(broker) for broker in tracked.brokers}
    rack = next(iter(own)) if len(own) == 1 else None
    of_rack = {broker for broker, other in racks.items() if other == rack}
    tracked.is_rack = (
        rack is not None and of_rack == tracked.brokers.keys() and 1 < len(of_rack) < len(racks)
    )
    end = now if tracked.end is None else tracked.end
    names = dict.fromkeys((*tracked.offline, *tracked.under_min_isr, *tracked.moved))
    topics = [
        TopicHarm(
            topic=name,
            offline=len(tracked.offline[name].partitions),
            longest_offline=tracked.offline[name].longest_until(end),
            under_min_isr=len(tracked.under_min_isr[name].partitions),
            longest_under_min_isr=tracked.under_min_isr[name].longest_until(end),
            moved=len(tracked.moved[name]),
        )
        for name in sorted(names)
    ]
    config = tracked.config
    return Incident(
        cause=next(rule.cause for rule in rules.RULES if rule.applies(tracked)),
        begin=tracked.begin,
        back=tracked.back,
        end=tracked.end,
        brokers=tuple(tracked.brokers),
        falls=len(tracked.falls),
        rack=rack,
        topics=tuple(topics),
        elections=len(tracked.elections),
        unclean=tuple(f"{topic}-{number}" for topic, number in tracked.unclean),
        is_at_risk=any(map(tracked.missing_of, tracked.unclean)),
        with_elr=len(tracked.with_elr),
        took_over=dict(sorted(Counter(tracked.took_over.values()).items())),
        config=None if config is None else _config_text(config),
        first_offset=tracked.first_offset,
        last_offset=tracked.last_offset,
    )


def _config_text(change: MetadataChange) -> str:
    return f"{change.what}: {change.old or 'default'} → {change.new or 'default'}"
