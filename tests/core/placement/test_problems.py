"""Broken partitions by their causes."""

from kraftops.placement.disks import DiskReplica, Disks, LogDirectory
from kraftops.placement.metadata_facts import LoggedChange, MetadataFacts
from kraftops.placement.placement import BrokerPlace, Placement, Replicas, TopicPartition
from kraftops.placement.problems import (
    Cause,
    Evidence,
    Problem,
    State,
    find_problems,
    lost_replicas,
)
from kraftops.placement.safety import MinIsr

T = TopicPartition("t", 0)
NEEDED = {"t": MinIsr(1)}


def cluster(*partitions: Replicas, down: int | None = None) -> Placement:
    """Return brokers 1 to 3, one of which may be down, and the partitions of a topic."""
    brokers = {broker: BrokerPlace(None, broker == down, broker != down) for broker in (1, 2, 3)}
    return Placement(
        brokers, {TopicPartition("t", number): each for number, each in enumerate(partitions)}
    )


def disks(**sizes: int) -> Disks:
    """Return one directory for each of brokers 1 to 3, with the replica of these sizes."""
    return {
        broker: [LogDirectory("/d", {T: DiskReplica(sizes[f"b{broker}"])})]
        if f"b{broker}" in sizes
        else [LogDirectory("/d")]
        for broker in (1, 2, 3)
    }


def states(problems: list[Problem]) -> list[tuple[Cause, int | None, list[State]]]:
    return [
        (problem.cause, problem.broker, [affected.state for affected in problem.affected])
        for problem in problems
    ]


def test_healthy_cluster_has_no_problems() -> None:
    assert find_problems(cluster(Replicas((1, 2), (2, 1), 1)), NEEDED, Evidence()) == []


def test_broker_that_is_down_is_the_cause_of_all_that_it_lacks() -> None:
    placement = cluster(
        Replicas((1, 2), (2,), 2), Replicas((1,), (1,), -1), Replicas((2, 1), (2,), 2), down=1
    )
    change = LoggedChange(7, 1000, "BROKER_REGISTRATION_CHANGE_RECORD", is_upper_bound=False)
    evidence = Evidence(log=MetadataFacts(fenced={1: change}))

    (problem,) = find_problems(placement, {"t": MinIsr(1)}, evidence)

    assert states([problem]) == [
        (Cause.BROKER_DOWN, 1, [State.UNDER_REPLICATED, State.OFFLINE, State.UNDER_REPLICATED])
    ]
    assert problem.change == change
    assert lost_replicas(placement, 1, evidence) == [*placement.partitions]


def test_min_isr_counts_replicas_in_sync_and_may_be_above_all_replicas() -> None:
    placement = cluster(Replicas((1, 2), (2,), 2), Replicas((2,), (2,), 2), down=1)

    problems = find_problems(placement, {"t": MinIsr(2)}, Evidence())

    assert states(problems) == [
        (Cause.BROKER_DOWN, 1, [State.UNDER_MIN_ISR]),
        (Cause.MIN_ISR, None, [State.UNDER_MIN_ISR]),
    ]


def test_failed_directory_is_told_by_the_broker_or_by_the_log() -> None:
    placement = cluster(Replicas((1, 2), (2,), 2))
    failed = {**disks(b2=1), 1: [LogDirectory("/good"), LogDirectory("/bad", is_failed=True)]}
    log = MetadataFacts(lost_replicas=frozenset({(1, T)}), failed_directories={1: ("id",)})

    by_broker, by_log = (
        find_problems(placement, NEEDED, evidence)
        for evidence in (Evidence(failed, failed), Evidence(log=log))
    )

    assert [(each.cause, each.broker, each.directories) for each in by_broker] == [
        (Cause.DIRECTORY_FAILED, 1, ("/bad",))
    ]
    assert [(each.cause, each.broker, each.directories) for each in by_log] == [
        (Cause.DIRECTORY_FAILED, 1, ("id",))
    ]
    assert lost_replicas(placement, 1, Evidence(failed)) == [T]
    assert lost_replicas(placement, 2, Evidence(failed)) == []


def test_follower_catches_up_or_not() -> None:
    placement = cluster(Replicas((1, 2), (2,), 2))
    first = disks(b1=40, b2=100)

    (fast,) = find_problems(placement, NEEDED, Evidence(first, disks(b1=70, b2=110)))
    (slow,) = find_problems(placement, NEEDED, Evidence(first, disks(b1=40, b2=110)))
    (unknown,) = find_problems(placement, NEEDED, Evidence())

    assert {problem.cause for problem in (fast, slow, unknown)} == {Cause.FOLLOWER_BEHIND}
    assert [(p.affected[0].behind, p.affected[0].is_catching_up) for p in (fast, slow)] == [
        (40, True),
        (70, False),
    ]
    assert unknown.affected[0].behind is unknown.affected[0].is_catching_up is None


def test_cordoned_broker_creates_no_replica() -> None:
    cordoned = {**disks(b2=1), 1: [LogDirectory("/d", is_cordoned=True)]}

    (problem,) = find_problems(
        cluster(Replicas((1, 2), (2,), 2)), NEEDED, Evidence(cordoned, cordoned)
    )

    assert (problem.cause, problem.broker) == (Cause.CORDONED, 1)


def test_replicas_that_a_reassignment_adds_are_not_missing() -> None:
    placement = cluster(Replicas((1, 2, 3), (1, 2), 1, adding=(3,)))

    assert states(find_problems(placement, NEEDED, Evidence())) == [
        (Cause.REASSIGNMENT, None, [State.MOVING])
    ]


def test_other_leader_is_a_problem_where_the_preferred_one_could_lead() -> None:
    placement = cluster(Replicas((1, 2), (2, 1), 2), Replicas((3, 2), (2,), 2), down=3)

    assert states(find_problems(placement, NEEDED, Evidence())) == [
        (Cause.BROKER_DOWN, 3, [State.UNDER_REPLICATED]),
        (Cause.OTHER_LEADER, None, [State.OTHER_LEADER]),
    ]
