"""Plans to replace lost replicas, and what can still be had of partitions without a leader."""

import pytest

from kraftops.placement.metadata_facts import Leadership
from kraftops.placement.placement import BrokerPlace, Placement, Replicas, TopicPartition
from kraftops.placement.plan import Limits
from kraftops.placement.repair import Leaderless, plan_repair
from kraftops.recovery.partitions.comparison import compare
from kraftops.recovery.partitions.copies import PartitionCopy
from kraftops.server.loader.text_files import EpochEntry

DOWN = 1


def partition(number: int) -> TopicPartition:
    return TopicPartition("t", number)


def cluster(*partitions: Replicas, brokers: int = 4) -> Placement:
    places = {
        broker: BrokerPlace(None, broker == DOWN, broker != DOWN)
        for broker in range(1, brokers + 1)
    }
    return Placement(places, {partition(n): replicas for n, replicas in enumerate(partitions)})


def lost(placement: Placement) -> dict[int, list[TopicPartition]]:
    return {DOWN: [name for name, _ in placement.on(frozenset({DOWN}))]}


def test_partitions_with_a_leader_are_copied_and_others_are_listed() -> None:
    placement = cluster(
        Replicas((1, 2), (2,), 2), Replicas((1,), (1,), -1), Replicas((1, 3), (1,), -1),
        Replicas((2, 3), (2, 3), 2),
    )  # fmt: skip

    repair = plan_repair(placement, lost(placement), Limits(), {})

    (move,) = repair.plan.moves
    assert move.partition == partition(0)
    assert DOWN not in move.after
    assert 2 in move.after
    assert repair.leaderless == [
        Leaderless(partition(1), (1,), ()),
        Leaderless(partition(2), (1,), (3,)),
    ]


def test_metadata_log_tells_who_was_last_in_sync() -> None:
    """With eligible leader replicas (KIP-966) the ISR becomes empty."""
    placement = cluster(Replicas((1, 3), (), -1), Replicas((1, 4), (), -1))
    leaderships = {
        partition(0): Leadership(eligible=(1,)),
        partition(1): Leadership(last_leader=(4,)),
    }

    repair = plan_repair(placement, lost(placement), Limits(), leaderships)

    assert repair.leaderless == [
        Leaderless(partition(0), (1,), (3,)),
        Leaderless(partition(1), (4,), ()),
    ]


def test_replicas_in_a_failed_directory_move_to_other_brokers_and_the_rest_stays() -> None:
    placement = cluster(Replicas((2, 3), (3,), 3), Replicas((2, 3), (2, 3), 2))

    repair = plan_repair(placement, {2: [partition(0)]}, Limits(), {})

    assert [(move.partition, {*move.after}) for move in repair.plan.moves] == [
        (partition(0), {3, 4})
    ]


def test_too_few_brokers_are_told() -> None:
    placement = cluster(Replicas((1, 2, 3), (2, 3), 2), brokers=3)

    repair = plan_repair(placement, lost(placement), Limits(), {})

    assert repair.plan.stuck == [partition(0)]
    assert repair.plan.moves == []


@pytest.mark.parametrize(
    ("ends", "exact", "at_stake"),
    [
        ({DOWN: 100, 3: 90, 4: 60}, True, 40),  # whichever of both leads
        ({DOWN: 100, 3: 100, 4: 100}, True, 0),
        ({DOWN: 100, 3: 90}, True, None),  # the other one may be elected, too
        ({3: 90, 4: 60}, True, None),
        ({DOWN: 100, 3: 90, 4: 60}, False, None),
    ],
)
def test_disks_tell_the_records_at_stake(
    ends: dict[int, int], exact: bool, at_stake: int | None
) -> None:
    placement = cluster(Replicas((1, 3, 4), (1,), -1))
    copies = [
        PartitionCopy(
            broker=broker, place="d", topic="t", topic_id=None, number=0, end=end,
            is_end_exact=exact, epochs=(EpochEntry(0, 0),),
        )
        for broker, end in ends.items()
    ]  # fmt: skip

    repair = plan_repair(placement, lost(placement), Limits(), {}, compare(copies).copies)

    assert repair.leaderless == [Leaderless(partition(0), (1,), (3, 4), at_stake)]
