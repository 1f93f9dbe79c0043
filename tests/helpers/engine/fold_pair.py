"""Folds of both engines with the same records, and the comparison of their answers."""

from array import array
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from kraftops.engine.fold_contract import POSITION_BITS, Fold, FoldProgress
from kraftops.engine.metadata_state import (
    EntryKey,
    ListColumn,
    PartitionCondition,
    ReplicaRole,
    StateColumns,
)
from kraftops.engine.native_fold import NativeFold
from kraftops.engine.native_rules import index_records
from kraftops.engine.reference.fold import ReferenceFold
from kraftops.engine.reference.index import index_records as index_in_python
from kraftops.errors import KraftopsError
from kraftops.log.batch import Batch, inflated
from kraftops.memory import USUAL

TABLES = (
    "topic-names",
    "topics",
    "partitions",
    "brokers",
    "controllers",
    "configs",
    "quotas",
    "acls",
    "scram",
    "tokens",
    "features",
    "producer-ids",
)


class FoldPair:
    """A fold of each engine with the same records."""

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self.native = NativeFold(self.data.__getitem__)
        self.reference = ReferenceFold("kafka", self.data.__getitem__)
        self.folds: tuple[Fold, Fold] = (self.native, self.reference)

    def watch(self, tables: Sequence[str]) -> None:
        """Have both watch all entries of some tables."""
        for fold in self.folds:
            fold.watch([EntryKey(table) for table in tables])

    def add(self, records: bytes, count: int, random: Random) -> None:
        """Apply, or skim, all records of a batch; each marker begins another unit."""
        number, self_address = len(self.data), len(self.data) << POSITION_BITS
        self.data.append(records)
        at, position = 0, 0
        assert index_records(records, 0, 0, count) == index_in_python("kafka", records, 0, 0, count)
        for fold in self.folds:
            fold.begin_unit()
        while at < count:
            stop = min(count, at + random.choice((1, 3, 1000)))
            if random.random() < 0.1:
                stops: list[FoldProgress] = [
                    fold.skim(records, position, at, stop) for fold in self.folds
                ]
            else:
                stops = [
                    fold.apply(records, self_address, position, at, stop) for fold in self.folds
                ]
            mine, theirs = stops
            assert mine == theirs, number
            if mine.has_changes:
                assert sorted(map(repr, self.native.changes())) == sorted(
                    map(repr, self.reference.changes())
                )
            if mine.is_malformed:
                break
            at, position = mine.number, mine.position
            if mine.marker is not None:
                for fold in self.folds:
                    fold.begin_unit()

    def compare(self) -> None:
        """Compare all answers."""
        mine, theirs = (dict(answers(fold)) for fold in self.folds)
        for what, answer in theirs.items():
            assert mine[what] == answer, (what, mine[what], answer)


def answers(fold: Fold) -> Iterator[tuple[str, Any]]:
    yield "dropped", [fold.dropped_record(number) for number in range(fold.dropped)]
    yield "names", list(fold.topic_names().items())
    yield "ids", fold.topic_ids()
    yield "topics", [fold.topic(topic_id) for topic_id in fold.topic_ids()]
    yield "name", [fold.topic_id(name) for name in (*fold.topic_names(), "none", "\ud800")]
    yield "counts", (fold.topic_count(), fold.partition_count())
    for topic_id in fold.topic_ids():
        numbers = fold.numbers(topic_id)
        yield f"{topic_id!r} count", fold.partition_count(topic_id)
        yield f"{topic_id!r} numbers", numbers
        yield f"{topic_id!r} newest", [fold.newest(topic_id, number) for number in numbers]
        yield f"{topic_id!r} all", _of(lambda topic_id=topic_id: fold.partitions(topic_id))
        yield f"{topic_id!r} below", fold.newest_below(topic_id, None)
        for number in numbers:
            yield (
                f"{topic_id!r} {number}",
                _of(lambda topic_id=topic_id, number=number: fold.partition(topic_id, number)),
            )
    yield "nothing", (fold.partition(bytes(16), 1), fold.newest(bytes(16), 0))
    yield "newest", fold.newest_below(None, None)
    for condition in PartitionCondition:
        yield (
            condition.name or "",
            (fold.count_with(condition), list(fold.partitions_with(condition).items())),
        )
    directories = {broker: [] for broker in (1, 2)} | {3: [bytes(15) + b"\x4d"]}
    yield "suspects", _of(lambda: list(fold.suspects(directories).items()))
    yield "holdings", _of(fold.replica_counts)
    yield "loads", _of(lambda: list(fold.broker_loads().items()))
    for role in ReplicaRole:
        some = fold.topic_ids()[::-2] if role is ReplicaRole.FOLLOWER else None
        yield (
            role.name,
            _of(lambda role=role, some=some: [*fold.with_role(role, {1, 3}, some).items()]),
        )
    yield "directories", _of(lambda: list(fold.directories().items()))
    for directory in (bytes(16), bytes(15) + b"\x02", bytes(15) + b"\x4d"):
        yield (
            f"in {directory!r}",
            _of(lambda directory=directory: [*fold.in_directory(directory).items()]),
        )
    yield "under min ISR", [*fold.under_min_isr(dict.fromkeys(fold.topic_ids()[::2], 3), 2).items()]
    yield "columns", _of(lambda: column_values(fold.state_columns()))
    yield "brokers", list(fold.brokers().items())
    tables = fold.tables()
    yield "tables", tables._replace(scram={})
    yield "cluster tables", fold.cluster_tables()
    yield "orders", [[*one.items()] for one in tables if isinstance(one, dict)][:5]
    yield "scram", {mechanism: users for mechanism, users in tables.scram.items() if users}


def column_values(columns: StateColumns) -> list[object]:
    """Return the values of all columns; lists may lie in any order, and stand for several."""
    lists = [one for one in columns if isinstance(one, ListColumn)]
    return [
        columns.topics,
        *(one.tolist() for one in columns if isinstance(one, array)),
        *(one.sizes.tolist() for one in lists),
        *(
            [one.at(at) for at in range(len(columns.numbers))]
            for one in lists
            if one is not columns.directories
        ),
        [
            [columns.directory_ids[place] for place in columns.directories.at(at)]
            for at in range(len(columns.numbers))
        ],
    ]


def _of(ask: Any) -> object:
    try:
        return ask()
    except KraftopsError as error:
        return type(error), error.message


def inside(batch: Batch) -> tuple[bytes, int]:
    """Return the records of a batch from byte 0 on, and their count."""
    header = batch.header
    data, start = inflated(batch, header, USUAL.meter())
    return data[start:], header.record_count
