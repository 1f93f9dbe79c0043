"""Leaders moved by the order of replica lists, and elections."""

from types import SimpleNamespace
from typing import Any

from kraftops.placement.leaders import plan_drain
from kraftops.placement.placement import TopicPartition
from kraftops.reassign.leadership import change_leaders
from tests.helpers.wire.moving_cluster import MovingCluster

T = [TopicPartition("t", number) for number in range(3)]


def cluster() -> MovingCluster:
    """Return a cluster in which the first replica leads after an election."""
    found = MovingCluster(range(1, 4), {T[0]: (1, 2), T[1]: (1, 3), T[2]: (1,)}, is_old=False)

    def elect(_: int, *, topic_partitions: list[Any], **__: Any) -> SimpleNamespace:
        for topic in topic_partitions:
            for number in topic["partitions"]:
                partition = TopicPartition(topic["topic"], number)
                state = found.partitions[partition]
                found.partitions[partition] = state._replace(leader=state.replicas[0])
        return SimpleNamespace(error_code=0, replica_election_results=[])

    found._elect_leaders = elect  # type: ignore[attr-defined]
    return found


def test_leaders_leave_a_broker() -> None:
    found = cluster()

    with found.reached() as access:
        plan = plan_drain(access.settled(), {1})
        stay = change_leaders(access, plan.moves)

    assert (plan.stay, stay) == ([T[2]], [])
    assert [found.partitions[each].leader for each in T] == [2, 3, 1]
    assert [found.partitions[each].replicas for each in T] == [(2, 1), (3, 1), (1,)]


def test_topic_that_is_deleted_meanwhile_is_passed_over() -> None:
    found = cluster()

    with found.reached() as access:
        plan = plan_drain(access.settled(), {1})
        alter = found._alter_partition_reassignments

        def delete(broker: int, **values: Any) -> SimpleNamespace:
            alter(broker, **values)
            del found.partitions[T[0]]
            refused = SimpleNamespace(partition_index=0, error_code=3, error_message="gone")
            topic = SimpleNamespace(name="t", partitions=[refused])
            return SimpleNamespace(error_code=0, responses=[topic])

        found._alter_partition_reassignments = delete  # type: ignore[method-assign]
        assert change_leaders(access, plan.moves) == []

    assert found.partitions[T[1]].leader == 3
