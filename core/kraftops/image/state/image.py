"""The image: the state of a cluster's metadata, as the records of its log make it.

The engine's fold holds the addresses of the records; states are decoded when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

from kraftops.display.sizes import many
from kraftops.engine.choice import open_fold
from kraftops.engine.fold_contract import Fold
from kraftops.engine.metadata_state import (
    BrokerEntry,
    ClusterTables,
    Entity,
    NewestRecord,
    PartitionState,
    Resource,
    Tables,
    TopicEntry,
)
from kraftops.errors import DecodeError
from kraftops.findings.finding import Finding, Place
from kraftops.image.state.broker import BrokerState, changed_broker, registered_broker
from kraftops.image.state.changes import Change, Provenance
from kraftops.image.state.findings import RECORD, RecordFindings, log_finding
from kraftops.image.state.store import LoggedRecord, RecordStore
from kraftops.memory import USUAL, Budget
from kraftops.records import control
from kraftops.records.dialects import KAFKA_DIALECT
from kraftops.records.kip_631 import record_reader
from kraftops.records.meaning import Unknown


class LastChange(NamedTuple):
    """The last change of a state: its record, in an image, and how many records made the state."""

    change: Change
    image: MetadataImage
    address: int
    records: int


class PriorState(NamedTuple):
    """The state at a snapshot's end, made by the log before that end.

    *unchanged* bounds the last change of everything that this log did not change; None where it
    reaches back to the first record.
    """

    image: MetadataImage
    unchanged: Change | None


class Quorum:
    """The addresses of the last control records of each type; None where there is none."""

    def __init__(self) -> None:
        self.leader: int | None = None
        self.voters: int | None = None
        self.kraft_version: int | None = None
        self.snapshot_header: int | None = None


class MetadataImage:
    """The state of a cluster's metadata after some offset of its log; only a replay changes it."""

    def __init__(self, dialect: str = KAFKA_DIALECT, budget: Budget = USUAL) -> None:
        """Begin with an empty state, before a log of records of a dialect.

        All that reads for the image has its *budget*.

        Raises:
            UsageError: the dialect is unknown.
        """
        self.dialect = dialect
        self._meaning = record_reader(dialect)
        self._outline = record_reader(dialect, whole=False)
        self.store = store = RecordStore(budget)
        self.fold = open_fold(dialect, lambda number: store.batch(number).data)
        """The state; call `forget` after changing it."""
        self.provenance = Provenance()
        self.quorum = Quorum()
        self.record_findings = RecordFindings(self.fold)
        self.log_findings: list[Finding] = []
        self._tables: Tables | None = None
        self._cluster_tables: ClusterTables | None = None
        self._brokers: dict[int, BrokerEntry] | None = None
        self._topic_ids: dict[str, bytes] | None = None
        self._sorted_topics: list[str] | None = None
        self._states: dict[tuple[bytes, int], PartitionState | None] = {}
        self._snapshot = Provenance(), 0  # its last batch, and the offset at which it ends
        self._find_prior_state: Callable[[], PriorState | None] | None = None
        self._prior_state: PriorState | None = None

    def __repr__(self) -> str:
        return (
            f"MetadataImage (offset {self.provenance.offset}): {many(len(self.brokers), 'broker')},"
            f" {many(len(self.sorted_topics), 'topic')}"
        )

    def empty(self) -> MetadataImage:
        """Return an image without state, of the same dialect and budget."""
        return MetadataImage(self.dialect, self.store.budget)

    def copy(self) -> MetadataImage:
        """Return an independent copy, which a replay changes without changing this image."""
        image = copy(self)
        image.store = store = self.store.copy()
        image.fold = self.fold.copy(lambda number: store.batch(number).data)
        image.quorum = copy(self.quorum)
        image.record_findings = RecordFindings(image.fold)
        image.log_findings = list(self.log_findings)
        image._states = {}  # noqa: SLF001 - its own class
        image.forget()
        return image

    def forget(self) -> None:
        """Forget the values that were read from the fold, which has changed."""
        self._tables = self._cluster_tables = None
        self._brokers = self._topic_ids = self._sorted_topics = None
        self._states.clear()

    @property
    def offset(self) -> int:
        """The last offset of the log that the state covers, -1 if it covers none.

        The provenance has another one after a snapshot alone: its records have their own offsets.
        """
        provenance, end = self._snapshot
        return end - 1 if self.provenance is provenance else self.provenance.offset

    @property
    def snapshot_end(self) -> int:
        """The end offset of the snapshot that was loaded; 0 if there was none."""
        return self._snapshot[1]

    def note_end_of_snapshot(self, end_offset: int) -> None:
        """Note that a snapshot with this end offset made the state."""
        self._snapshot = self.provenance, end_offset

    @property
    def topic_ids(self) -> dict[str, bytes]:
        """The ids of topics by their names; a name belongs to one topic."""
        if self._topic_ids is None:
            self._topic_ids = self.fold.topic_names()
        return self._topic_ids

    @property
    def sorted_topics(self) -> list[str]:
        if self._sorted_topics is None:
            self._sorted_topics = sorted(self.topic_ids)
        return self._sorted_topics

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
        """The entries of all tables but topics and brokers."""
        if self._tables is None:
            self._tables = self.fold.tables()
        return self._tables

    @property
    def cluster_tables(self) -> ClusterTables:
        """The entries that are about the cluster as a whole; quicker than `tables`."""
        if self._cluster_tables is None:
            self._cluster_tables = self.fold.cluster_tables()
        return self._cluster_tables

    @property
    def controllers(self) -> dict[int, int]:
        """The addresses of the registrations of controllers by their ids."""
        return self.cluster_tables.controllers

    @property
    def failed_replicas(self) -> dict[int, int]:
        """The addresses of the failed replicas of KIP-631's text by brokers."""
        return self.tables.failed_replicas

    @property
    def configs(self) -> dict[Resource, dict[str, int]]:
        """The addresses of configurations by resources and names."""
        return self.tables.configs

    @property
    def quotas(self) -> dict[Entity, dict[str, int]]:
        """The addresses of quotas by entities and keys."""
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
        """Levels and addresses of the features, without metadata.version."""
        return self.cluster_tables.features

    @property
    def metadata_version(self) -> tuple[int, int] | None:
        """The level of metadata.version and the address of its record."""
        return self.cluster_tables.metadata_version

    @property
    def producer_ids(self) -> int | None:
        """The address of the last record of producer ids."""
        return self.cluster_tables.producer_ids

    def record(self, address: int) -> LoggedRecord:
        """Return the record at an address; its batch is read again unless it is cached.

        Raises:
            SourceError: its file can no longer be read.
        """
        return self.store.record(address)

    def read(self, address: int, *, whole: bool = True) -> tuple[int, Any]:
        """Return type and data of a record in the shape of Kafka's own, whatever its dialect.

        `kraftops.records.metadata_types` has the fields by type; without *whole*, lists of structs
        are empty: a hostile one takes fifty times its bytes.

        Raises:
            SourceError: its file can no longer be read.
            DecodeError: it is not the record that it was.
        """
        meaning = self._meaning if whole else self._outline
        body = meaning(self.store.record(address).value)
        if isinstance(body, Unknown):
            raise DecodeError(body.reason)
        return body

    def read_control(self, address: int) -> Any:
        """Return the fields of a control record, see `kraftops.records.control_types`.

        Raises:
            KraftopsError: as `read`.
        """
        record = self.store.record(address)
        decoded = control.decode(record.key, record.value)
        if isinstance(decoded, Unknown):
            raise DecodeError(decoded.reason)
        return decoded.data

    def change(self, address: int) -> Change:
        """Return the position of a record in the log; errors as `record`."""
        offset, timestamp, epoch = self.store.head(address)
        _, _, end = self.store.place(address)
        if end is None:
            return Change(offset, timestamp, epoch, is_upper_bound=False)
        return Change(end - 1, timestamp, epoch, is_upper_bound=True)

    def offer_prior_state(self, find: Callable[[], PriorState | None]) -> None:
        """Call *find* once, when the state before the snapshot is needed first."""
        self._find_prior_state = find

    @property
    def prior_state(self) -> PriorState | None:
        """The state that the log before the snapshot has made, if there are both."""
        if self._find_prior_state is not None:
            self._prior_state, self._find_prior_state = self._find_prior_state(), None
        return self._prior_state

    def last_change(
        self, newest_in: Callable[[MetadataImage], NewestRecord | None]
    ) -> LastChange | None:
        """Return the last change of a part of the state; None if no record made it.

        Args:
            newest_in: returns the newest record of that part in this image or the prior one.

        Raises:
            SourceError: a file can no longer be read.
        """
        newest = newest_in(self)
        if newest is None:
            return None
        change = self.change(newest.address)
        last = LastChange(change, self, newest.address, newest.records)
        if not change.is_upper_bound:
            return last
        prior = self.prior_state
        exact = None if prior is None else newest_in(prior.image)
        if prior is None or exact is None:
            return last
        change = prior.image.change(exact.address)
        if change.is_upper_bound:
            return last._replace(change=prior.unchanged or change)
        change = change._replace(is_upper_bound=not exact.is_certain)
        return LastChange(change, prior.image, exact.address, exact.records)

    def partition(self, topic_id: bytes, number: int) -> PartitionState | None:
        """Return the state of a partition; None if there is none.

        Raises:
            KraftopsError: as `read`.
        """
        state = self._states.get((topic_id, number))
        return self.fold.partition(topic_id, number) if state is None else state

    def read_ahead(self, partitions: Sequence[tuple[bytes, int]]) -> None:
        """Read the states of these partitions at once, and keep no others; errors as above."""
        self._states = dict(zip(partitions, self.fold.states(partitions), strict=True))

    def broker(self, broker_id: int) -> BrokerState | None:
        """Return the state of a broker's registration; None if there is none.

        Raises:
            KraftopsError: as `read`.
        """
        broker = self.brokers.get(broker_id)
        return None if broker is None else self.broker_state(broker)

    def broker_state(self, broker: BrokerEntry, *, whole: bool = True) -> BrokerState:
        """Return the state that a registration and its changes make; errors as above.

        Without *whole*, endpoints and features are empty.
        """
        first, *later = broker.addresses
        state = registered_broker(self.read(first, whole=whole)[1])
        for address in later:
            state = changed_broker(state, *self.read(address))
        return state

    def finding_at(self, code: str, text: str, address: int) -> Finding:
        name, position, _ = self.store.place(address)
        place = Place(
            file=name, position=position, offset=self.change(address).offset, address=address
        )
        return log_finding(code, text, place)

    @property
    def findings(self) -> Iterator[Finding]:
        """The findings about the log as a whole, then about records that cannot apply."""
        yield from self.log_findings
        for address, reason in self.record_findings:
            yield self._record_finding(address, reason)

    def finding(self, number: int) -> Finding | None:
        """Return the finding with a number, in the order of `findings`; None if there is none."""
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
        place = Place(
            file=name, position=position, offset=self.store.head(address)[0], address=address
        )
        return log_finding(RECORD, reason, place)


class _Topics(Mapping[bytes, TopicEntry]):
    """The topics of a fold, without a copy of them."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold

    def __getitem__(self, topic_id: bytes) -> TopicEntry:
        topic = self._fold.topic(topic_id)
        if topic is None:
            raise KeyError(topic_id)
        return topic

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._fold.topic_ids())

    def __len__(self) -> int:
        return self._fold.topic_count()


NewImage = Callable[[], MetadataImage]
"""Makes an image without state: `MetadataImage` with dialect and budget, or `empty` of another."""
