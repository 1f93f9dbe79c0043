"""Folds apply records up to a marker or a watched change, and keep the reasons of dropped ones."""

import pytest

from kraftops.engine.fold_contract import POSITION_BITS, FoldProgress
from kraftops.engine.metadata_state import (
    NewestRecord,
)
from kraftops.log.batch import HEADER_SIZE, Record, record_bytes
from kraftops.records.meaning import LARGEST_DECODED
from tests.helpers.engine.fold_driver import FoldDriver, counted
from tests.helpers.engine.fold_records import (
    ELR,
    MARKERS,
    NO_OP,
    T,
    U,
    change,
    clear_elr,
    partition,
    scram,
    topic,
)
from tests.helpers.logs.random_logs import MetadataRecord, log_batches, log_bytes, unreadable
from tests.helpers.logs.segments import batches_of
from tests.helpers.logs.written import batch_bytes


class TestApply:
    def test_counts_records_up_to_the_end(self, driver: FoldDriver) -> None:
        records = [topic(), partition(), change(4), unreadable(b"\1"), NO_OP]

        stop = driver.add(*records)

        assert counted(stop) == (5, None, False, False, 3, 2, 1)
        assert driver.place(stop) is None
        assert list(driver.reasons) == [2, 3]

    @pytest.mark.parametrize(("marker", "number"), MARKERS)
    def test_stops_after_a_marker_without_counting_it(
        self, driver: FoldDriver, marker: MetadataRecord, number: int
    ) -> None:
        batch = driver.put(topic(), marker, partition(), change(9))

        stop = driver.apply(batch)
        rest = driver.apply(batch, stop)

        assert counted(stop) == (2, number, False, False, 1, 0, 0)
        assert driver.place(stop) == 2
        assert counted(rest) == (4, None, False, False, 1, 1, 0)

    def test_stops_before_bytes_that_are_no_record(self, driver: FoldDriver) -> None:
        record = topic().value
        body = record_bytes(Record(0, 0, None, record), 0, 0)

        stop = driver.fold.apply(body + b"\x7e\0", 0, 0, 0, 3)

        assert stop == FoldProgress(len(body), 1, 0, None, True, False, 1, 0, 0)
        assert driver.fold.topic_count() == 1

    def test_stops_at_the_given_number(self, driver: FoldDriver) -> None:
        (batch,) = batches_of(log_bytes(log_batches([topic(), partition(), partition(1)])))
        stop = driver.fold.apply(batch.data, 0, HEADER_SIZE, 0, 2)

        assert stop.number == 2
        assert driver.fold.numbers(T) == [0]

    @pytest.mark.parametrize("where", ["key", "header"])
    def test_record_with_key_or_header_is_unreadable(self, driver: FoldDriver, where: str) -> None:
        key, headers = (b"k", ()) if where == "key" else (None, ((b"k", None),))
        data = batch_bytes([Record(0, 0, key, topic().value, headers)])

        stop = driver.fold.apply(data, 1 << POSITION_BITS, HEADER_SIZE, 0, 1)

        assert counted(stop) == (1, None, False, False, 0, 1, 1)
        address = (1 << POSITION_BITS) + HEADER_SIZE
        reason = "a metadata record with a key or headers"
        assert driver.fold.dropped_record(0) == (address, reason)

    @pytest.mark.parametrize(
        ("value", "reason"),
        [
            (None, "Error while reading frame version"),
            (
                b"\1\6\0\0",
                "org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id 6",
            ),
            (b"\1\3\0", "Failed to deserialize record with type 3"),
            (b"\1\24\0\0\0", "Found 1 byte(s) of garbage after 20"),
        ],
    )
    def test_unreadable_record_is_dropped_with_the_reason(
        self, driver: FoldDriver, value: bytes | None, reason: str
    ) -> None:
        driver.add(unreadable(value))

        assert driver.reasons == {0: reason}

    @pytest.mark.parametrize("more", [0, 1])
    def test_large_record_is_not_decoded(self, driver: FoldDriver, more: int) -> None:
        size = LARGEST_DECODED + more
        small = scram().value
        assert small is not None
        # The length of the salt takes four bytes instead of one.
        large = scram(salt=bytes(size - len(small) - 2))
        assert large.value is not None
        assert len(large.value) == size

        stop = driver.add(large)

        assert stop.unreadable == more
        reason = f"a record of {size} bytes is not decoded, only up to {LARGEST_DECODED}"
        assert driver.reasons == ({0: reason} if more else {})


class TestSkim:
    def test_applies_and_drops_nothing(self, driver: FoldDriver) -> None:
        stop = driver.skim(driver.put(topic(), unreadable(b""), change(4)))

        assert counted(stop) == (3, None, False, False, 0, 0, 1)
        assert driver.fold.topic_count() == driver.fold.dropped == 0

    @pytest.mark.parametrize(("marker", "number"), MARKERS)
    def test_stops_after_a_marker(
        self, driver: FoldDriver, marker: MetadataRecord, number: int
    ) -> None:
        batch = driver.put(topic(), unreadable(b""), marker, NO_OP)

        stop = driver.skim(batch)

        assert counted(stop) == (3, number, False, False, 0, 0, 1)
        assert driver.place(stop) == 3
        assert counted(driver.skim(batch, stop)) == (4, None, False, False, 0, 0, 0)

    def test_stops_before_bytes_that_are_no_record(self, driver: FoldDriver) -> None:
        body = record_bytes(Record(0, 0, None, NO_OP.value), 0, 0)

        stop = driver.fold.skim(body + b"\x7e\0", 0, 0, 3)

        assert stop == FoldProgress(len(body), 1, 0, None, True, False, 0, 0, 0)


class TestDropped:
    def test_are_in_order(self, driver: FoldDriver) -> None:
        driver.add(change(), topic())
        driver.fold.drop(5, "because")
        driver.add(change())

        found = [driver.fold.dropped_record(number) for number in range(driver.fold.dropped)]
        assert found == [
            (driver.addresses[0], "there is no topic with this id"),
            (5, "because"),
            (driver.addresses[2], "there is no such partition"),
        ]

    def test_are_forgotten(self, driver: FoldDriver) -> None:
        driver.add(change())

        driver.fold.forget_dropped()

        assert driver.fold.dropped == 0
        driver.add(change())
        assert list(driver.reasons) == [1]


class TestSeed:
    def test_clear_elr_record_may_be_the_newest_change(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition(), partition(1, **ELR), topic(U, "b"), partition(0, U))
        before = driver.fold.partition(T, 0)
        driver.fold.seed(is_seeded=True)
        driver.each(clear_elr("a"))

        addresses = driver.addresses
        assert driver.fold.newest(T, 0) == NewestRecord(addresses[5], 1, is_certain=False)
        assert driver.fold.newest(T, 1) == NewestRecord(addresses[5], 2)
        assert driver.fold.newest(U, 0) == NewestRecord(addresses[4], 1)
        assert driver.fold.partition(T, 0) == before

    def test_later_change_is_certain_again(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition())
        driver.fold.seed(is_seeded=True)
        driver.each(clear_elr(), clear_elr(), change())

        assert driver.fold.newest(T, 0) == NewestRecord(driver.addresses[4], 2)

    def test_seeding_ends(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition())
        driver.fold.seed(is_seeded=True)
        driver.fold.seed(is_seeded=False)
        driver.each(clear_elr())

        assert driver.fold.newest(T, 0) == NewestRecord(driver.addresses[1], 1)
