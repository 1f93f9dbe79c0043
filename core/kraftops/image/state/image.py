"""The image: which records make up the state of the cluster's metadata, and what they say.

The engine's fold holds where the records are, and of partitions what has changed; states are
decoded when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kraftops.engine.choice import open_fold
from kraftops.engine.fold_contract import Fold
from kraftops.engine.metadata_state import (
    VERSION_FEATURE,
    BrokerEntry,
    Entity,
    EntryKey,
    NewestRecord,
    PartitionState,
    Resource,
    Tables,
    TopicEntry,
)
from kraftops.errors import DecodeError
from kraftops.image.state import broker as brokers
from kraftops.image.state.broker import BrokerState
from kraftops.image.state.findings import Finding, Kind, RecordFindings
from kraftops.image.state.store import LoggedRecord, RecordStore
from kraftops.records import control
from kraftops.records.kip_631 import record_reader
from kraftops.records.meaning import Unknown


class Provenance(NamedTuple):
    """The last batch in an image; *timestamp*, in ms, is the newest of it. All -1 when empty.

    *counted* is the offset by Kafka's count: it leaves out the batch's records that it cannot read.
    """

    offset: int = -1
    epoch: int = -1
    timestamp: int = -1
    counted: int = -1


class Change(NamedTuple):
    """Where a state was last changed; *timestamp* is in ms.

    Where only a snapshot tells of it (*is_in_snapshot*), nobody knows the change itself: it was
    there or before. The *offset* is then the last that the snapshot covers, or the last before the
    log that is there still.
    """

    offset: int
    timestamp: int
    epoch: int
    is_in_snapshot: bool


class LastChange(NamedTuple):
    """A change, the image that has its record, at an address, and how many made the state."""

    change: Change
    image: MetadataImage
    address: int
    records: int


class Past(NamedTuple):
    """The state at a snapshot's end as the log before that has made it.

    *untouched* is what there is to say of what that log has not changed; None where it has all.
    """

    image: MetadataImage
    untouched: Change | None


class Quorum:
    """What control records say, each the address of the last one; None where there is none."""

    def __init__(self) -> None:
        self.leader: int | None = None
        self.voters: int | None = None
        self.kraft_version: int | None = None
        self.snapshot_header: int | None = None


class MetadataImage:
    """The state of a cluster's metadata after some offset of its log. Not for change by others."""

    def __init__(self, dialect: str = "kafka") -> None:
        """Begin with nothing, before a log of records of a dialect.

        Raises:
            UsageError: there is no such dialect.
        """
        self.dialect = dialect
        self._meaning = record_reader(dialect)
        self._outline = record_reader(dialect, whole=False)
        self.store = store = RecordStore()
        self.fold = open_fold(dialect, lambda number: store.batch(number).data)
        """Topics and partitions, and all else; `forget` when it has changed."""
        self.provenance = Provenance()
        self.quorum = Quorum()
        self.record_findings = RecordFindings(self.fold)
        self.log_findings: list[Finding] = []
        self._tables: Tables | None = None
        self._brokers: dict[int, BrokerEntry] | None = None
        self._topic_ids: dict[str, bytes] | None = None
        self._states: dict[tuple[bytes, int], PartitionState | None] = {}
        self._snapshot = Provenance(), 0  # its last batch, and the offset at which it ends
        self._find_past: Callable[[], Past | None] | None = None
        self._past: Past | None = None

    def forget(self) -> None:
        """Forget what was looked up in the fold, which has changed."""
        self._tables = self._brokers = self._topic_ids = None
        self._states.clear()

    @property
    def offset(self) -> int:
        """The last offset of the log that the state covers, -1 if it covers none.

        That in the provenance is another one where the state is that of a snapshot alone, whose
        records are counted by themselves.
        """
        provenance, end = self._snapshot
        return end - 1 if self.provenance is provenance else self.provenance.offset

    @property
    def snapshot_end(self) -> int:
        """The offset of the log at which the snapshot in it ends; 0 if there is none."""
        return self._snapshot[1]

    def note_end_of_snapshot(self, end_offset: int) -> None:
        """Note that the state is that of a snapshot which ends before an offset of the log."""
        self._snapshot = self.provenance, end_offset

    @property
    def topic_ids(self) -> dict[str, bytes]:
        """The ids of topics by the names that they have; one name is one topic's."""
        if self._topic_ids is None:
            self._topic_ids = self.fold.topic_names()
        return self._topic_ids

    @property
    def topics(self) -> Mapping[bytes, TopicEntry]:
        """All topics by their ids."""
        return _Topics(self.fold)

    @property
    def brokers(self) -> dict[int, BrokerEntry]:
        """The registered brokers by their ids."""
        if self._brokers is None:
            self._brokers = self.fold.brokers()
        return self._brokers

    @property
    def tables(self) -> Tables:
        """All but topics and brokers."""
        if self._tables is None:
            self._tables = self.fold.tables()
        return self._tables

    @property
    def controllers(self) -> dict[int, int]:
        """The addresses of the registrations of controllers by their ids."""
        return self.tables.controllers

    @property
    def failed_replicas(self) -> dict[int, int]:
        """The addresses of records of KIP-631's text by brokers."""
        return self.tables.failed_replicas

    @property
    def configs(self) -> dict[Resource, dict[str, int]]:
        """The addresses of configurations by what they are for, and names."""
        return self.tables.configs

    @property
    def quotas(self) -> dict[Entity, dict[str, int]]:
        """The addresses of quotas by whom they are for, and keys."""
        return self.tables.quotas

    @property
    def acls(self) -> dict[bytes, int]:
        """The addresses of ACLs by their ids."""
        return self.tables.acls

    @property
    def scram(self) -> dict[int, dict[str, int]]:
        """The addresses of credentials by mechanisms and users."""
        return self.tables.scram

    @property
    def tokens(self) -> dict[str, int]:
        """The addresses of delegation tokens by their ids."""
        return self.tables.tokens

    @property
    def features(self) -> dict[str, tuple[int, int]]:
        """Levels and addresses of the features but metadata.version."""
        return self.tables.features

    @property
    def metadata_version(self) -> tuple[int, int] | None:
        """Its level and address."""
        return self.tables.metadata_version

    @property
    def producer_ids(self) -> int | None:
        """The address of the last record of producer ids."""
        return self.tables.producer_ids

    def record(self, address: int) -> LoggedRecord:
        """Return a record of the image.

        Raises:
            SourceError: its file cannot be read any more.
        """
        return self.store.record(address)

    def read(self, address: int, *, whole: bool = True) -> tuple[int, Any]:
        """Return type and data of a record in the shape of Kafka's own, whatever its dialect.

        The data is what `kraftops.records.metadata_types` says of that type; unless the *whole* of
        it is wanted, lists of structs are empty: a hostile one takes fifty times its bytes.

        Raises:
            SourceError: its file cannot be read any more.
            DecodeError: it is not the record that it was.
        """
        meaning = self._meaning if whole else self._outline
        found = meaning(self.store.record(address).value)
        if isinstance(found, Unknown):
            raise DecodeError(found.reason)
        return found

    def read_control(self, address: int) -> Any:
        """Return what a control record says, by `kraftops.records.control_types`.

        Errors are as those of `read`.
        """
        record = self.store.record(address)
        found = control.decode(record.key, record.value)
        if isinstance(found, Unknown):
            raise DecodeError(found.reason)
        return found.data

    def change(self, address: int) -> Change:
        """Return where in the log a record is."""
        record = self.record(address)
        _, _, end = self.store.place(address)
        if end is None:
            return Change(record.offset, record.timestamp, record.epoch, False)
        return Change(end - 1, record.timestamp, record.epoch, True)

    def newest(self, entry: EntryKey) -> NewestRecord | None:
        """Return which record changed an entry of the state last; None where there is none."""
        return _NEWEST[entry.table](self, *entry.key)

    def has_past(self, find: Callable[[], Past | None]) -> None:
        """Let *find* be asked once, when that is needed, for what led to the snapshot."""
        self._find_past = find

    @property
    def past(self) -> Past | None:
        """What led to the snapshot, if that was read and the log before it is there."""
        if self._find_past is not None:
            self._past, self._find_past = self._find_past(), None
        return self._past

    def last_change(
        self, look: Callable[[MetadataImage], NewestRecord | None]
    ) -> LastChange | None:
        """Return where something was changed last; None if no record made it.

        Args:
            look: returns which record that was in an image: this one, or that of the past.

        Raises:
            SourceError: a file cannot be read any more.
        """
        newest = look(self)
        if newest is None:
            return None
        change = self.change(newest.address)
        found = LastChange(change, self, newest.address, newest.records)
        if not change.is_in_snapshot:
            return found
        past = self.past
        exact = None if past is None else look(past.image)
        if past is None or exact is None:
            return found
        change = past.image.change(exact.address)
        if change.is_in_snapshot:
            return found._replace(change=past.untouched or change)
        change = change._replace(is_in_snapshot=not exact.is_certain)
        return LastChange(change, past.image, exact.address, exact.records)

    def partition(self, topic_id: bytes, number: int) -> PartitionState | None:
        """Return the state of a partition; None if there is none.

        Raises:
            KraftopsError: as `read`.
        """
        found = self._states.get((topic_id, number))
        return self.fold.partition(topic_id, number) if found is None else found

    def read_ahead(self, partitions: Sequence[tuple[bytes, int]]) -> None:
        """Have the states of these partitions at hand, and of no others; errors as above."""
        self._states = dict(zip(partitions, self.fold.states(partitions), strict=True))

    def broker(self, broker_id: int) -> BrokerState | None:
        """Return the state of a broker's registration; None if there is none.

        Raises:
            KraftopsError: as `read`.
        """
        broker = self.brokers.get(broker_id)
        return None if broker is None else self.broker_state(broker)

    def broker_state(self, broker: BrokerEntry, *, whole: bool = True) -> BrokerState:
        """Return the state that a registration and the changes of it make; errors as above.

        Unless the *whole* of it is wanted, it has no endpoints and no features.
        """
        first, *later = broker.addresses
        state = brokers.registered(self.read(first, whole=whole)[1])
        for address in later:
            state = brokers.changed(state, *self.read(address))
        return state

    def finding_at(self, kind: Kind, reason: str, address: int) -> Finding:
        """Return a finding about the record at an address."""
        name, position, _ = self.store.place(address)
        return Finding(kind, reason, self.change(address).offset, name, position, address)

    @property
    def findings(self) -> Iterator[Finding]:
        """What is wrong with the log: what cuts it short, then records that cannot apply."""
        yield from self.log_findings
        for address, reason in self.record_findings:
            yield self._record_finding(address, reason)

    def finding(self, number: int) -> Finding | None:
        """Return the one of this number among the findings, None if there is none."""
        if number < 0:
            return None
        if number < len(self.log_findings):
            return self.log_findings[number]
        number -= len(self.log_findings)
        if number >= len(self.record_findings):
            return None
        return self._record_finding(*self.record_findings[number])

    def _record_finding(self, address: int, reason: str) -> Finding:
        name, position, _ = self.store.place(address)
        return Finding(Kind.RECORD, reason, self.store.offset(address), name, position, address)


def _one(address: int | None) -> NewestRecord | None:
    """Return what is known of an entry that one record makes."""
    return None if address is None else NewestRecord(address, 1)


def _topic(image: MetadataImage, topic_id: bytes) -> NewestRecord | None:
    topic = image.fold.topic(topic_id)
    return None if topic is None else NewestRecord(topic.address, 1)


def _broker(image: MetadataImage, broker_id: int) -> NewestRecord | None:
    broker = image.brokers.get(broker_id)
    return None if broker is None else broker.newest


def _feature(image: MetadataImage, name: str) -> NewestRecord | None:
    found = image.metadata_version if name == VERSION_FEATURE else image.features.get(name)
    return None if found is None else NewestRecord(found[1], 1)


_NEWEST: Mapping[str, Callable[..., NewestRecord | None]] = {
    "topics": _topic,
    "partitions": lambda image, topic_id, number: image.fold.newest(topic_id, number),
    "brokers": _broker,
    "controllers": lambda image, key: _one(image.controllers.get(key)),
    "failed-replicas": lambda image, key: _one(image.failed_replicas.get(key)),
    "configs": lambda image, kind, name, key: _one(image.configs.get((kind, name), {}).get(key)),
    "quotas": lambda image, entity, key: _one(image.quotas.get(entity, {}).get(key)),
    "acls": lambda image, key: _one(image.acls.get(key)),
    "scram": lambda image, mechanism, user: _one(image.scram.get(mechanism, {}).get(user)),
    "tokens": lambda image, key: _one(image.tokens.get(key)),
    "features": _feature,
    "producer-ids": lambda image: _one(image.producer_ids),
}
"""By the tables of `kraftops.engine.metadata_state.EntryChange`, and by keys as there."""


class _Topics(Mapping[bytes, TopicEntry]):
    """The topics of a fold, without a copy of them."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold

    def __getitem__(self, topic_id: bytes) -> TopicEntry:
        found = self._fold.topic(topic_id)
        if found is None:
            raise KeyError(topic_id)
        return found

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._fold.topic_ids())

    def __len__(self) -> int:
        return self._fold.topic_count()
