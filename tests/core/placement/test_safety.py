"""Safety of a stop."""

from kraftops.placement.placement import Replicas, TopicPartition
from kraftops.placement.safety import MinIsr, dangers
from tests.helpers.placement import placement

T = [TopicPartition("t", number) for number in range(5)]
RACKS = dict.fromkeys(range(1, 5), None)


def test_partitions_go_offline_or_under_min_isr() -> None:
    found = placement(RACKS, [(1,), (1, 2), (1, 2, 3), (2, 3), (4, 1)])

    alone = dangers(found, {1}, {"t": MinIsr(2)})
    both = dangers(found, {1, 2}, {"t": MinIsr(1)})

    assert [(each.partition, each.left) for each in alone] == [
        (T[0], ()), (T[1], (2,)), (T[4], (4,)),
    ]  # fmt: skip
    assert [(each.partition, each.is_offline) for each in both] == [(T[0], True), (T[1], True)]


def test_replica_that_is_not_in_sync_is_not_needed() -> None:
    found = placement(RACKS, [(1, 2)])
    found.partitions[T[0]] = Replicas((1, 2), (2,), 2)

    assert dangers(found, {1}, {"t": MinIsr(1)}) == []
    assert [each.is_offline for each in dangers(found, {2}, {"t": MinIsr(1)})] == [True]


def test_min_isr_above_the_number_of_replicas_needs_all_of_them() -> None:
    found = placement(RACKS, [(1, 2)])

    (danger,) = dangers(found, {1}, {"t": MinIsr(5)})

    assert (danger.left, danger.is_offline) == ((2,), False)


def test_unknown_min_isr_is_assumed_and_marked() -> None:
    (danger,) = dangers(placement(RACKS, [(1,)]), {1}, {})

    assert danger.min_isr == MinIsr(1, is_assumed=True)
