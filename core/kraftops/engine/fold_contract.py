"""The contract of a fold: it applies the records of a metadata log to the state, one by one.

A fold knows the effect of each record (Kafka's `MetadataDelta` and its parts) and keeps the
addresses of the records that made the state, with as few of their bytes as it can. The caller gives
each record its address, a number that grows with the log. Where Kafka asks the image from before a
batch, a fold asks the changes of the present unit: a batch, or a transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple, Protocol

from kraftops.engine.metadata_state import (
    BrokerEntry,
    BrokerLoad,
    ClusterTables,
    EntryChange,
    EntryKey,
    NewestRecord,
    PartitionCondition,
    PartitionState,
    ReplicaRole,
    StateColumns,
    Tables,
    TopicEntry,
)
from kraftops.engine.timeline_contract import Timeline, TimelineRequest

POSITION_BITS = 28
"""An address is the number of a batch above so many bits, which are a position in its bytes:
256 MiB, the largest batch that is read, and 35 bits of an int64 are left for numbers."""

Fetch = Callable[[int], bytes]
"""Returns the inflated bytes of the batch of a number, in which positions count.

It raises `SourceError` for bytes that are gone.
"""


class FoldProgress(NamedTuple):
    """The place where a fold stopped in a batch, and the reason.

    *position* and *number* are those of the next record; *last* is the position of the record
    before it, if that was read. *marker* is the type of a transaction's marker, if the last record
    is one; *is_malformed* means that there is no record at *position*; *has_changes* that the last
    record changed an entry that is watched. The counts are of the records that were applied, of
    those that were dropped with a reason, and of those among the latter that cannot be read.
    Markers are not counted.
    """

    position: int
    number: int
    last: int
    marker: int | None
    is_malformed: bool
    has_changes: bool
    applied: int
    dropped: int
    unreadable: int


class BatchBounds(NamedTuple):
    """The limits of ordinary batches: sound, of magic 2, without codec or control records.

    In a log, the first has the *expected* offset and at least this *epoch*, and each that follows
    begins where the one before ends; *expected* is None for a snapshot, which has offsets of its
    own. All offsets are above *after* and up to *until*, and no time, in ms, is above *time*.
    """

    expected: int | None
    epoch: int
    after: int
    until: int
    time: int


class BatchHead(NamedTuple):
    """Fields of a batch header; *time* is the newest of its *records*, in ms."""

    base_offset: int
    last_offset: int
    epoch: int
    time: int
    records: int


BATCH_FIELDS = 6
"""Numbers for each batch in `WindowResult.batches`."""


class WindowResult(NamedTuple):
    """The batches of a window that a fold applied, up to byte *next*.

    *batches* has `BATCH_FIELDS` native 64-bit integers for each: position after the start,
    checksum, number of records, and how many of these were applied, dropped and unreadable.
    *transactions* has the type and address of each marker that took effect, and of an end how many
    records it applied and dropped. *last* is the last batch. *inside* is there if the fold stopped
    inside the batch at *next*, as at the beginning of a transaction that does not end in the
    window, or after a change of a watched entry; it counts from the beginning of that batch.
    *newest* is the newest time of the batches, in ms.
    """

    next: int
    batches: bytes
    transactions: list[tuple[int, int, int, int]]
    last: BatchHead | None
    inside: FoldProgress | None
    newest: int = -(1 << 63)


class Fold(Protocol):
    """The metadata state and the records that make it; see `kraftops.engine.choice.open_fold`."""

    def copy(self, fetch: Fetch) -> Fold:
        """Return an independent copy of the state, which watches no entry and keeps no time."""

    def size(self) -> int:
        """Return about the number of bytes that a copy takes."""

    def begin_unit(self) -> None:
        """Begin a unit: the next records are a batch, or transaction, of their own."""

    def seed(self, *, is_seeded: bool) -> None:
        """Note that the state is later than the next records, or (false) no longer is.

        In a seeded state, only the addresses of changed entries are right.
        """

    def apply(
        self, data: bytes, address: int, position: int, number: int, stop: int
    ) -> FoldProgress:
        """Apply records of a batch: those from *number* up to *stop*.

        It stops after a marker of a transaction, and after a record that changes a watched entry.

        Args:
            data: the inflated batch.
            address: of its byte 0.
            position: of the first record in it.
            number: of that record in the batch.
            stop: the number of the record after the last.

        Raises:
            SourceError: an earlier record is needed, and its batch can no longer be read; the
                records before this one are applied.
        """

    def skim(self, data: bytes, position: int, number: int, stop: int) -> FoldProgress:
        """Read records up to the marker of a transaction, without applying them."""

    def apply_window(
        self, window: bytes, start: int, first: int, bounds: BatchBounds
    ) -> WindowResult:
        """Apply the ordinary batches of a window from *start* on, each a unit of its own.

        It ends before the first other batch, and inside one where `apply` would stop. It may leave
        all batches to `apply`. *first* is the number of the first batch, for addresses.
        """

    def drop(self, address: int, reason: str) -> None:
        """Note a record that the caller leaves out, and why."""

    @property
    def dropped(self) -> int:
        """The number of records that were left out."""

    def dropped_record(self, number: int) -> tuple[int, str]:
        """Return the address of a record that was left out, and why; the first has number 0."""

    def forget_dropped(self) -> None:
        """Remove all notes of records that were left out."""

    def watch(self, keys: Sequence[EntryKey]) -> None:
        """Have `apply` stop after records that change one of these entries; none if empty."""

    def changes(self) -> list[EntryChange]:
        """Return the changes of watched entries by the last record."""

    def keep_time(self, request: TimelineRequest) -> None:
        """Note what happens over time, from `start_timeline` on; no entry is watched then."""

    def set_clock(self, base: int, append_time: int | None) -> None:
        """Note the times of the batch whose records `apply` gets next, in ms.

        Args:
            base: the time to which the records' own are relative.
            append_time: the time of all of them instead.
        """

    def start_timeline(self, time: int | None) -> None:
        """Begin the timeline: what was applied before is the state at *time*, in ms."""

    def end_timeline(self) -> Timeline | None:
        """Return the timeline, and forget it; None without `keep_time`."""

    def topic_names(self) -> dict[str, bytes]:
        """Return topic ids by name, in the order in which the names came."""

    def topic_ids(self) -> list[bytes]:
        """Return the ids of all topics, also of one that lost its name to another."""

    def topic_id(self, name: str) -> bytes | None: ...
    def topic(self, topic_id: bytes) -> TopicEntry | None:
        """Look a topic up by its id, also one that is being deleted."""

    def partition_count(self, topic_id: bytes | None = None) -> int:
        """Count partitions; without a topic, those of all."""

    def topic_count(self) -> int: ...
    def numbers(self, topic_id: bytes) -> list[int]:
        """Return the numbers of a topic's partitions, in order."""

    def newest(self, topic_id: bytes, number: int) -> NewestRecord | None:
        """Return the record that changed a partition last; None without the partition."""

    def newest_below(self, topic_id: bytes | None, exact: Fold | None) -> NewestRecord | None:
        """Return the newest change of a topic and its partitions, or of all; None without any.

        With *exact*, a fold by the same engine, only the topics and partitions of both count, with
        the addresses that they have there.
        """

    def partition(self, topic_id: bytes, number: int) -> PartitionState | None:
        """Return the state of a partition; None without the partition.

        Raises:
            SourceError: its batch can no longer be read.
            DecodeError: its record is no longer there.
        """

    def partitions(self, topic_id: bytes) -> list[tuple[int, PartitionState]]:
        """Return the partitions of a topic, in the order of their numbers; errors as above."""

    def states(self, chosen: Sequence[tuple[bytes, int]]) -> list[PartitionState | None]:
        """Return the states of partitions, by topic ids and numbers, in this order.

        They are read in the order of the log, which takes less time than one by one; errors as
        above.
        """

    def count_with(self, condition: PartitionCondition) -> int:
        """Return the number of partitions that meet one of these conditions."""

    def partitions_with(self, condition: PartitionCondition) -> dict[bytes, list[int]]:
        """Return the partitions that meet one of these conditions, by the topics' ids."""

    def suspects(self, directories: Mapping[int, Sequence[bytes]]) -> dict[bytes, list[int]]:
        """Return the partitions in a state that no server makes, by the topics' ids.

        They are those with no replicas, with one twice, or one that is not registered; with brokers
        in ISR, ELR, or lists of replicas to add or remove that are not replicas; with a leader
        below -1 or outside the ISR; in a directory that is neither reserved nor among those of its
        broker, if it has some; or in the ISR with a lost directory.

        Args:
            directories: of the registered brokers, by their ids.

        Raises:
            KraftopsError: as `partition`.
        """

    def different(self, other: Fold) -> dict[bytes, list[int]]:
        """Return the partitions of common topics that have another state in another fold.

        The other fold is by the same engine; a partition of one of them only is different.

        Raises:
            KraftopsError: as `partition`.
        """

    def replica_counts(self) -> dict[int, dict[bytes, int]]:
        """Return the number of replicas on each broker, by broker and topic id.

        Raises:
            KraftopsError: as `partition`.
        """

    def broker_loads(self) -> dict[int, BrokerLoad]:
        """Return the load of each broker that has replicas, or leads a partition, by broker id.

        Raises:
            KraftopsError: as `partition`.
        """

    def with_role(
        self, role: ReplicaRole, brokers: AbstractSet[int], topics: Sequence[bytes] | None = None
    ) -> dict[bytes, list[int]]:
        """Return the partitions in which one of some brokers has a role, by the topics' ids.

        With *topics*, only those of these ids, in this order.

        Raises:
            KraftopsError: as `partition`.
        """

    def in_directory(
        self, directory: bytes, topics: Sequence[bytes] | None = None
    ) -> dict[bytes, list[int]]:
        """Return the partitions with a replica in a directory; *topics* and errors as above."""

    def directories(self) -> dict[bytes, dict[int, int]]:
        """Return the number of replicas in each directory by broker, in the order of their ids.

        Raises:
            KraftopsError: as `partition`.
        """

    def under_min_isr(self, needed: Mapping[bytes, int], usual: int) -> dict[bytes, list[int]]:
        """Return the partitions with too few brokers in the ISR, by the topics' ids.

        A partition needs as many as *needed* has for the id of its topic, *usual* for another, but
        no more than it has replicas, and at least one (Kafka's `Partition.isUnderMinIsr`).
        """

    def state_columns(self) -> StateColumns:
        """Return the states of all partitions as columns; errors as `partition`."""

    def brokers(self) -> dict[int, BrokerEntry]:
        """Return the registered brokers, in the order in which they came."""

    def tables(self) -> Tables:
        """Return the entries of all tables but topics and partitions."""

    def cluster_tables(self) -> ClusterTables:
        """Return some fields of `tables`, without the time for the others, which may be large."""
