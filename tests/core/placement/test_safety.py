"""Safety of a stop."""

from hypothesis import given
from hypothesis import strategies as st

from kraftops.placement.placement import BrokerPlace, Placement, Replicas, TopicPartition
from kraftops.placement.safety import Danger, MinIsr, dangers, new_dangers, new_dangers_by_broker
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


def test_what_is_offline_already_is_no_danger_of_a_stop() -> None:
    """The ISR has the last replica, which is down."""
    found = placement(RACKS, [(1, 2)])
    found.partitions[T[0]] = Replicas((1, 2), (1,), -1)

    assert new_dangers(found, {1}, {}) == []
    assert new_dangers_by_broker(found, {})[1] == []


def test_fenced_broker_has_stopped_already() -> None:
    found = placement(RACKS, [(1, 2)])
    found.brokers[1] = found.brokers[1]._replace(is_fenced=True)

    assert new_dangers(found, {1}, {"t": MinIsr(2)}) == []
    assert len(new_dangers(found, {1, 2}, {"t": MinIsr(2)})) == 1


def test_partition_of_a_single_replica_is_marked() -> None:
    (single, other) = new_dangers(placement(RACKS, [(1,), (1, 2)]), {1}, {"t": MinIsr(2)})

    assert (single.is_single_replica, other.is_single_replica) == (True, False)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Placement, dict[str, MinIsr]]:
    """Draw brokers, some fenced, and partitions as controllers leave them."""
    fenced = draw(st.frozensets(st.integers(1, 5)))
    brokers = {
        broker: BrokerPlace(None, is_fenced=broker in fenced, takes_replicas=broker not in fenced)
        for broker in range(1, 6)
    }
    partitions = {}
    for number in range(draw(st.integers(1, 4))):
        replicas = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4, unique=True))
        behind = draw(st.frozensets(st.sampled_from(replicas)))
        alive = [broker for broker in replicas if broker not in fenced]
        isr = [broker for broker in alive if broker not in behind]
        leader = isr[0] if isr else -1
        isr = isr or [replicas[-1]]
        partitions[TopicPartition("t", number)] = Replicas(tuple(replicas), tuple(isr), leader)
    return Placement(brokers, partitions), {"t": MinIsr(draw(st.integers(1, 3)))}


@given(clusters(), st.frozensets(st.integers(1, 5), min_size=1))
def test_stop_is_compared_with_now(
    cluster: tuple[Placement, dict[str, MinIsr]], stopping: frozenset[int]
) -> None:
    """A danger is a partition that loses a replica in sync by it, and has too few afterwards."""
    found, min_isr = cluster
    expected = set()
    for partition, replicas in found.partitions.items():
        before = {b for b in replicas.isr if replicas.leader >= 0}
        after = before - stopping
        needed = min(min_isr["t"].value, len(replicas.replicas))
        if after != before and len(after) < needed:
            expected.add(partition)

    assert {danger.partition for danger in new_dangers(found, stopping, min_isr)} == expected


@given(clusters())
def test_brokers_are_judged_in_one_pass_as_alone(
    cluster: tuple[Placement, dict[str, MinIsr]],
) -> None:
    found, min_isr = cluster
    alone: dict[int, list[Danger]] = {
        broker: new_dangers(found, {broker}, min_isr) for broker in found.brokers
    }

    assert new_dangers_by_broker(found, min_isr) == alone
