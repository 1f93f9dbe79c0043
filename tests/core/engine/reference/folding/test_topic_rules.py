"""Records of topics and partitions change the topics of a state."""

from typing import Any

import pytest

from kraftops.engine.metadata_state import NewestRecord
from kraftops.engine.reference.folding import table_rules, topic_rules
from kraftops.engine.reference.folding.partitions import registered
from kraftops.engine.reference.folding.state import State, Unit
from tests.helpers.engine.fold_records import (
    ELR,
    T,
    U,
    V,
    change,
    clear_elr,
    config,
    fields_of,
    partition,
    removal,
    topic,
)

EPOCHS: dict[str, Any] = {"leaderEpoch": 4, "partitionEpoch": 6}


@pytest.fixture
def state() -> State:
    """A state with topic a, of two partitions, and topic b, of one."""
    state = State("kafka", bytes)
    topic_rules.put_topic(state, fields_of(topic()), 1)
    topic_rules.put_topic(state, fields_of(topic(U, "b")), 2)
    records = [partition(**EPOCHS), partition(1, **ELR), partition(0, U, replicas=[2, 3], isr=[3])]
    for address, record in enumerate(records, 3):
        put_partition(state, fields_of(record), address)
    begin_unit(state)
    return state


def put_partition(state: State, fields: Any, address: int) -> None:
    """Apply a PartitionRecord, and keep its state, so that its batch is not read."""
    assert topic_rules.put_partition(state, fields, address) is None
    made = registered(fields)
    assert not isinstance(made, str)
    state.topics[fields["topicId"]].partitions[fields["partitionId"]].state = made


def begin_unit(state: State) -> None:
    state.unit = Unit({}, {}, {}, {})


def isrs(state: State, topic_id: bytes) -> list[list[int]]:
    topic = state.topics[topic_id]
    return [state.of_partition(one).isr for one in topic.partitions.values()]


class TestTopics:
    def test_topic_of_the_same_id_begins_without_partitions(self, state: State) -> None:
        topic_rules.put_topic(state, fields_of(topic(T, "c")), 9)

        assert state.topic_ids == {"b": U, "c": T}
        assert not state.topics[T].partitions

    def test_name_stays_with_the_topic_that_has_taken_it(self, state: State) -> None:
        topic_rules.put_topic(state, fields_of(topic(V)), 9)

        topic_rules.remove_topic(state, fields_of(removal()), 10)

        assert state.topic_ids["a"] == V

    def test_removed_topic_loses_its_configurations(self, state: State) -> None:
        table_rules.put_config(state, fields_of(config("v")), 9)
        begin_unit(state)

        assert topic_rules.remove_topic(state, fields_of(removal()), 10) is None

        assert state.tables.configs == {}
        assert list(state.topics) == [U]

    def test_configurations_of_the_same_unit_outlive_their_topic(self, state: State) -> None:
        table_rules.put_config(state, fields_of(config("v")), 9)

        topic_rules.remove_topic(state, fields_of(removal()), 10)

        assert state.tables.configs == {(2, "a"): {"k": 9}}

    def test_topic_is_removed_twice_only_in_one_unit(self, state: State) -> None:
        reasons = [topic_rules.remove_topic(state, fields_of(removal()), 9) for _ in range(2)]
        begin_unit(state)
        reasons.append(topic_rules.remove_topic(state, fields_of(removal()), 10))

        assert reasons == [None, None, "there is no topic with this id"]


class TestPartitions:
    def test_partition_of_an_unknown_topic_is_refused(self, state: State) -> None:
        unknown = "there is no topic with this id"

        assert topic_rules.put_partition(state, fields_of(partition(0, V)), 9) == unknown
        assert topic_rules.change_partition(state, fields_of(change(0, V)), 9) == unknown

    def test_change_of_an_unknown_partition_is_refused(self, state: State) -> None:
        reason = topic_rules.change_partition(state, fields_of(change(7)), 9)

        assert reason == "there is no such partition"

    def test_refused_change_leaves_the_partition_as_it_is(self, state: State) -> None:
        record = fields_of(change(leaderRecoveryState=2))

        assert topic_rules.change_partition(state, record, 9) is not None

        assert state.topics[T].partitions[0].newest == NewestRecord(3, 1)

    def test_change_increments_the_epochs(self, state: State) -> None:
        assert topic_rules.change_partition(state, fields_of(change(leader=2)), 9) is None

        found = state.topics[T].partitions[0]
        after = state.of_partition(found)
        assert (after.leader, after.leader_epoch, after.partition_epoch) == (2, 5, 7)
        assert found.newest == NewestRecord(9, 2)

    def test_broker_leaves_the_isrs_that_it_is_in(self, state: State) -> None:
        topic_rules.leave_isrs(state, 3, 9)

        assert isrs(state, T) == [[1, 2], [1, 2]]
        assert isrs(state, U) == [[]]
        assert state.topics[T].partitions[0].newest.address == 3


class TestClearElr:
    def test_only_partitions_with_an_elr_change(self, state: State) -> None:
        assert topic_rules.clear_elr(state, fields_of(clear_elr()), 9) is None

        first, second = state.topics[T].partitions.values()
        assert (first.newest, second.newest) == (NewestRecord(3, 1), NewestRecord(9, 2))
        after = state.of_partition(second)
        assert (after.eligible_leader_replicas, after.last_known_elr) == ([], [])

    def test_change_is_uncertain_in_a_state_that_is_later(self, state: State) -> None:
        state.is_seeded = True

        topic_rules.clear_elr(state, fields_of(clear_elr("b")), 9)

        assert state.topics[U].partitions[0].newest == NewestRecord(9, 1, is_certain=False)
        assert state.topics[T].partitions[1].newest == NewestRecord(4, 1)

    def test_topic_that_this_unit_has_removed_may_be_named(self, state: State) -> None:
        topic_rules.remove_topic(state, fields_of(removal()), 9)
        reasons = [topic_rules.clear_elr(state, fields_of(clear_elr("a")), 10)]
        begin_unit(state)
        reasons.append(topic_rules.clear_elr(state, fields_of(clear_elr("a")), 11))

        assert reasons == [None, "there is no topic with this name"]
