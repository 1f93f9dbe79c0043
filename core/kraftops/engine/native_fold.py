"""The compiled engine's fold: its answers as the values of the contract."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import ParamSpec, TypeVar

from kraftops.engine import _native
from kraftops.engine.fold_contract import (
    BatchBounds,
    BatchHead,
    Fetch,
    Fold,
    FoldProgress,
    WindowResult,
)
from kraftops.engine.metadata_state import (
    BrokerEntry,
    BrokerLoad,
    ClusterTables,
    EntryChange,
    EntryKey,
    ListColumn,
    NewestRecord,
    PartitionCondition,
    PartitionState,
    ReplicaRole,
    StateColumns,
    Tables,
    TopicEntry,
)
from kraftops.engine.native_rules import LIMITS, rules
from kraftops.engine.native_values import named, named_all, named_if_any
from kraftops.engine.timeline_contract import (
    KEPT_TABLES,
    Loss,
    TimedChange,
    Timeline,
    TimelineRequest,
)
from kraftops.errors import DecodeError, KraftopsError

P = ParamSpec("P")
T = TypeVar("T")


class NativeFold(Fold):
    """The state of a metadata log, folded by the compiled engine."""

    def __init__(self, fetch: Fetch) -> None:
        """Begin with an empty state; *fetch* returns the bytes of a batch that is needed again."""
        self.native = _native.Fold(rules(), LIMITS, fetch)
        """For other folds of this engine."""

    def copy(self, fetch: Fetch) -> NativeFold:
        fold = NativeFold.__new__(NativeFold)
        fold.native = _call(self.native.copy, fetch)
        return fold

    def size(self) -> int:
        return self.native.size()

    def begin_unit(self) -> None:
        self.native.begin_unit()

    def seed(self, *, is_seeded: bool) -> None:
        self.native.seed(is_seeded)

    def apply(
        self, data: bytes, address: int, position: int, number: int, stop: int
    ) -> FoldProgress:
        progress = _call(self.native.apply, data, address, position, number, stop)
        return named(FoldProgress, progress)

    def skim(self, data: bytes, position: int, number: int, stop: int) -> FoldProgress:
        return named(FoldProgress, _call(self.native.skim, data, position, number, stop))

    def apply_window(
        self, window: bytes, start: int, first: int, bounds: BatchBounds
    ) -> WindowResult:
        result = _call(self.native.apply_window, window, start, first, bounds)
        return named(WindowResult, result)._replace(
            last=named_if_any(BatchHead, result.last),
            inside=named_if_any(FoldProgress, result.inside),
        )

    def drop(self, address: int, reason: str) -> None:
        self.native.drop(address, reason)

    @property
    def dropped(self) -> int:
        return self.native.dropped

    def dropped_record(self, number: int) -> tuple[int, str]:
        return self.native.dropped_record(number)

    def forget_dropped(self) -> None:
        self.native.forget_dropped()

    def watch(self, keys: Sequence[EntryKey]) -> None:
        self.native.watch([(table, key) for table, key in keys])

    def changes(self) -> list[EntryChange]:
        return named_all(EntryChange, self.native.changes())

    def keep_time(self, request: TimelineRequest) -> None:
        self.native.keep_time(request, list(KEPT_TABLES))

    def set_clock(self, base: int, append_time: int | None) -> None:
        self.native.set_clock(base, append_time)

    def start_timeline(self, time: int | None) -> None:
        self.native.start_timeline(time)

    def end_timeline(self) -> Timeline | None:
        timeline = self.native.end_timeline()
        if timeline is None:
            return None
        return named(Timeline, timeline)._replace(
            changes=[
                TimedChange(timed.time, timed.address, named(EntryChange, timed.change))
                for timed in timeline.changes
            ],
            partitions=named_all(Loss, timeline.partitions),
            topics=named_all(Loss, timeline.topics),
        )

    def topic_names(self) -> dict[str, bytes]:
        return self.native.topic_names()

    def topic_ids(self) -> list[bytes]:
        return self.native.topic_ids()

    def topic_id(self, name: str) -> bytes | None:
        return None if _has_surrogates(name) else self.native.topic_id(name)

    def topic(self, topic_id: bytes) -> TopicEntry | None:
        topic = self.native.topic(topic_id)
        return None if topic is None else TopicEntry(*topic)

    def partition_count(self, topic_id: bytes | None = None) -> int:
        return self.native.partition_count(topic_id)

    def topic_count(self) -> int:
        return self.native.topic_count()

    def numbers(self, topic_id: bytes) -> list[int]:
        return self.native.numbers(topic_id)

    def newest(self, topic_id: bytes, number: int) -> NewestRecord | None:
        if not -_INT32 <= number < _INT32:
            return None
        return named_if_any(NewestRecord, self.native.newest(topic_id, number))

    def newest_below(self, topic_id: bytes | None, exact: Fold | None) -> NewestRecord | None:
        newest = self.native.newest_below(topic_id, _native_of(exact) if exact else None)
        return named_if_any(NewestRecord, newest)

    def partition(self, topic_id: bytes, number: int) -> PartitionState | None:
        if not -_INT32 <= number < _INT32:
            return None
        return named_if_any(PartitionState, _call(self.native.partition, topic_id, number))

    def partitions(self, topic_id: bytes) -> list[tuple[int, PartitionState]]:
        states = _call(self.native.partitions, topic_id)
        return [(number, named(PartitionState, state)) for number, state in states]

    def states(self, chosen: Sequence[tuple[bytes, int]]) -> list[PartitionState | None]:
        states = _call(self.native.states, list(chosen))
        return [named_if_any(PartitionState, state) for state in states]

    def count_with(self, condition: PartitionCondition) -> int:
        return self.native.count_with(condition)

    def partitions_with(self, condition: PartitionCondition) -> dict[bytes, list[int]]:
        return dict(self.native.partitions_with(condition))

    def suspects(self, directories: Mapping[int, Sequence[bytes]]) -> dict[bytes, list[int]]:
        ids_by_broker = {broker: list(ids) for broker, ids in directories.items()}
        return dict(_call(self.native.suspects, ids_by_broker))

    def different(self, other: Fold) -> dict[bytes, list[int]]:
        return dict(_call(self.native.different, _native_of(other)))

    def replica_counts(self) -> dict[int, dict[bytes, int]]:
        return _call(self.native.replica_counts)

    def broker_loads(self) -> dict[int, BrokerLoad]:
        loads = _call(self.native.broker_loads)
        return {broker: BrokerLoad(*load) for broker, load in loads.items()}

    def with_role(
        self, role: ReplicaRole, brokers: AbstractSet[int], topics: Sequence[bytes] | None = None
    ) -> dict[bytes, list[int]]:
        valid_brokers = {broker for broker in brokers if -_INT32 <= broker < _INT32}
        return dict(_call(self.native.with_role, role, valid_brokers, _listed(topics)))

    def in_directory(
        self, directory: bytes, topics: Sequence[bytes] | None = None
    ) -> dict[bytes, list[int]]:
        return dict(_call(self.native.in_directory, directory, _listed(topics)))

    def directories(self) -> dict[bytes, dict[int, int]]:
        return _call(self.native.directories)

    def under_min_isr(self, needed: Mapping[bytes, int], usual: int) -> dict[bytes, list[int]]:
        return dict(self.native.under_min_isr(dict(needed), usual))

    def state_columns(self) -> StateColumns:
        topics, numbers, newest, scalars, lists, directories = _call(self.native.state_columns)
        lists.reverse()
        scalars.reverse()
        head = (topics, array("i", numbers), array("q", newest))
        del numbers, newest  # all columns twice would be the most memory of a view
        columns: list[array[int] | ListColumn] = []
        while scalars:
            columns.append(array("i", scalars.pop()))
        while lists:
            places, items, ends, sizes = lists.pop()
            column = array("I", places), array("i", items), array("I", ends)
            # In one byte each, if that is enough for all.
            column_sizes = array("B" if len(sizes) == len(column[0]) else "I", sizes)
            columns.append(ListColumn(*column, column_sizes))
        return StateColumns._make((*head, *columns, directories))

    def brokers(self) -> dict[int, BrokerEntry]:
        return {
            broker.id: BrokerEntry(
                broker.epoch, tuple(broker.addresses), named(NewestRecord, broker.newest)
            )
            for broker in self.native.brokers()
        }

    def tables(self) -> Tables:
        return named(Tables, self.native.tables())

    def cluster_tables(self) -> ClusterTables:
        return named(ClusterTables, self.native.cluster_tables())


_INT32 = 1 << 31


def _call(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call the engine; return its answer.

    Raises:
        DecodeError: a record is not where it was before.
        KraftopsError: the engine failed, which is a bug of it.
    """
    try:
        return work(*args, **kwargs)
    except LookupError as error:
        raise DecodeError(str(error)) from None
    except RuntimeError as error:
        hint = "KRAFTOPS_ENGINE=reference reads it slower"
        raise KraftopsError(str(error), hint=hint) from error


def _listed(topics: Sequence[bytes] | None) -> list[bytes] | None:
    return None if topics is None else list(topics)


def _has_surrogates(text: str) -> bool:
    """Tell whether a text has surrogates, which no text of a record has."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def _native_of(fold: Fold) -> _native.Fold:
    assert isinstance(fold, NativeFold)
    return fold.native
