"""The state that records make: where the newest of them are, by what they are about.

Of a partition whose record says all, only the address is kept; it is decoded again when asked for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kraftops.engine.fold_contract import (
    POSITION_BITS,
    Fetch,
    Newest,
    PartitionState,
    Resource,
    Tables,
)
from kraftops.engine.reference.folding import partitions
from kraftops.engine.reference.folding.brokers import Registration
from kraftops.engine.reference.folding.touches import Touches
from kraftops.errors import DecodeError
from kraftops.log.batch import Record, read_record
from kraftops.records.kip_631 import record_reader
from kraftops.records.meaning import Unknown
from kraftops.records.metadata_numbers import PARTITION

_POSITION_MASK = (1 << POSITION_BITS) - 1


class Partition:
    """A partition: its newest record, how many there were, and the state if they are several."""

    __slots__ = ("address", "has_elr", "is_certain", "looks", "records", "state")

    def __init__(self, state: PartitionState, address: int) -> None:
        """Have the record at *address* make it what *state* says."""
        self.address = address
        self.records = 1
        self.is_certain = True
        self.state: PartitionState | None = None
        self._look(state)

    def change(self, state: PartitionState, address: int) -> None:
        """Have the record at *address* make it what *state* says now."""
        self.address = address
        self.records += 1
        self.is_certain = True
        self.state = state
        self._look(state)

    def may_change(self, state: PartitionState, address: int) -> None:
        """Note that nobody can tell whether the record at *address* changed it to this state."""
        self.address = address
        self.is_certain = False
        self.state = state  # the record that says it is not the newest one any more

    @property
    def newest(self) -> Newest:
        """The record that changed it last."""
        return Newest(self.address, self.records, self.is_certain)

    def _look(self, state: PartitionState) -> None:
        self.looks = int(partitions.looks_of(state))
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


class Unit(NamedTuple):
    """What was there before a batch, or transaction, of that which it has changed so far."""

    topics: dict[bytes, str | None]
    """And their names."""
    names: dict[str, bool]
    acls: dict[bytes, bool]
    configs: dict[Resource, bool]


class State:
    """All that there is."""

    def __init__(self, dialect: str, fetch: Fetch) -> None:
        """Begin with nothing; see `kraftops.engine.reference.fold.ReferenceFold`."""
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
        self.touches = Touches()
        self.is_seeded = False
        """Whether the state is later than the records that come."""
        self._meaning = record_reader(dialect)
        self._fetch = fetch
        self._held: tuple[int, bytes] | None = None

    def hold(self, address: int, data: bytes) -> None:
        """Have the batch at *address* at hand, so that it is not fetched."""
        self._held = address >> POSITION_BITS, data

    def let_go(self) -> None:
        """Have no batch at hand."""
        self._held = None

    def read(self, record: Record) -> tuple[int, Any] | str:
        """Return type and data of a record, or why nobody can read it."""
        if record.key is not None or record.headers:
            return "a metadata record with a key or headers"
        found = self._meaning(record.value)
        return found.reason if isinstance(found, Unknown) else found

    def of_partition(self, partition: Partition) -> PartitionState:
        """Return the state of a partition.

        Raises:
            SourceError: its batch cannot be read any more.
            DecodeError: its record is not there any more.
        """
        if partition.state is not None:
            return partition.state
        number, position = partition.address >> POSITION_BITS, partition.address & _POSITION_MASK
        held = self._held
        data = held[1] if held is not None and held[0] == number else self._fetch(number)
        found = self.read(read_record(data, position, 0, 0)[0])
        if isinstance(found, str):
            raise DecodeError(found)
        if found[0] != PARTITION:
            raise DecodeError(f"a record of type {found[0]} is where that of a partition was")
        state = partitions.registered(found[1])
        if isinstance(state, str):
            raise DecodeError(state)
        return state
