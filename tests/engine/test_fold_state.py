"""Folds return topics, partitions, brokers and other entries as their records made them."""

from typing import Any

import pytest

from kraftops.engine.metadata_state import (
    BrokerEntry,
    NewestRecord,
    PartitionCondition,
    TopicEntry,
)
from kraftops.errors import DecodeError, SourceError
from kraftops.log.batch import HEADER_SIZE
from tests.helpers.engine.fold_driver import FoldDriver, Make
from tests.helpers.engine.fold_records import (
    D1,
    D2,
    ELR,
    NO_OP,
    T,
    U,
    V,
    broker,
    change,
    clear_elr,
    config,
    feature,
    fence,
    partition,
    quota,
    registration_change,
    scram,
    token,
    topic,
    unfence,
)
from tests.helpers.logs.random_logs import (
    MetadataRecord,
    log_batches,
    log_bytes,
    new_record,
    unreadable,
    uuid,
)


class TestTopics:
    def test_are_found_by_name_and_id(self, driver: FoldDriver) -> None:
        driver.each(topic(), topic(U, "b"), topic(V, "b"))

        fold, addresses = driver.fold, driver.addresses
        assert list(fold.topic_names().items()) == [("a", T), ("b", V)]
        assert fold.topic_ids() == [T, U, V]
        assert fold.topic_count() == 3
        assert (fold.topic_id("b"), fold.topic_id("c")) == (V, None)
        assert fold.topic(U) == TopicEntry("b", addresses[1])
        assert fold.topic(uuid(99)) is None

    def test_partitions_are_in_the_order_of_their_numbers(self, driver: FoldDriver) -> None:
        driver.each(topic(), *(partition(number) for number in (5, -1, 70_000, 0)), topic(U, "b"))
        driver.each(change(5, leader=9), partition(0, U))

        fold = driver.fold
        assert fold.numbers(T) == [-1, 0, 5, 70_000]
        assert [(number, one.leader) for number, one in fold.partitions(T)] == [
            (-1, 1),
            (0, 1),
            (5, 9),
            (70_000, 1),
        ]
        assert (fold.partition_count(), fold.partition_count(T), fold.partition_count(U)) == (
            5,
            4,
            1,
        )
        assert fold.newest(T, 5) == NewestRecord(driver.addresses[6], 2)
        assert fold.newest(T, 0) == NewestRecord(driver.addresses[4], 1)

    def test_unknown_topics_and_partitions_have_nothing(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition())

        fold = driver.fold
        assert fold.numbers(U) == []
        assert fold.partitions(U) == []
        assert fold.partition_count(U) == 0
        assert fold.partition(T, 1) is fold.partition(U, 0) is None
        assert fold.newest(T, 1) is fold.newest(U, 0) is None

    def test_batch_that_cannot_be_read_again_is_an_error(self, make: Make) -> None:
        def fetch(_: int) -> bytes:
            raise SourceError("it has changed")

        fold = make("kafka", fetch)
        data = log_bytes(log_batches([topic(), partition()]))
        assert fold.apply(data, 0, HEADER_SIZE, 0, 2).applied == 2

        with pytest.raises(SourceError, match="it has changed"):
            fold.partition(T, 0)
        with pytest.raises(SourceError, match="it has changed"):
            fold.partitions(T)

    @pytest.mark.parametrize(
        "other",
        [[topic(), NO_OP, NO_OP], [topic(), unreadable(b"\1\3\2")], [topic()]],
        ids=["another", "unreadable", "none"],
    )
    def test_record_that_is_gone_is_an_error(self, make: Make, other: list[MetadataRecord]) -> None:
        fold = make("kafka", lambda _: log_bytes(log_batches(other)))
        data = log_bytes(log_batches([topic(), partition()]))
        fold.apply(data, 0, HEADER_SIZE, 0, 2)

        with pytest.raises(DecodeError):
            fold.partition(T, 0)


class TestBrokers:
    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ([], [0]),
            ([fence(), unfence()], [0, 2]),
            ([unfence(), registration_change(fenced=1)], [0, 2]),
            ([registration_change(fenced=-1), registration_change()], [0, 1]),
            ([registration_change(inControlledShutdown=1), fence()], [0, 1, 2]),
            ([registration_change(fenced=1, inControlledShutdown=1)], [0, 1]),
            ([registration_change(logDirs=[D1]), registration_change(logDirs=[D2])], [0, 2]),
            ([registration_change(logDirs=[D1]), registration_change(logDirs=[])], [0, 1]),
            ([registration_change(cordonedLogDirs=[D1])] * 2, [0, 2]),
            (
                [registration_change(cordonedLogDirs=[]), fence(), registration_change()],
                [0, 1, 2],
            ),
            ([fence(), broker(), unfence()], [2, 3]),
        ],
    )
    def test_entry_has_the_records_that_make_its_state(
        self, driver: FoldDriver, changes: list[MetadataRecord], expected: list[int]
    ) -> None:
        driver.each(broker(), *changes)

        entry = driver.fold.brokers()[1]
        assert entry.addresses == tuple(driver.addresses[number] for number in expected)
        records = len(changes) + 1 - expected[0]
        assert entry.newest == NewestRecord(driver.addresses[-1], records)

    def test_refused_change_is_not_counted(self, driver: FoldDriver) -> None:
        driver.each(
            broker(), new_record("FenceBrokerRecord", id=1, epoch=6), registration_change(fenced=2)
        )

        address = driver.addresses[0]
        assert driver.fold.brokers() == {1: BrokerEntry(7, (address,), NewestRecord(address, 1))}

    def test_are_in_the_order_in_which_they_came(self, driver: FoldDriver) -> None:
        driver.each(
            broker(3), broker(1), broker(2), new_record("UnregisterBrokerRecord", brokerId=1)
        )
        driver.each(broker(3, brokerEpoch=8), broker(1))

        assert [(number, one.epoch) for number, one in driver.fold.brokers().items()] == [
            (3, 8),
            (2, 7),
            (1, 7),
        ]


class TestTables:
    def test_entries_have_the_addresses_of_their_records(self, driver: FoldDriver) -> None:
        driver.each(
            new_record("RegisterControllerRecord", controllerId=3),
            config("1"),
            quota(),
            new_record("AccessControlEntryRecord", id=V),
            scram(),
            token(),
            feature(1),
            feature(20, "metadata.version"),
            feature(1, "kraft.version"),
            new_record("ProducerIdsRecord"),
        )

        at = driver.addresses
        assert driver.fold.tables()._asdict() == {
            "controllers": {3: at[0]},
            "failed_replicas": {},
            "configs": {(2, "a"): {"k": at[1]}},
            "quotas": {(("user", None),): {"k": at[2]}},
            "acls": {V: at[3]},
            "scram": {1: {"u": at[4]}},
            "tokens": {"t": at[5]},
            "features": {"group.version": (1, at[6])},
            "metadata_version": (20, at[7]),
            "producer_ids": at[9],
        }
        assert driver.fold.cluster_tables()._asdict() == {
            "controllers": {3: at[0]},
            "features": {"group.version": (1, at[6])},
            "metadata_version": (20, at[7]),
            "producer_ids": at[9],
        }

    def test_update_keeps_its_place_and_a_removed_key_comes_back_last(
        self, driver: FoldDriver
    ) -> None:
        driver.each(config("1"), config("1", "l"), config("1", "m"), config("2"), config(None, "l"))
        driver.each(config("2", "l"))

        assert list(driver.fold.tables().configs[2, "a"]) == ["k", "m", "l"]

    def test_returned_tables_do_not_change(self, driver: FoldDriver) -> None:
        driver.add(config("1"))
        tables, names = driver.fold.tables(), driver.fold.topic_names()

        driver.each(config("1", "l"), topic(), token())

        assert list(tables.configs[2, "a"]) == ["k"]
        assert not tables.tokens
        assert not names


class TestConditions:
    @pytest.mark.parametrize(
        ("changes", "condition"),
        [
            ({"leader": -1}, PartitionCondition.LEADERLESS),
            ({"isr": [1]}, PartitionCondition.UNDER_REPLICATED),
            ({"addingReplicas": [2]}, PartitionCondition.REASSIGNING),
            ({"removingReplicas": [2]}, PartitionCondition.REASSIGNING),
            ({"eligibleLeaderReplicas": [2]}, PartitionCondition.WITH_ELR),
            ({"directories": [uuid(0), D1]}, PartitionCondition.WITH_DIRECTORIES),
            ({"directories": [uuid(1), uuid(1)]}, PartitionCondition.WITH_DIRECTORIES),
        ],
    )
    def test_record_and_change_meet_a_condition(
        self, driver: FoldDriver, changes: dict[str, Any], condition: PartitionCondition
    ) -> None:
        driver.each(topic(), partition(), partition(9, **changes), partition(2), partition(1))
        driver.each(topic(U, "b"), partition(0, U), change(1, **changes))

        assert driver.fold.partitions_with(condition) == {T: [1, 9]}
        assert driver.fold.count_with(condition) == 2
        for other in set(PartitionCondition) - {condition}:
            assert driver.fold.partitions_with(other) == {}
            assert driver.fold.count_with(other) == 0

    def test_one_of_several_conditions_is_enough(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition(isr=[]), partition(1, leader=-1), partition(2), partition(3))
        driver.each(change(3, isr=[1], leader=-1), change(3, isr=[1, 2]))

        conditions = PartitionCondition.LEADERLESS | PartitionCondition.UNDER_REPLICATED
        assert driver.fold.partitions_with(conditions) == {T: [0, 1, 3]}
        assert driver.fold.count_with(conditions) == 3

    def test_cleared_elr_meets_no_condition(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition(**ELR), clear_elr())

        assert driver.fold.partitions_with(PartitionCondition.WITH_ELR) == {}
