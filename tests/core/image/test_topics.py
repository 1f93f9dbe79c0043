"""Topics know where their partitions are, whatever the numbers."""

from hypothesis import given
from hypothesis import strategies as st

from kraftops.image.topics import PARTITION_KEY, Topic
from tests.replays import uuid

NUMBERS = st.integers(0, 4) | st.sampled_from(
    [-(1 << 31), -1, 1000, 1020, 1030, 2000, 3000, (1 << 31) - 1]
)


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 1 << 62)), max_size=30))
def test_topic_is_a_dict_of_addresses(puts: list[tuple[int, int]]) -> None:
    topic = Topic(uuid(1), "a", 0)
    for number, address in puts:
        topic.put(number, address)
    expected = dict(puts)

    assert sorted(topic.numbers()) == sorted(expected)
    assert len(topic) == len(expected)
    assert {number: topic.place(number) for number in expected} == expected
    assert sorted(topic.keys()) == sorted(PARTITION_KEY.pack(one, uuid(1)) for one in expected)
    assert topic.place(999) is None


def test_neighbours_are_kept_without_a_dict() -> None:
    topic = Topic(uuid(1), "a", 0)
    for number in range(3000):
        topic.put(number, number)

    assert not topic.odd


def test_number_that_was_far_off_stays_where_it_is() -> None:
    topic = Topic(uuid(1), "a", 0)
    topic.put(1500, 1)
    for number in range(1000):
        topic.put(number, 2)
    topic.put(1500, 3)

    assert topic.place(1500) == 3
    assert len(topic) == 1001
