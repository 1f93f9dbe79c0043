"""Batches are indexed in groups of similar records."""

from collections.abc import Callable
from typing import Any

import pytest

from kraftops.engine.index_contract import RecordGroup
from kraftops.engine.reference.index import index_records as index_in_python
from kraftops.log.batch import HEADER_SIZE, Record, read_record, record_bytes
from kraftops.records import metadata_numbers as types
from tests.helpers.engine.comparison import has_native
from tests.helpers.engine.fold_records import (
    BEGIN,
    NO_OP,
    T,
    U,
    change,
    config,
    partition,
    topic,
)
from tests.helpers.logs.random_logs import (
    MetadataRecord,
    log_batches,
    log_bytes,
    new_record,
    unreadable,
)
from tests.helpers.logs.segments import batches_of
from tests.helpers.logs.written import batch_bytes

Index = Callable[[str, bytes, int, int, int], list[RecordGroup]]
INDEXES: dict[str, Index] = {"reference": index_in_python}
if has_native():
    from kraftops.engine import native_rules

    INDEXES["native"] = lambda _, *records: native_rules.index_records(*records)


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
class TestIndex:
    def _groups(self, index: Index, *records: MetadataRecord) -> list[tuple[Any, ...]]:
        """Return what is groups, but for positions, which are looked at."""
        (batch,) = batches_of(log_bytes(log_batches(records)))
        found = index("kafka", batch.data, HEADER_SIZE, 0, len(records))
        ends = [HEADER_SIZE]
        for _ in records:
            ends.append(read_record(batch.data, ends[-1], 0, 0)[1])
        for one in found:
            assert (one.start, one.end) == (ends[one.number], ends[one.number + one.total])
        assert sum(one.total for one in found) == len(records)
        return [(one.number, one.total, *one[4:]) for one in found]

    def test_partitions_of_a_topic_are_one_group(self, index: Index) -> None:
        records = [partition(0), partition(5), partition(1), partition(0, U), partition(1, U)]

        assert self._groups(index, topic(), *records, change(3), change(2)) == [
            (0, 1, types.TOPIC, 0, None, None),
            (1, 3, types.PARTITION, 2, T, 0),
            (4, 2, types.PARTITION, 2, U, 0),
            (6, 2, types.PARTITION_CHANGE, 2, T, 3),
        ]

    def test_numbers_of_other_ranges_are_other_groups(self, index: Index) -> None:
        numbers = (8191, 0, 8192, 16383, 16384, -1, -8192, -8193)

        groups = self._groups(index, *map(partition, numbers))

        assert [(total, number) for _, total, *_, number in groups] == [
            (2, 8191),
            (2, 8192),
            (1, 16384),
            (2, -1),
            (1, -8193),
        ]

    def test_other_versions_and_types_are_other_groups(self, index: Index) -> None:
        old = new_record("PartitionRecord", 1, partitionId=1, topicId=T)

        assert self._groups(index, partition(), old, old, change(), partition()) == [
            (0, 1, types.PARTITION, 2, T, 0),
            (1, 2, types.PARTITION, 1, T, 1),
            (3, 1, types.PARTITION_CHANGE, 2, T, 0),
            (4, 1, types.PARTITION, 2, T, 0),
        ]

    def test_other_records_are_grouped_only_if_they_have_no_effect(self, index: Index) -> None:
        unread = [unreadable(b""), unreadable(b"")]
        records = [NO_OP, NO_OP, config("1"), config("1"), *unread, topic(), topic(), BEGIN]

        nothing = (None, None)
        assert self._groups(index, *records) == [
            (0, 2, types.NO_OP, 0, *nothing),
            (2, 1, types.CONFIG, 0, *nothing),
            (3, 1, types.CONFIG, 0, *nothing),
            (4, 1, None, None, *nothing),
            (5, 1, None, None, *nothing),
            (6, 1, types.TOPIC, 0, *nothing),
            (7, 1, types.TOPIC, 0, *nothing),
            (8, 1, types.BEGIN_TRANSACTION, 0, *nothing),
        ]

    def test_record_with_a_key_has_no_type(self, index: Index) -> None:
        data = batch_bytes([Record(0, 0, b"k", NO_OP.value), Record(1, 0, None, NO_OP.value)])

        groups = index("kafka", data, HEADER_SIZE, 0, 2)
        assert [one.type for one in groups] == [None, types.NO_OP]

    def test_begins_and_ends_at_the_given_numbers(self, index: Index) -> None:
        (batch,) = batches_of(log_bytes(log_batches([NO_OP] * 5)))
        position = read_record(batch.data, HEADER_SIZE, 0, 0)[1]

        (groups,) = index("kafka", batch.data, position, 1, 4)
        assert (groups.number, groups.total, groups.start) == (1, 3, position)

    def test_ends_before_bytes_that_are_no_record(self, index: Index) -> None:
        body = record_bytes(Record(0, 0, None, NO_OP.value), 0, 0)

        (groups,) = index("kafka", body * 2 + b"\x7e\0", 0, 0, 4)
        assert (groups.total, groups.end) == (2, 2 * len(body))
