"""Leaders that leave brokers, and come back."""

from hypothesis import given
from hypothesis import strategies as st

from kraftops.placement.leaders import misled, moves_away, plan_drain, plan_restore, preferred
from kraftops.placement.placement import Replicas, TopicPartition
from kraftops.placement.plan import Move
from tests.helpers.placement import placement

RACKS = dict.fromkeys(range(1, 6), None)
LISTS = st.lists(
    st.lists(st.sampled_from(sorted(RACKS)), unique=True, min_size=1, max_size=4).map(tuple),
    max_size=12,
)


@given(LISTS, st.sets(st.sampled_from(sorted(RACKS)), min_size=1, max_size=3))
def test_drain_keeps_the_sets_and_comes_back(
    lists: list[tuple[int, ...]], draining: set[int]
) -> None:
    found = placement(RACKS, lists)

    plan = plan_drain(found, draining)

    for move in plan.moves:
        assert {*move.after} == {*move.before}
        assert move.after[0] not in draining
        found.partitions[move.partition] = Replicas(move.after, move.before, move.after[0])
    for partition, each in found.partitions.items():
        assert each.leader not in draining or partition in plan.stay
    for partition in plan.stay:
        assert draining >= {*found.partitions[partition].replicas}
    saved = {move.partition: move for move in plan.moves}
    back = plan_restore(found, saved)
    assert {each.partition: each.after for each in back.moves} == {
        each.partition: each.before for each in plan.moves
    }


def test_leaders_are_spread() -> None:
    plan = plan_drain(placement(RACKS, [(1, 2, 3, 4)] * 6), {1})

    assert sorted(move.after[0] for move in plan.moves) == [2, 2, 3, 3, 4, 4]


def test_replica_that_is_not_in_sync_does_not_lead() -> None:
    found = placement(RACKS, [(1, 2, 3)])
    partition = TopicPartition("t", 0)
    found.partitions[partition] = Replicas((1, 2, 3), (1, 3), 1)

    (move,) = plan_drain(found, {1}).moves

    assert move.after == (3, 2, 1)


def test_other_replicas_by_now_are_left_alone() -> None:
    found = placement(RACKS, [(1, 2)])
    partition = TopicPartition("t", 0)

    plan = plan_restore(found, {partition: Move(partition, (1, 3), (3, 1))})

    assert (plan.moves, plan.changed) == ([], [partition])


def test_partition_with_another_leader_than_the_preferred_is_misled() -> None:
    found = placement(RACKS, [(1, 2), (1, 2), (1, 2)])
    first, second, third = found.partitions
    found.partitions[second] = Replicas((1, 2), (1, 2), 2)
    found.partitions[third] = Replicas((1, 2), (2,), 2)

    assert misled(found, [first, second, third]) == [second]


def test_leader_counts_where_it_is_preferred() -> None:
    found = placement(RACKS, [(2, 1, 3), (1, 2, 3), (1, 3, 2)])
    first = next(iter(found.partitions))
    found.partitions[first] = Replicas((2, 1, 3), (2, 1, 3), 1)

    assert [move.after[0] for move in plan_drain(found, {1}).moves] == [3, 2, 3]


def test_only_replica_is_not_preferred_to_others() -> None:
    found = placement(RACKS, [(1, 2), (2, 1), (1,)])

    assert preferred(found, 1) == (next(iter(found.partitions)),)


def test_list_is_rotated_only_if_its_first_replica_stops() -> None:
    found = placement(RACKS, [(1, 2, 3), (2, 1, 3)])
    _, led = found.partitions
    found.partitions[led] = Replicas((2, 1, 3), (2, 1, 3), 1)

    rotated, kept = moves_away(found, {1})

    assert rotated.after in ((2, 3, 1), (3, 1, 2))
    assert kept.after == kept.before == (2, 1, 3)
