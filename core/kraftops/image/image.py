"""The image: which records make up the state of the cluster's metadata, and what they say.

The image holds addresses of records, not what is in them; states are decoded when asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kraftops.errors import DecodeError
from kraftops.image import broker as brokers
from kraftops.image import partition as partitions
from kraftops.image.dialects import record_reader
from kraftops.image.findings import Finding, Kind, RecordFindings
from kraftops.image.folding import Fold, folds
from kraftops.image.recordtypes import CLEAR_ELR, PARTITION_CHANGE
from kraftops.image.store import LoggedRecord, RecordStore
from kraftops.image.topics import PARTITION_KEY, Topic
from kraftops.records import control
from kraftops.records.meaning import Unknown
from kraftops.schema.read import Data

Entity = tuple[tuple[str, str | None], ...]
"""Whom a quota is for: (type, name) pairs by type; no name stands for the default."""
Resource = tuple[int, str]
"""What a configuration is for: its type and name; no name stands for the default."""


_LONG_CHAIN = 8
_KEPT_STATES = 1 << 12
_MANY_CHANGES = 20_000  # that were read one by one before all are looked at together


class Provenance(NamedTuple):
    """The last batch in an image; *timestamp*, in ms, is the newest of it. All -1 when empty.

    *counted* is the offset by Kafka's count: it leaves out the batch's records that it cannot read.
    """

    offset: int = -1
    epoch: int = -1
    timestamp: int = -1
    counted: int = -1


class Change(NamedTuple):
    """Where a state was last changed.

    Of a record in a snapshot the *offset* is the last that the snapshot covers: the change was
    there or before.
    """

    offset: int
    timestamp: int
    epoch: int
    is_in_snapshot: bool


class Broker:
    """A registration and its changes: the addresses of their records, oldest first."""

    __slots__ = ("addresses", "epoch")

    def __init__(self, epoch: int, address: int) -> None:
        self.epoch = epoch
        self.addresses: array[int] = array("q", [address])


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
        self.dialect = dialect
        self.store = RecordStore()
        self.meaning = record_reader(dialect)
        self.provenance = Provenance()
        self.topics: dict[bytes, Topic] = {}
        self.topic_ids: dict[str, bytes] = {}
        self.changes: dict[bytes, array[int]] = {}
        """Addresses of what changed partitions after their own record, by the partition's key."""
        self.brokers: dict[int, Broker] = {}
        self.failed_replicas: dict[int, int] = {}
        self.controllers: dict[int, int] = {}
        self.configs: dict[Resource, dict[str, int]] = {}
        self.quotas: dict[Entity, dict[str, int]] = {}
        self.acls: dict[bytes, int] = {}
        self.scram: dict[int, dict[str, int]] = {}
        self.tokens: dict[str, int] = {}
        self.metadata_version: tuple[int, int] | None = None
        """Level and address."""
        self.features: dict[str, tuple[int, int]] = {}
        """Levels and addresses of the other features."""
        self.producer_ids: int | None = None
        self.quorum = Quorum()
        self._states: dict[int, tuple[int, Data]] = {}
        self._folds: dict[bytes, Fold] = {}
        self._folded = range(0)  # batches
        self._changes_read = 0
        self.record_findings = RecordFindings()
        self.log_findings: list[Finding] = []
        self._snapshot = Provenance(), 0  # its last batch, and the offset at which it ends

    @property
    def offset(self) -> int:
        """The last offset of the log that the state covers, -1 if it covers none.

        That in the provenance is another one where the state is that of a snapshot alone, whose
        records are counted by themselves.
        """
        provenance, end = self._snapshot
        return end - 1 if self.provenance is provenance else self.provenance.offset

    def note_end_of_snapshot(self, end_offset: int) -> None:
        """Note that the state is that of a snapshot which ends before an offset of the log."""
        self._snapshot = self.provenance, end_offset

    def record(self, address: int) -> LoggedRecord:
        """Return a record of the image.

        Raises:
            SourceError: its file cannot be read any more.
        """
        return self.store.record(address)

    def read(self, address: int) -> tuple[int, Data]:
        """Return type and data of a record in the shape of Kafka's own, whatever its dialect.

        Raises:
            SourceError: its file cannot be read any more.
            DecodeError: it is not the record that it was.
        """
        found = self.meaning(self.store.record(address).value)
        if isinstance(found, Unknown):
            raise DecodeError(found.reason)
        return found

    def read_control(self, address: int) -> Data:
        """Return what a control record says; errors as those of `read`."""
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

    def partition_addresses(self, topic: Topic, number: int) -> list[int]:
        """Return the addresses of a partition's record and its changes; none if it is unknown."""
        place = topic.place(number)
        if place is None:
            return []
        return [place, *self.changes.get(PARTITION_KEY.pack(number, topic.id), ())]

    def partition(self, topic: Topic, number: int) -> Data | None:
        """Return the state of a partition; None if there is none.

        Raises:
            KraftopsError: as `read`.
        """
        addresses = self.partition_addresses(topic, number)
        return self.partition_state(addresses) if addresses else None

    def partition_state(self, addresses: Sequence[int]) -> Data:
        """Return the state that the record of a partition and these of its changes make."""
        # Who asks after every change of many must not begin anew each time.
        done, state = self._states.get(addresses[0], (0, {}))
        if not 0 < done <= len(addresses):
            done, state = self._beginning(addresses)
        for address in addresses[done:]:
            state = _applied(self.changed_partition(state, address))
        self._changes_read += len(addresses) - done
        if len(addresses) > _LONG_CHAIN:
            if len(self._states) >= _KEPT_STATES:
                self._states.clear()
            self._states[addresses[0]] = len(addresses), state
        return state

    def _beginning(self, addresses: Sequence[int]) -> tuple[int, Data]:
        """Return a state that some of these records make, and how many."""
        record = self.read(addresses[0])[1]
        state = _applied(partitions.registered(record))
        if len(addresses) == 1 or self.dialect != "kafka":
            return 1, state
        if self._changes_read > _MANY_CHANGES:
            self._folds = folds(self.store, self.changes, self._data)
            self._folded, self._changes_read = self.store.numbers(), 0
        if self._folded == self.store.numbers():
            key = PARTITION_KEY.pack(record["partitionId"], record["topicId"])
            fold = self._folds.get(key)
            if fold is not None and 0 < fold.count < len(addresses):
                return 1 + fold.count, fold.applied(state)
        return 1, state

    def _data(self, value: bytes) -> Data | None:
        found = self.meaning(value)
        return None if isinstance(found, Unknown) else found[1]

    def changed_partition(self, state: Data, address: int) -> Data | str:
        """Return the state of a partition after the record at *address*, or why it stays."""
        number, data = self.read(address)
        if number == PARTITION_CHANGE:
            return partitions.changed(state, data)
        if number == CLEAR_ELR:
            return partitions.without_elr(state)
        broker = data.get("id", data.get("brokerId"))
        return partitions.outside_isr(state, broker)

    def broker(self, broker_id: int) -> Data | None:
        """Return the state of a broker's registration; None if there is none.

        Raises:
            KraftopsError: as `read`.
        """
        broker = self.brokers.get(broker_id)
        return None if broker is None else self.broker_state(broker.addresses)

    def broker_state(self, addresses: Sequence[int]) -> Data:
        """Return the state that a registration and these of its changes make."""
        state = brokers.registered(self.read(addresses[0])[1])
        for address in addresses[1:]:
            state = _applied(brokers.changed(state, *self.read(address)))
        return state

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
        return Finding(Kind.RECORD, reason, self.record(address).offset, name, position, address)


def _applied(state: Data | str) -> Data:
    if isinstance(state, str):
        raise DecodeError(state)
    return state
