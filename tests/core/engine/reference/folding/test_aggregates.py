"""Answers about all partitions together."""

from typing import Any

import pytest

from kraftops.engine.metadata_state import NewestRecord
from kraftops.engine.reference.folding import aggregates
from kraftops.engine.reference.folding.partitions import registered
from kraftops.engine.reference.folding.state import Partition, State, Topic
from tests.helpers.engine.fold_records import T, U, V, fields_of, partition


def state_of(*topics: tuple[bytes, dict[int, dict[str, Any]]]) -> State:
    """Return a state: topic ids, and partitions by number with what is special of them.

    The topic's address is 1; that of a partition is 10 more than its number.
    """
    state = State("kafka", bytes)
    for topic_id, partitions in topics:
        topic = state.topics[topic_id] = Topic(topic_id, "t", 1, is_deleting=False)
        for number, changes in partitions.items():
            made = registered(fields_of(partition(number, topic_id, **changes)))
            assert not isinstance(made, str)
            found = topic.partitions[number] = Partition(made, 10 + number)
            found.state = made
    return state


def test_chosen_partitions_are_in_the_order_of_their_numbers() -> None:
    state = state_of((T, {7: {}, 3: {}, 1: {"leader": 2}}), (U, {0: {"leader": 2}}))

    chosen = aggregates.choose(state, lambda one: state.of_partition(one).leader == 1)

    assert chosen == {T: [3, 7]}


def test_partition_in_an_unknown_directory_of_its_broker_is_suspect() -> None:
    known, other = bytes(15) + b"\xc8", bytes(15) + b"\xc9"
    state = state_of((T, {0: {"directories": [known, known]}, 1: {"directories": [known, other]}}))

    assert aggregates.suspects(state, {1: [known], 2: [known]}) == {T: [1]}


def test_topics_of_one_state_alone_have_no_differences() -> None:
    one = state_of((T, {0: {}, 1: {}, 2: {}}), (U, {0: {}}))
    other = state_of((T, {0: {}, 1: {"leader": 2}, 5: {}}), (V, {0: {}}))

    assert aggregates.different(one, other) == {T: [1, 2, 5]}
    assert aggregates.different(one, one) == {}


def test_replicas_are_counted_by_broker_and_topic() -> None:
    state = state_of((T, {0: {}, 1: {"replicas": [2, 3]}}), (U, {0: {"replicas": [3]}}))

    assert aggregates.replica_counts(state) == {1: {T: 1}, 2: {T: 2}, 3: {T: 1, U: 1}}


def test_loads_are_replicas_and_led_partitions_by_broker() -> None:
    state = state_of((T, {0: {}, 1: {"replicas": [2, 3]}}), (U, {0: {"leader": -1}}))

    assert aggregates.broker_loads(state) == {1: (2, 2), 2: (3, 0), 3: (1, 0)}


@pytest.mark.parametrize(
    ("topic_id", "newest"),
    [
        pytest.param(None, NewestRecord(15, 1), id="all"),
        pytest.param(T, NewestRecord(11, 1), id="topic"),
        pytest.param(V, None, id="unknown"),
    ],
)
def test_newest_change_is_of_a_topic_or_of_all(
    topic_id: bytes | None, newest: NewestRecord | None
) -> None:
    state = state_of((T, {0: {}, 1: {}}), (U, {5: {}}))

    assert aggregates.newest_below(state, topic_id, None) == newest


def test_newest_change_has_the_address_in_the_exact_state() -> None:
    """Only topics and partitions of both states count."""
    state, exact = state_of((T, {0: {}, 9: {}}), (U, {5: {}})), state_of((T, {0: {}, 8: {}}))
    exact.topics[T].partitions[0].address = 77

    assert aggregates.newest_below(state, None, exact) == NewestRecord(77, 1)
    assert aggregates.newest_below(state, U, exact) is None
