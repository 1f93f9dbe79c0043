"""Folds answer questions about all partitions together."""

from typing import Any

import pytest

from kraftops.engine.metadata_state import NewestRecord, ReplicaRole
from tests.helpers.engine.fold_driver import FoldDriver, Make
from tests.helpers.engine.fold_records import (
    D1,
    D2,
    D3,
    ELR,
    LOST,
    NO_OP,
    T,
    U,
    V,
    change,
    clear_elr,
    partition,
    topic,
)
from tests.helpers.logs.random_logs import uuid


class TestSuspects:
    @pytest.mark.parametrize(
        ("changes", "is_suspect"),
        [
            pytest.param({}, False, id="healthy"),
            pytest.param({"leader": -1, "isr": []}, False, id="offline"),
            pytest.param({"replicas": [], "isr": [], "leader": -1}, True, id="no-replicas"),
            pytest.param({"replicas": [1, 1], "isr": [1]}, True, id="twice"),
            pytest.param({"replicas": [1, 3]}, True, id="unknown-broker"),
            pytest.param({"isr": [1, 3]}, True, id="isr"),
            pytest.param({"eligibleLeaderReplicas": [3]}, True, id="elr"),
            pytest.param({"lastKnownElr": [3]}, False, id="last-known-elr"),
            pytest.param({"addingReplicas": [2]}, False, id="adding"),
            pytest.param({"addingReplicas": [3]}, True, id="adding-another"),
            pytest.param({"removingReplicas": [3]}, True, id="removing-another"),
            pytest.param({"leader": -3}, True, id="no-such-leader"),
            pytest.param({"isr": [2]}, True, id="leader-outside-isr"),
            pytest.param({"directories": [D1, D3]}, False, id="directories"),
            pytest.param({"directories": [D2, D3]}, True, id="another-directory"),
            pytest.param({"directories": [D1, uuid(99)]}, False, id="reserved-directory"),
            pytest.param({"directories": [D1, LOST]}, True, id="lost-in-isr"),
            pytest.param({"directories": [D1, LOST], "isr": [1]}, False, id="lost"),
        ],
    )
    def test_states(self, driver: FoldDriver, changes: dict[str, Any], is_suspect: bool) -> None:
        full = {"directories": [D1, uuid(0)]} | changes
        if len(full.get("replicas", [1, 2])) != 2:
            del full["directories"]
        driver.each(topic(), partition(4, **full), topic(U, "b"), partition(0, U), partition(1, U))

        found = driver.fold.suspects({1: [D1], 2: []})
        assert found == ({T: [4]} if is_suspect else {})
        assert driver.fold.suspects({1: [D1], 2: [D3]}) == found

    def test_directory_is_of_its_own_broker(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition(directories=[D2, D1]))

        assert driver.fold.suspects({1: [D1], 2: [D2]}) == {T: [0]}
        assert driver.fold.suspects({1: [D1, D2], 2: [D2, D1]}) == {}
        assert driver.fold.suspects({1: [], 2: []}) == {}

    def test_are_in_the_order_of_topics_and_numbers(self, driver: FoldDriver) -> None:
        driver.each(
            topic(U, "b"), topic(), partition(7), partition(3), partition(1, U), topic(U, "b")
        )
        driver.each(partition(1, U))

        assert list(driver.fold.suspects({}).items()) == [(T, [3, 7]), (U, [1])]


class TestDifferent:
    def test_states_are_compared_and_not_their_records(self, make: Make) -> None:
        one, other = FoldDriver(make), FoldDriver(make)
        one.each(topic(), partition(leaderEpoch=0, partitionEpoch=0), partition(1), partition(2))
        other.each(NO_OP, topic(), partition(), change(leader=1), partition(1, isr=[1]))
        other.each(partition(3))

        assert one.fold.different(other.fold) == {T: [1, 2, 3]}
        assert other.fold.different(one.fold) == {T: [1, 2, 3]}
        assert one.fold.different(one.fold) == {}

    def test_topics_of_one_fold_only_are_left_out(self, make: Make) -> None:
        one, other = FoldDriver(make), FoldDriver(make)
        one.each(topic(), partition())
        other.each(topic(U), partition(0, U))

        assert one.fold.different(other.fold) == {}


class TestReplicaCounts:
    def test_replicas_are_counted_by_broker_and_topic(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition(), partition(1, replicas=[1, 3]), partition(2))
        driver.each(topic(U, "b"), partition(0, U), change(2, replicas=[4, 5]))

        assert driver.fold.replica_counts() == {
            1: {T: 2, U: 1},
            2: {T: 1, U: 1},
            3: {T: 1},
            4: {T: 1},
            5: {T: 1},
        }


class TestBrokerLoads:
    def test_replicas_and_led_partitions_are_counted_by_broker(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition(), partition(1, replicas=[1, 3]), partition(2))
        driver.each(topic(U, "b"), partition(0, U), change(2, replicas=[4, 5], leader=5))
        driver.each(change(1, leader=-1))

        assert list(driver.fold.broker_loads().items()) == [
            (1, (3, 2)), (2, (2, 0)), (3, (1, 0)), (4, (1, 0)), (5, (1, 1)),
        ]  # fmt: skip


class TestWithRole:
    @pytest.mark.parametrize(
        ("role", "brokers", "found"),
        [
            (ReplicaRole.LEADER, {1}, {T: [0, 1], U: [0]}),
            (ReplicaRole.LEADER, {4, 5, 9}, {T: [2]}),
            (ReplicaRole.LEADER, set(), {}),
            (ReplicaRole.FOLLOWER, {1}, {V: [0]}),
            (ReplicaRole.FOLLOWER, {4}, {T: [2]}),
            (ReplicaRole.FOLLOWER, {1, 2}, {T: [0], U: [0], V: [0]}),
            (ReplicaRole.OTHER_LEADER, {1}, {T: [2], V: [0]}),
            (ReplicaRole.UNPREFERRED_LEADER, set(), {T: [2], V: [0]}),
        ],
    )
    def test_leaders_and_replicas_are_those_after_all_changes(
        self, driver: FoldDriver, role: ReplicaRole, brokers: set[int], found: object
    ) -> None:
        driver.each(topic(), partition(), partition(1, replicas=[1, 3]), partition(2))
        driver.each(topic(U, "b"), partition(0, U), change(2, replicas=[4, 5], leader=5))
        driver.each(topic(V, "c"), partition(0, V, leader=-1))

        assert driver.fold.with_role(role, brokers) == found

    def test_only_chosen_topics_count(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition(), topic(U, "b"), partition(3, U), partition(2, U))

        found = driver.fold.with_role(ReplicaRole.LEADER, {1}, [U, V, T])
        assert list(found.items()) == [(U, [2, 3]), (T, [0])]


class TestDirectories:
    def test_replicas_are_in_the_directories_after_all_changes(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition(directories=[D1, D2]), partition(1), partition(2))
        driver.each(change(2, directories=[D3, D1]))

        none = bytes(16)
        assert list(driver.fold.directories().items()) == [
            (none, {1: 1, 2: 1}), (D1, {1: 1, 2: 1}), (D2, {2: 1}), (D3, {1: 1}),
        ]  # fmt: skip
        assert driver.fold.in_directory(D1) == {T: [0, 2]}
        assert driver.fold.in_directory(none) == {T: [1]}
        assert driver.fold.in_directory(none, [U]) == {}
        assert driver.fold.in_directory(LOST) == {}


class TestShortOf:
    def test_partitions_need_no_more_than_their_replicas(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition(), partition(1, isr=[1]), partition(2, leader=-1, isr=[]))
        driver.each(topic(U, "b"), partition(0, U, replicas=[1], isr=[1]))

        assert driver.fold.under_min_isr({}, 2) == {T: [1, 2]}
        assert driver.fold.under_min_isr({}, 5) == {T: [1, 2]}
        assert driver.fold.under_min_isr({T: 1}, 2) == {T: [2]}
        assert driver.fold.under_min_isr({T: 0}, 2) == {T: [2]}


class TestNewestBelow:
    def test_is_the_change_of_a_topic_or_of_one_of_its_partitions(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition(), partition(1), change(0), topic(U, "b"))

        fold, addresses = driver.fold, driver.addresses
        assert fold.newest_below(T, None) == NewestRecord(addresses[3], 2)
        assert fold.newest_below(U, None) == NewestRecord(addresses[4], 1)
        assert fold.newest_below(None, None) == NewestRecord(addresses[4], 1)
        assert fold.newest_below(V, None) is None

    def test_empty_state_has_no_change(self, make: Make) -> None:
        assert FoldDriver(make).fold.newest_below(None, None) is None

    def test_certain_change_of_a_record_counts_before_an_uncertain_one(
        self, driver: FoldDriver
    ) -> None:
        driver.each(topic(), partition(), partition(1, **ELR), partition(2))
        driver.fold.seed(is_seeded=True)
        driver.each(clear_elr())

        assert driver.fold.newest_below(T, None) == NewestRecord(driver.addresses[4], 2)

    def test_uncertain_change_is_the_newest(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition())
        driver.fold.seed(is_seeded=True)
        driver.each(clear_elr())

        newest = NewestRecord(driver.addresses[2], 1, is_certain=False)
        assert driver.fold.newest_below(None, None) == newest

    def test_exact_addresses_count_for_entries_in_both_folds(self, make: Make) -> None:
        driver, exact = FoldDriver(make), FoldDriver(make)
        driver.each(topic(), partition(), partition(1), topic(U, "b"), NO_OP, NO_OP)
        exact.each(topic(), NO_OP, NO_OP, NO_OP, partition(), change(), topic(V, "c"))
        below = driver.fold.newest_below

        assert below(T, exact.fold) == NewestRecord(exact.addresses[5], 2)
        assert below(U, exact.fold) is None
        assert below(V, exact.fold) is None
        assert below(None, exact.fold) == NewestRecord(exact.addresses[5], 2)

    def test_exact_addresses_may_be_lower(self, make: Make) -> None:
        driver, exact = FoldDriver(make), FoldDriver(make)
        driver.each(NO_OP, NO_OP, topic(), partition())
        exact.each(topic(), partition())

        assert driver.fold.newest_below(T, exact.fold) == NewestRecord(exact.addresses[1], 1)


class TestStateColumns:
    def test_columns_have_the_states(self, driver: FoldDriver) -> None:
        driver.each(topic(), partition(directories=[D1, D2]), partition(1, replicas=[1, 3]))
        driver.each(topic(U, "b"), partition(4, U), change(1, isr=[3], leader=3), partition(2))
        driver.each(change(0, replicas=[5, 1, 2], directories=[D3, D1, D2]), topic(V, "c"))

        found = driver.fold.state_columns()

        assert found.topics == [(T, 3), (U, 1), (V, 0)]
        assert found.numbers.tolist() == [0, 1, 2, 4]
        keys = [(T, 0), (T, 1), (T, 2), (U, 4)]
        states = [state for state in driver.fold.states(keys) if state]
        assert [found.isr.at(at) for at in range(4)] == [state.isr for state in states]
        assert [found.replicas.at(at) for at in range(4)] == [state.replicas for state in states]
        assert found.leader.tolist() == [state.leader for state in states]
        assert found.leader_epoch.tolist() == [state.leader_epoch for state in states]
        assert found.newest.tolist() == [
            newest.address for key in keys if (newest := driver.fold.newest(*key))
        ]
        places = [[found.directory_ids[one] for one in found.directories.at(at)] for at in range(4)]
        assert places == [state.directories for state in states]
        assert places[0] == [D3, D1, D2]


@pytest.mark.parametrize("largest", [254, 255, 256, 300])
def test_lists_of_partitions_have_their_sizes(driver: FoldDriver, largest: int) -> None:
    several = [[1], [], [*range(largest)], [1], [2, 1]]
    driver.each(topic(), *(partition(at, replicas=one, isr=one) for at, one in enumerate(several)))

    columns = driver.fold.state_columns()

    assert [columns.replicas.at(at) for at in range(len(several))] == several
    assert columns.isr.sizes.tolist() == [len(one) for one in several]
    assert columns.adding_replicas.sizes.tolist() == [0] * len(several)
