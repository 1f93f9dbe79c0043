"""The changes of a metadata log, in order: what was changed, from what to what, and by what."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

from kraftops.engine.fold_contract import POSITION_BITS
from kraftops.engine.metadata_state import (
    CHANGED_PARTITIONS,
    TOPIC_RESOURCE,
    VERSION_FEATURE,
    EntryChange,
    EntryKey,
    PartitionState,
)
from kraftops.engine.reference.folding.partitions import registered
from kraftops.engine.timeline_contract import BROKER_RESOURCE, MIN_ISR
from kraftops.errors import KraftopsError
from kraftops.image.load.loading import limits_of
from kraftops.image.replay.events import (
    ControlRecordRead,
    EntriesChanged,
    Event,
    TransactionAborted,
    TransactionBegun,
    TransactionEnded,
)
from kraftops.image.replay.limits import Limits
from kraftops.image.state.broker import BrokerState
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.min_isr import NamedMinIsr
from kraftops.image.travel.search import TABLES
from kraftops.image.travel.travel import Travel
from kraftops.java.numbers import parse_integer
from kraftops.memory import USUAL, Budget
from kraftops.timeline.words import WORDED, broker_text, status_text, topic_text, words_of
from kraftops.uuids import to_text

Kind = Literal[
    "broker", "leader", "isr", "topic", "config", "acl", "quota", "user", "feature", "quorum"
]
KINDS: tuple[Kind, ...] = (
    "broker", "leader", "isr", "topic", "config", "acl", "quota", "user", "feature", "quorum",
)  # fmt: skip
RECOVERING = 1
"""LeaderRecoveryState: the leader was elected uncleanly, and may lack records (KIP-704)."""
CLIENT = "client"
"""The cause of what clients ask for: no record says who they are."""
REASSIGNMENT = "reassignment"
PREFERRED_ELECTION = "election of preferred leaders"
_KIND_OF: Mapping[str, Kind] = {
    "configs": "config",
    "acls": "acl",
    "quotas": "quota",
    "scram": "user",
    "tokens": "user",
    "features": "feature",
    "controllers": "quorum",
}


@dataclass(frozen=True, slots=True)
class MetadataChange:
    """A change: *old* and *new* are words, None where there was nothing or nothing is left.

    *before* and *after* are the states of a partition or broker. *needed* is the number of replicas
    that the partition needs in sync, by `min.insync.replicas`. *likely_principals* may have asked
    for it (`authorizer`).
    """

    time: int
    offset: int
    kind: Kind
    what: str
    old: str | None
    new: str | None
    cause: str
    topic: str | None = None
    partition: int | None = None
    broker: int | None = None
    before: Any = None
    after: Any = None
    needed: int = 1
    likely_principals: tuple[str, ...] = ()


def read_changes(
    source: str | os.PathLike[str] | Sequence[str] | Travel,
    *,
    since: Limits | None = None,
    until: Limits | None = None,
    budget: Budget = USUAL,
    is_for_incidents: bool = False,
) -> ChangeLog:
    """Return the changes of a metadata log in the order of their records.

    What makes the oldest state that the log has, a snapshot, is not a change. The partitions of a
    new topic, and what goes with a topic that is deleted, belong to the change of the topic.

    Args:
        source: as `kraftops.image.load.loading.load` takes it, or the states of the log.
        since: limits of the state before the first change; None for the oldest.
        until: limits of the last change.
        budget: of the reading, unless *source* is states.
        is_for_incidents: leaves out what `incidents_of` does not ask for: new partitions, ACLs and
            others, of which a log may have millions.

    Raises:
        KraftopsError: the log cannot be read.
    """
    watched = _OF_INCIDENTS if is_for_incidents else _ALL
    if isinstance(source, Travel):
        travel = source
    else:
        travel = Travel(source, new_image=partial(MetadataImage, budget=budget))
    listeners: list[_Listener] = []

    def begin(first: MetadataImage, image: MetadataImage) -> Callable[[Event], None]:
        listeners[:] = [_Listener(first, image, watched)]
        return listeners[0].listen

    image = travel.replay(since, until or limits_of(None, None), begin)
    (listener,) = listeners
    listener.flush()
    image.store.drop_inflated()  # up to a quarter of the budget, where the next reader needs it
    changes = listener.changes
    if since is not None:  # the reading begins with the batch of the first change
        everything = limits_of(None, None)
        first = -1 if since.until == everything.until else since.until
        earliest = None if since.time == everything.time else since.time
        changes = [
            change
            for change in changes
            if change.offset > first and (earliest is None or change.time > earliest)
        ]
    return ChangeLog(changes, image)


class ChangeLog(NamedTuple):
    """Changes, and the state after the last."""

    changes: list[MetadataChange]
    image: MetadataImage


class _Raw(NamedTuple):
    """A change of an entry by a record, not yet told, with the states of partition or broker."""

    time: int
    offset: int
    change: EntryChange
    before: Any
    after: Any


ALL_BROKERS = -1
"""The broker of a change that is about every broker."""
FIRST_VERSION = ("features", (VERSION_FEATURE,), None)
"""The begin of the change by which the format of a cluster sets its metadata.version."""
_ALL = [EntryKey(table) for table in TABLES if table not in ("topic-names", "producer-ids")]
_OF_INCIDENTS = [
    EntryKey("brokers"),
    EntryKey("features"),
    EntryKey("topics"),
    EntryKey(CHANGED_PARTITIONS),
    EntryKey("configs", (TOPIC_RESOURCE,)),
    EntryKey("configs", (BROKER_RESOURCE, "")),
]


class _Listener:
    """Makes changes of the events of a replay.

    Records of a batch are reported together: a controller writes the fencing of a broker and what
    becomes of its partitions in one batch, in any order (`ReplicationControlManager`).
    """

    def __init__(
        self, first: MetadataImage, image: MetadataImage, watched: Sequence[EntryKey]
    ) -> None:
        self.changes: list[MetadataChange] = []
        self._first = first
        self._image = image
        self._watched = watched
        self._states: dict[tuple[object, ...], tuple[int | None, Any]] = {}
        """The states of what has changed, with the addresses of their newest records."""
        self._names: dict[object, str] = {}
        self._pending: list[_Raw] = []
        self._batch = -1
        self._is_open = False
        self._leader = _leader_of(first)
        self._needed: NamedMinIsr | None = None
        image.fold.watch(watched)

    def listen(self, event: Event) -> None:
        """Take an event of the replay."""
        match event:
            case EntriesChanged(address, changes):
                self._begin(address)
                self._take(address, changes)
            case ControlRecordRead(address, _, False):
                self._begin(address)
                self._take_control(address)
            case TransactionBegun(address):
                self._begin(address)
                self._is_open = True
            case TransactionEnded() | TransactionAborted():
                if isinstance(event, TransactionAborted):
                    self._undo()
                self._is_open = False

    def flush(self) -> None:
        """Tell the changes of the last batch, which is whole once the next one comes."""
        pending, self._pending = self._pending, []
        if not pending:
            return
        if any(raw.change[:3] == FIRST_VERSION for raw in pending):
            client = "format of the cluster"
        else:
            client = CLIENT
        events = _broker_events(pending)
        gone = {
            raw.offset for raw in pending if raw.change.table == "topics" and not raw.change.after
        }
        created = {
            raw.change.key[0]
            for raw in pending
            if raw.change.table == "topics" and raw.change.after is not None
        }
        for raw in pending:
            if raw.change.table == "partitions":
                if raw.change.key[0] not in created and raw.offset not in gone:
                    self.changes += self._partition(raw, events)
            elif raw.change.table != "configs" or raw.change.after or raw.offset not in gone:
                change = self._other(raw, events, client)
                if change.old != change.new:  # records may repeat what is so already
                    self.changes.append(change)

    def _begin(self, address: int) -> None:
        batch = address >> POSITION_BITS
        if batch != self._batch and not self._is_open:
            self.flush()
        self._batch = batch

    def _undo(self) -> None:
        """Forget the changes of a transaction that is aborted."""
        for raw in self._pending:
            if raw.change.table in ("partitions", "brokers"):
                key = raw.change.table, *raw.change.key
                self._states[key] = raw.change.before, raw.before
        self._pending = []

    def _take(self, address: int, changes: Iterable[EntryChange]) -> None:
        offset, time, _ = self._image.store.head(address)
        for change in changes:
            before = after = None
            if change.table in ("partitions", "brokers"):
                before = self._before(change)
                after = None if change.after is None else _state(self._image, change)
                self._states[change.table, *change.key] = change.after, after
            elif change.table == "topics":
                self._name(change)
            elif change.table == "configs":
                if change.key[-1] != MIN_ISR and self._watched is _OF_INCIDENTS:
                    continue
                self._take_min_isr(change)
            self._pending.append(_Raw(time, offset, change, before, after))

    def _before(self, change: EntryChange) -> Any:
        """Return the state before a change: that after the one before, or the first."""
        if change.before is None:
            return None
        newest, state = self._states.get((change.table, *change.key), (None, None))
        if newest == change.before:
            return state
        first = self._first
        if change.table == "brokers":
            return _state(first, change)
        key: Any = change.key
        newest_of_first = first.fold.newest(*key)
        if newest_of_first is not None and newest_of_first.address == change.before:
            return _state(first, change)
        # Only the record of a new partition is not watched.
        state = registered(self._image.read(change.before)[1])
        return None if isinstance(state, str) else state

    def _take_min_isr(self, change: EntryChange) -> None:
        kind, name, key = change.key
        if self._needed is not None and key == MIN_ISR:
            assert isinstance(kind, int)
            self._needed.put(self._image, (kind, str(name)), change.after)

    def _name(self, change: EntryChange) -> None:
        topic_id: Any = change.key[0]
        entry = self._image.fold.topic(topic_id)
        if entry is not None:
            self._names[topic_id] = entry.name
        elif topic_id not in self._names and (first := self._first.fold.topic(topic_id)):
            self._names[topic_id] = first.name

    def _topic_name(self, topic_id: Any) -> str:
        if topic_id not in self._names:
            entry = self._image.fold.topic(topic_id) or self._first.fold.topic(topic_id)
            self._names[topic_id] = entry.name if entry else to_text(topic_id)
        return self._names[topic_id]

    def _take_control(self, address: int) -> None:
        if self._image.quorum.leader != address:
            return
        leader = _leader_of(self._image)
        old, self._leader = self._leader, leader
        record = self._image.record(address)
        self.changes.append(
            MetadataChange(
                time=record.timestamp,
                offset=record.offset,
                kind="quorum",
                what="leader of the quorum",
                old=None if old is None else f"controller {old}",
                new=f"controller {leader}, epoch {record.epoch}",
                cause="election of the quorum",
                broker=leader,
                before=old,
                after=leader,
            )
        )

    def _partition(self, raw: _Raw, events: Mapping[int, str]) -> Iterable[MetadataChange]:
        """Yield the changes of a partition: of its leader, ISR and replicas."""
        topic_id, number = raw.change.key
        assert isinstance(number, int)
        topic = self._topic_name(topic_id)
        before, after = raw.before, raw.after
        blank = MetadataChange(
            time=raw.time,
            offset=raw.offset,
            kind="topic",
            what=f"{topic}-{number}",
            old=None,
            new=None if after is None else _replicas_text(after),
            cause=CLIENT,
            topic=topic,
            partition=number,
            before=before,
            after=after,
        )
        if not (before and after):
            yield blank
            return
        cause, needed = _cause(before, after, events), self._needed_by(topic, len(after.replicas))
        blank = replace(blank, kind="isr", new=None, cause=cause, needed=needed)
        if _replicas_text(before) != _replicas_text(after):
            texts = _replicas_text(before), _replicas_text(after)
            yield replace(blank, kind="topic", old=texts[0], new=texts[1])
        if before.leader != after.leader or _is_unclean(before, after):
            unclean = ", unclean: records may be lost" if _is_unclean(before, after) else ""
            old, new = _leader_text(before.leader), _leader_text(after.leader)
            broker = after.leader if after.leader >= 0 else None
            yield replace(blank, kind="leader", old=old, new=f"{new}{unclean}", broker=broker)
        if _isr_text(before) != _isr_text(after):
            yield replace(blank, old=_isr_text(before), new=_isr_text(after))

    def _needed_by(self, topic: str, replicas: int) -> int:
        if self._needed is None:
            self._needed = NamedMinIsr(self._image)
        # Never more than the replicas, never less than one (`Partition.isUnderMinIsr`).
        return max(min(self._needed.of(topic), replicas), 1)

    def _other(self, raw: _Raw, events: Mapping[int, str], client: str) -> MetadataChange:
        change = raw.change
        blank = MetadataChange(
            time=raw.time,
            offset=raw.offset,
            kind="broker",
            what="",
            old=None,
            new=None,
            cause=client,
        )
        if change.table == "brokers":
            broker: Any = change.key[0]
            return replace(
                blank,
                what=f"broker {broker}",
                old=status_text(raw.before),
                new=broker_text(raw.after, raw.before),
                cause=events[broker],
                broker=broker,
                before=raw.before,
                after=raw.after,
            )
        if change.table == "topics":
            topic_id: Any = change.key[0]
            name, text = self._topic_name(topic_id), topic_text(self._image, topic_id)
            old, new = (text, None) if change.after is None else (None, text)
            return replace(blank, kind="topic", what=f"topic {name}", old=old, new=new, topic=name)
        if change.table not in WORDED:
            return replace(blank, what=change.table)
        topic = broker_id = None
        if change.table == "configs":
            kind, name = change.key[0], str(change.key[1])
            if kind == TOPIC_RESOURCE:
                topic = name
            elif kind == BROKER_RESOURCE:
                broker_id = parse_integer(name, 32) if name else ALL_BROKERS
        try:
            what, words = words_of(self._image, change)
            texts = words(change.before), words(change.after)
        except KraftopsError as error:
            what, texts = error.message, (None, None)
        cause = f"controller {change.key[0]}" if change.table == "controllers" else client
        return replace(
            blank, kind=_KIND_OF[change.table], what=what, old=texts[0], new=texts[1], cause=cause,
            topic=topic, broker=broker_id,
        )  # fmt: skip


def _state(image: MetadataImage, change: EntryChange) -> PartitionState | BrokerState | None:
    key: Any = change.key
    return image.broker(*key) if change.table == "brokers" else image.partition(*key)


def _leader_of(image: MetadataImage) -> int | None:
    address = image.quorum.leader
    return None if address is None else int(image.read_control(address)["leaderId"])


def _broker_events(pending: Iterable[_Raw]) -> dict[int, str]:
    """Return what became of brokers, which is the cause of what becomes of their partitions."""
    events: dict[int, str] = {}
    for raw in pending:
        if raw.change.table == "brokers":
            broker, event = _broker_event(raw)
            if event or broker not in events:
                events[broker] = event or f"broker {broker}"
    return events


def _broker_event(raw: _Raw) -> tuple[int, str]:
    """Return a broker and what became of it; empty where only other fields differ."""
    broker: Any = raw.change.key[0]
    before, after = raw.before, raw.after
    if after is None:
        return broker, CLIENT  # no record but one that a client asks for removes a registration
    if before is None or before["brokerEpoch"] != after["brokerEpoch"]:
        return broker, f"broker {broker} starts"
    if after["inControlledShutdown"] and not before["inControlledShutdown"]:
        return broker, f"broker {broker} stops"
    if after["fenced"] and not before["fenced"]:
        in_order = after["inControlledShutdown"]
        return broker, f"broker {broker} {'stops' if in_order else 'is fenced'}"
    if before["fenced"] and not after["fenced"]:
        return broker, f"broker {broker} is unfenced"
    return broker, ""


def _cause(before: PartitionState, after: PartitionState, events: Mapping[int, str]) -> str:
    """Return what changed a partition: a broker's event in the same batch, or what else can be."""
    touched = {*before.isr} ^ {*after.isr} | {before.leader, after.leader}
    for broker, event in events.items():
        if broker in touched:
            return event
    moving = before.adding_replicas, before.removing_replicas
    if before.replicas != after.replicas or moving != (
        after.adding_replicas,
        after.removing_replicas,
    ):
        return REASSIGNMENT
    if before.leader != after.leader:
        preferred = after.replicas[:1] == [after.leader] and before.isr == after.isr
        return PREFERRED_ELECTION if preferred else "controller"
    # Only the leader of a partition asks for another ISR (`AlterPartition`).
    return f"leader {after.leader}" if {*before.isr} != {*after.isr} else "controller"


def _is_unclean(before: PartitionState, after: PartitionState) -> bool:
    return after.leader_recovery_state == RECOVERING != before.leader_recovery_state


def _leader_text(leader: int) -> str:
    return f"leader {leader}" if leader >= 0 else "no leader"


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, sorted(brokers))) or "nobody"


def _isr_text(state: PartitionState) -> str:
    eligible = state.eligible_leader_replicas
    return f"ISR {_ids(state.isr)}" + (f", ELR {_ids(eligible)}" if eligible else "")


def _replicas_text(state: PartitionState) -> str:
    text = f"replicas {','.join(map(str, state.replicas))}"
    if state.adding_replicas:
        text += f", adding {_ids(state.adding_replicas)}"
    if state.removing_replicas:
        text += f", removing {_ids(state.removing_replicas)}"
    return text
