"""The state that records make: the addresses of the newest records, by entry.

A partition without changes keeps only the address of its record, which is decoded again on demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

from kraftops.engine.fold_contract import POSITION_BITS, Fetch
from kraftops.engine.metadata_state import (
    CHANGED_PARTITIONS,
    EntryChange,
    EntryKey,
    NewestRecord,
    PartitionState,
    Resource,
    Tables,
)
from kraftops.engine.reference.folding import partitions
from kraftops.engine.reference.folding.brokers import Registration
from kraftops.errors import DecodeError
from kraftops.log.batch import Record, read_record
from kraftops.records.kip_631 import record_reader
from kraftops.records.meaning import Unknown
from kraftops.records.metadata_numbers import PARTITION

_POSITION_MASK = (1 << POSITION_BITS) - 1


class Partition:
    """A partition: its newest record, the number of records, and the state if they are several."""

    __slots__ = ("address", "conditions", "has_elr", "is_certain", "records", "state")

    def __init__(self, state: PartitionState, address: int) -> None:
        """Note the *state* that the record at *address* made."""
        self.address = address
        self.records = 1
        self.is_certain = True
        self.state: PartitionState | None = None
        self._note_conditions(state)

    def change(self, state: PartitionState, address: int) -> None:
        """Note the *state* after the record at *address*."""
        self.address = address
        self.records += 1
        self.is_certain = True
        self.state = state
        self._note_conditions(state)

    def may_change(self, state: PartitionState, address: int) -> None:
        """Note that the record at *address* may have changed the partition to this state."""
        self.address = address
        self.is_certain = False
        self.state = state  # it can no more be decoded from the newest record

    @property
    def newest(self) -> NewestRecord:
        """The record that changed it last."""
        return NewestRecord(self.address, self.records, self.is_certain)

    def _note_conditions(self, state: PartitionState) -> None:
        self.conditions = int(partitions.conditions_of(state))
        self.has_elr = bool(state.eligible_leader_replicas or state.last_known_elr)
        """Whether there is something to clear."""


class Topic:
    """A topic and its partitions by their numbers."""

    __slots__ = ("address", "id", "is_deleting", "name", "partitions")

    def __init__(self, topic_id: bytes, name: str, address: int, *, is_deleting: bool) -> None:
        self.id = topic_id
        self.name = name
        self.address = address
        self.is_deleting = is_deleting
        self.partitions: dict[int, Partition] = {}

    def copy(self) -> Topic:
        topic = copy(self)
        topic.partitions = {number: copy(part) for number, part in self.partitions.items()}
        return topic


class Unit(NamedTuple):
    """Entries that a batch, or transaction, has changed so far: whether each was there before."""

    topics: dict[bytes, str | None]
    """The names of topics that were there."""
    names: dict[str, bool]
    acls: dict[bytes, bool]
    configs: dict[Resource, bool]

    def copy(self) -> Unit:
        return Unit(dict(self.topics), dict(self.names), dict(self.acls), dict(self.configs))


class WatchedChanges:
    """The changes of watched entries by the last record."""

    def __init__(self) -> None:
        self._watched: dict[str, list[tuple[object, ...]]] = {}
        self._by_entry: dict[tuple[str, tuple[object, ...]], EntryChange] = {}

    def watch(self, keys: Sequence[EntryKey]) -> None:
        """Watch these entries, and no others from now on."""
        self._watched = {}
        for table, key in keys:
            self._watched.setdefault(table, []).append(key)

    def clear(self) -> None:
        """Begin with the next record."""
        self._by_entry.clear()

    def note(
        self, table: str, key: tuple[object, ...], before: int | None, after: int | None
    ) -> None:
        """Note the newest addresses of an entry; removing and putting it again is one change.

        An entry that was not there, and is not, did not change.
        """
        if before is None and after is None:
            return
        watched = self._watched.get(table, ())
        if not watched and table == "partitions" and before is not None and after is not None:
            watched = self._watched.get(CHANGED_PARTITIONS, ())
        for beginning in watched:
            if key[: len(beginning)] == beginning:
                earlier = self._by_entry.get((table, key))
                first = before if earlier is None else earlier.before
                self._by_entry[table, key] = EntryChange(table, key, first, after)
                return

    @property
    def in_order(self) -> list[EntryChange]:
        """The changes, in the order of the entries' first ones."""
        return list(self._by_entry.values())

    def __bool__(self) -> bool:
        return bool(self._by_entry)


class State:
    """The state of the metadata."""

    def __init__(self, dialect: str, fetch: Fetch) -> None:
        """Begin with an empty state; see `kraftops.engine.reference.fold.ReferenceFold`."""
        self.topics: dict[bytes, Topic] = {}
        self.topic_ids: dict[str, bytes] = {}
        self.brokers: dict[int, Registration] = {}
        self.tables = Tables(
            controllers={},
            failed_replicas={},
            configs={},
            quotas={},
            acls={},
            scram={},
            tokens={},
            features={},
            metadata_version=None,
            producer_ids=None,
        )
        self.unit = Unit({}, {}, {}, {})
        self.changes = WatchedChanges()
        self.is_seeded = False
        """Whether the state is later than the records that come."""
        self._meaning = record_reader(dialect)
        self.fetch = fetch
        """Returns the bytes of a batch that is needed again."""
        self._open: tuple[int, bytes] | None = None

    def copy(self, fetch: Fetch) -> State:
        """Return an independent copy that watches no entry."""
        state = copy(self)
        state.topics = {topic_id: topic.copy() for topic_id, topic in self.topics.items()}
        state.topic_ids = dict(self.topic_ids)
        state.brokers = {number: broker.copy() for number, broker in self.brokers.items()}
        state.tables = self.copied_tables()
        state.unit = self.unit.copy()
        state.changes = WatchedChanges()
        state.fetch = fetch
        return state

    def copied_tables(self) -> Tables:
        tables = self.tables
        return tables._replace(
            controllers=dict(tables.controllers),
            failed_replicas=dict(tables.failed_replicas),
            configs={whom: dict(keys) for whom, keys in tables.configs.items()},
            quotas={whom: dict(keys) for whom, keys in tables.quotas.items()},
            acls=dict(tables.acls),
            scram={mechanism: dict(users) for mechanism, users in tables.scram.items()},
            tokens=dict(tables.tokens),
            features=dict(tables.features),
        )

    def entry_count(self) -> int:
        tables = self.tables
        count = sum(len(topic.partitions) + 1 for topic in self.topics.values())
        count += len(self.brokers) + len(tables.controllers) + len(tables.failed_replicas)
        count += len(tables.acls) + len(tables.tokens) + len(tables.features)
        count += sum(len(keys) for keys in tables.configs.values())
        count += sum(len(keys) for keys in tables.quotas.values())
        return count + sum(len(users) for users in tables.scram.values())

    def open_batch(self, address: int, data: bytes) -> None:
        """Read records of the batch at *address* from *data*, without fetching it."""
        self._open = address >> POSITION_BITS, data

    def close_batch(self) -> None:
        """Fetch all batches again."""
        self._open = None

    def read(self, record: Record) -> tuple[int, Any] | str:
        """Return type and data of a record, or why it cannot be read."""
        if record.key is not None or record.headers:
            return "a metadata record with a key or headers"
        body = self._meaning(record.value)
        return body.reason if isinstance(body, Unknown) else body

    def of_partition(self, partition: Partition) -> PartitionState:
        """Return the state of a partition.

        Raises:
            SourceError: its batch can no longer be read.
            DecodeError: its record is no longer there.
        """
        if partition.state is not None:
            return partition.state
        number, position = partition.address >> POSITION_BITS, partition.address & _POSITION_MASK
        opened = self._open
        data = opened[1] if opened is not None and opened[0] == number else self.fetch(number)
        typed = self.read(read_record(data, position, 0, 0)[0])
        if isinstance(typed, str):
            raise DecodeError(typed)
        if typed[0] != PARTITION:
            raise DecodeError(f"a record of type {typed[0]} is where that of a partition was")
        state = partitions.registered(typed[1])
        if isinstance(state, str):
            raise DecodeError(state)
        return state
