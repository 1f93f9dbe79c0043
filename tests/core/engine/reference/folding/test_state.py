"""A state keeps addresses, and reads a partition's record again where nothing has changed it."""

from typing import Any

import pytest

from kraftops.engine.fold_contract import POSITION_BITS
from kraftops.engine.metadata_state import EntryChange, EntryKey, NewestRecord, PartitionCondition
from kraftops.engine.reference.folding.partitions import registered
from kraftops.engine.reference.folding.state import Partition, State, WatchedChanges
from kraftops.errors import DecodeError
from kraftops.log.batch import HEADER_SIZE, Record
from tests.helpers.engine.fold_records import ELR, NO_OP, fields_of, partition, topic
from tests.helpers.logs.random_logs import MetadataRecord, log_batches, log_bytes

BATCH = 5
ADDRESS = (BATCH << POSITION_BITS) + HEADER_SIZE


def data_of(record: MetadataRecord) -> bytes:
    return log_bytes(log_batches([record]))


def new_partition(**changes: Any) -> Partition:
    state = registered(fields_of(partition(**changes)))
    assert not isinstance(state, str)
    return Partition(state, ADDRESS)


class TestReading:
    def test_unchanged_partition_is_read_from_its_batch(self) -> None:
        data = data_of(partition(leader=2))
        asked: list[int] = []

        def fetch(number: int) -> bytes:
            asked.append(number)
            return data

        state = State("kafka", fetch)

        assert state.of_partition(new_partition()).leader == 2
        assert asked == [BATCH]

    def test_open_batch_is_not_fetched(self) -> None:
        state = State("kafka", lambda _: data_of(partition(leader=1)))
        state.open_batch(BATCH << POSITION_BITS, data_of(partition(leader=2)))

        assert state.of_partition(new_partition()).leader == 2
        state.close_batch()
        assert state.of_partition(new_partition()).leader == 1

    def test_changed_partition_is_not_read(self) -> None:
        changed = new_partition()
        after = registered(fields_of(partition(leader=2)))
        assert not isinstance(after, str)
        changed.change(after, ADDRESS + 1)

        assert State("kafka", bytes).of_partition(changed) is after

    @pytest.mark.parametrize(
        ("record", "reason"),
        [
            pytest.param(topic(), "a record of type 2 is where", id="another-type"),
            pytest.param(partition(leaderRecoveryState=7), "leader recovery", id="refused"),
        ],
    )
    def test_another_record_at_the_address_is_an_error(
        self, record: MetadataRecord, reason: str
    ) -> None:
        state = State("kafka", lambda _: data_of(record))

        with pytest.raises(DecodeError, match=reason):
            state.of_partition(new_partition())

    @pytest.mark.parametrize(
        "record",
        [
            pytest.param(Record(0, 0, b"", NO_OP.value), id="key"),
            pytest.param(Record(0, 0, None, NO_OP.value, ((b"h", None),)), id="headers"),
        ],
    )
    def test_record_with_key_or_headers_is_not_read(self, record: Record) -> None:
        state = State("kafka", bytes)

        assert state.read(record) == "a metadata record with a key or headers"
        assert state.read(Record(0, 0, None, NO_OP.value)) == (20, {})


class TestPartition:
    def test_conditions_are_those_of_the_newest_state(self) -> None:
        found = new_partition(isr=[1])
        assert found.conditions == PartitionCondition.UNDER_REPLICATED

        after = registered(fields_of(partition(leader=-1, **ELR)))
        assert not isinstance(after, str)
        found.change(after, 7)

        assert found.conditions == PartitionCondition.LEADERLESS | PartitionCondition.WITH_ELR
        assert found.has_elr

    def test_possible_change_counts_no_record_until_the_next_change(self) -> None:
        found = new_partition()
        state = registered(fields_of(partition()))
        assert not isinstance(state, str)

        found.may_change(state, 7)
        assert found.newest == NewestRecord(7, 1, is_certain=False)
        found.change(state, 8)
        assert found.newest == NewestRecord(8, 2)


def test_removing_and_putting_an_entry_is_one_change() -> None:
    changes = WatchedChanges()
    changes.watch([EntryKey("topics")])

    changes.note("topics", (b"a",), 1, None)
    changes.note("topics", (b"a",), None, 5)

    assert changes.in_order == [EntryChange("topics", (b"a",), 1, 5)]


@pytest.mark.parametrize(
    ("table", "key", "before"),
    [
        pytest.param("brokers", (b"a", 1), 1, id="other-table"),
        pytest.param("partitions", (b"b", 1), 1, id="other-key"),
        pytest.param("partitions", (b"a", 1), None, id="never-there"),
    ],
)
def test_other_entries_are_left_out(
    table: str, key: tuple[object, ...], before: int | None
) -> None:
    changes = WatchedChanges()
    changes.watch([EntryKey("partitions", (b"a",))])

    changes.note(table, key, before, None)

    assert not changes


def test_next_record_begins_without_changes() -> None:
    changes = WatchedChanges()
    changes.watch([EntryKey("brokers")])
    changes.note("brokers", (1,), None, 5)

    changes.clear()
    assert not changes
    changes.note("brokers", (1,), 5, 6)
    assert changes.in_order == [EntryChange("brokers", (1,), 5, 6)]
