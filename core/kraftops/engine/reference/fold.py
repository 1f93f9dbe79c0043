"""The reference's fold: it decodes each record and applies its rule."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from typing import Any

from kraftops.engine.fold_contract import BatchBounds, Fetch, Fold, FoldProgress, WindowResult
from kraftops.engine.metadata_state import (
    TOPIC_RESOURCE,
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
    columns_of_states,
)
from kraftops.engine.reference.folding import aggregates, rules
from kraftops.engine.reference.folding.state import Partition, State, Unit
from kraftops.engine.reference.folding.timeline import TimelineNotes
from kraftops.engine.timeline_contract import (
    KEPT_TABLES,
    MIN_ISR,
    Timeline,
    TimelineRequest,
)
from kraftops.errors import DecodeError
from kraftops.log.batch import read_record
from kraftops.records.metadata_numbers import TRANSACTION_MARKERS

_ENTRY_BYTES = 512  # of an entry of the state, about: addresses and a few objects of Python
_DROPPED_BYTES = 16  # of the address of a record that was left out, with room to spare


class ReferenceFold(Fold):
    """The state of a metadata log, folded by the reference."""

    def __init__(self, dialect: str, fetch: Fetch) -> None:
        """Begin with an empty state.

        Args:
            dialect: how records are framed and numbered.
            fetch: returns the bytes of a batch that is needed again.

        Raises:
            UsageError: there is no such dialect.
        """
        self.state = State(dialect, fetch)
        """For other folds of this engine."""
        self._dropped: array[int] = array("q")  # a hostile log can have millions
        self._reasons: list[str] = []
        self._known_reasons: dict[str, str] = {}
        self._timeline: TimelineNotes | None = None

    def copy(self, fetch: Fetch) -> ReferenceFold:
        fold = copy(self)
        vars(fold).update(
            state=self.state.copy(fetch),
            _dropped=self._dropped[:],
            _reasons=self._reasons[:],
            _known_reasons=dict(self._known_reasons),
            _timeline=None,
        )
        return fold

    def size(self) -> int:
        return self.state.entry_count() * _ENTRY_BYTES + len(self._dropped) * _DROPPED_BYTES

    def begin_unit(self) -> None:
        self.state.unit = Unit({}, {}, {}, {})

    def seed(self, *, is_seeded: bool) -> None:
        self.state.is_seeded = is_seeded

    def apply(
        self, data: bytes, address: int, position: int, number: int, stop: int
    ) -> FoldProgress:
        state = self.state
        last, marker, is_malformed, has_changes = position, None, False, False
        applied = dropped = unreadable = 0
        state.open_batch(address, data)
        try:
            while number < stop and marker is None and not has_changes:
                state.changes.clear()
                try:
                    record, end = read_record(data, position, 0, 0)
                except DecodeError:
                    is_malformed = True
                    break
                typed = state.read(record)
                if self._timeline is not None:
                    self._timeline.tick(record.timestamp, address + position)
                if isinstance(typed, str):
                    self.drop(address + position, typed)
                    dropped, unreadable = dropped + 1, unreadable + 1
                elif typed[0] in TRANSACTION_MARKERS:
                    marker = typed[0]
                else:
                    reason = rules.apply(state, *typed, address + position)
                    if reason is None:
                        applied += 1
                        self._note(*typed, address + position)
                    else:
                        self.drop(address + position, reason)
                        dropped += 1
                has_changes = bool(state.changes) and self._timeline is None
                number, last, position = number + 1, position, end
        finally:
            state.close_batch()
        return FoldProgress(
            position, number, last, marker, is_malformed, has_changes, applied, dropped, unreadable
        )

    def skim(self, data: bytes, position: int, number: int, stop: int) -> FoldProgress:
        last, marker, is_malformed, unreadable = position, None, False, 0
        while number < stop and marker is None:
            try:
                record, end = read_record(data, position, 0, 0)
            except DecodeError:
                is_malformed = True
                break
            typed = self.state.read(record)
            if isinstance(typed, str):
                unreadable += 1
            elif typed[0] in TRANSACTION_MARKERS:
                marker = typed[0]
            number, last, position = number + 1, position, end
        return FoldProgress(
            position=position,
            number=number,
            last=last,
            marker=marker,
            is_malformed=is_malformed,
            has_changes=False,
            applied=0,
            dropped=0,
            unreadable=unreadable,
        )

    def apply_window(
        self,
        window: bytes,  # noqa: ARG002 - of the contract
        start: int,
        first: int,  # noqa: ARG002 - of the contract
        bounds: BatchBounds,  # noqa: ARG002 - of the contract
    ) -> WindowResult:
        """Leave all batches to `apply`."""
        return WindowResult(next=start, batches=b"", transactions=[], last=None, inside=None)

    def drop(self, address: int, reason: str) -> None:
        self._dropped.append(address)
        self._reasons.append(self._known_reasons.setdefault(reason, reason))

    @property
    def dropped(self) -> int:
        return len(self._dropped)

    def dropped_record(self, number: int) -> tuple[int, str]:
        return self._dropped[number], self._reasons[number]

    def forget_dropped(self) -> None:
        del self._dropped[:], self._reasons[:]
        self._known_reasons.clear()

    def watch(self, keys: Sequence[EntryKey]) -> None:
        self.state.changes.watch(keys)

    def changes(self) -> list[EntryChange]:
        return self.state.changes.in_order

    def keep_time(self, request: TimelineRequest) -> None:
        self._timeline = TimelineNotes(request)
        self.watch([EntryKey(table) for table in KEPT_TABLES])

    def set_clock(self, base: int, append_time: int | None) -> None:
        if self._timeline is not None:
            self._timeline.set_clock(base, append_time)

    def start_timeline(self, time: int | None) -> None:
        if self._timeline is not None:
            self._timeline.start(time)

    def end_timeline(self) -> Timeline | None:
        notes, self._timeline = self._timeline, None
        if notes is None:
            return None
        self.watch([])
        return notes.timeline()

    def topic_names(self) -> dict[str, bytes]:
        return dict(self.state.topic_ids)

    def topic_ids(self) -> list[bytes]:
        return list(self.state.topics)

    def topic_id(self, name: str) -> bytes | None:
        return self.state.topic_ids.get(name)

    def topic(self, topic_id: bytes) -> TopicEntry | None:
        topic = self.state.topics.get(topic_id)
        return None if topic is None else TopicEntry(topic.name, topic.address, topic.is_deleting)

    def partition_count(self, topic_id: bytes | None = None) -> int:
        if topic_id is not None:
            return len(self._partitions(topic_id))
        return sum(len(topic.partitions) for topic in self.state.topics.values())

    def topic_count(self) -> int:
        return len(self.state.topics)

    def numbers(self, topic_id: bytes) -> list[int]:
        return sorted(self._partitions(topic_id))

    def newest(self, topic_id: bytes, number: int) -> NewestRecord | None:
        partition = self._partitions(topic_id).get(number)
        return None if partition is None else partition.newest

    def newest_below(self, topic_id: bytes | None, exact: Fold | None) -> NewestRecord | None:
        other = None if exact is None else _state_of(exact)
        return aggregates.newest_below(self.state, topic_id, other)

    def partition(self, topic_id: bytes, number: int) -> PartitionState | None:
        partition = self._partitions(topic_id).get(number)
        return None if partition is None else self.state.of_partition(partition)

    def partitions(self, topic_id: bytes) -> list[tuple[int, PartitionState]]:
        numbered = sorted(self._partitions(topic_id).items())
        return [(number, self.state.of_partition(partition)) for number, partition in numbered]

    def states(self, chosen: Sequence[tuple[bytes, int]]) -> list[PartitionState | None]:
        return [self.partition(*topic_and_number) for topic_and_number in chosen]

    def count_with(self, condition: PartitionCondition) -> int:
        return sum(map(len, self.partitions_with(condition).values()))

    def partitions_with(self, condition: PartitionCondition) -> dict[bytes, list[int]]:
        mask = int(condition)
        return aggregates.choose(self.state, lambda partition: bool(partition.conditions & mask))

    def suspects(self, directories: Mapping[int, Sequence[bytes]]) -> dict[bytes, list[int]]:
        return aggregates.suspects(self.state, directories)

    def different(self, other: Fold) -> dict[bytes, list[int]]:
        return aggregates.different(self.state, _state_of(other))

    def replica_counts(self) -> dict[int, dict[bytes, int]]:
        return aggregates.replica_counts(self.state)

    def broker_loads(self) -> dict[int, BrokerLoad]:
        return aggregates.broker_loads(self.state)

    def with_role(
        self, role: ReplicaRole, brokers: AbstractSet[int], topics: Sequence[bytes] | None = None
    ) -> dict[bytes, list[int]]:
        return aggregates.with_role(self.state, role, brokers, topics)

    def in_directory(
        self, directory: bytes, topics: Sequence[bytes] | None = None
    ) -> dict[bytes, list[int]]:
        return aggregates.in_directory(self.state, directory, topics)

    def directories(self) -> dict[bytes, dict[int, int]]:
        return aggregates.directories(self.state)

    def under_min_isr(self, needed: Mapping[bytes, int], usual: int) -> dict[bytes, list[int]]:
        return aggregates.under_min_isr(self.state, needed, usual)

    def state_columns(self) -> StateColumns:
        return columns_of_states(
            (
                topic_id,
                [
                    (number, partition.newest.address, self.state.of_partition(partition))
                    for number, partition in sorted(topic.partitions.items())
                ],
            )
            for topic_id, topic in self.state.topics.items()
        )

    def brokers(self) -> dict[int, BrokerEntry]:
        return {number: broker.entry() for number, broker in self.state.brokers.items()}

    def tables(self) -> Tables:
        return self.state.copied_tables()

    def cluster_tables(self) -> ClusterTables:
        tables = self.state.tables
        return ClusterTables(
            dict(tables.controllers),
            dict(tables.features),
            tables.metadata_version,
            tables.producer_ids,
        )

    def _note(self, number: int, data: Any, address: int) -> None:
        """Have the timeline take a record that was applied."""
        if self._timeline is not None:
            self._timeline.keep(self.state.changes.in_order, address)
            self._timeline.apply(number, data, address, self._has_min_isr)

    def _has_min_isr(self, topic: str) -> bool:
        return MIN_ISR in self.state.tables.configs.get((TOPIC_RESOURCE, topic), {})

    def _partitions(self, topic_id: bytes) -> Mapping[int, Partition]:
        topic = self.state.topics.get(topic_id)
        return {} if topic is None else topic.partitions


def _state_of(fold: Fold) -> State:
    assert isinstance(fold, ReferenceFold)
    return fold.state
