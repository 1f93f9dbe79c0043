"""Another number of replicas, by a run that is killed before and after each of its requests."""

import pytest

from kraftops.placement.placement import Placement, TopicPartition
from kraftops.placement.plan import Limits, Move, plan_factor
from kraftops.reassign.marks import REPLICATION
from kraftops.reassign.moves import MoveOptions, run_moves
from tests.helpers.wire.moving_cluster import Killed, MovingCluster

PARTITIONS = {
    TopicPartition("t", number): (1 + number % 4, 1 + (number + 1) % 4) for number in range(5)
}
OTHER = TopicPartition("other", 0)


def cluster() -> MovingCluster:
    return MovingCluster(range(1, 5), {**PARTITIONS, OTHER: (1, 2)}, is_old=False)


def run(moving: MovingCluster, factor: int) -> None:
    """Run it as the tool does."""

    def missing(placement: Placement) -> list[Move]:
        return plan_factor(placement, PARTITIONS, factor, Limits()).moves

    with moving.reached() as access:
        run_moves(access, MoveOptions(2, 1000), lambda _: None, missing, REPLICATION)


@pytest.mark.parametrize("factor", [1, 3])
def test_it_goes_on_after_a_kill_at_any_request(factor: int) -> None:
    whole = cluster()
    run(whole, factor)

    for cut_at in range(1, whole.requests * 2 + 1):
        moving = cluster()
        moving.cut_at = cut_at
        with pytest.raises(Killed):
            run(moving, factor)
        moving.cut_at = None
        run(moving, factor)

        counts = {len({*moving.partitions[partition].replicas}) for partition in PARTITIONS}
        assert counts == {factor}
        assert moving.partitions[OTHER].replicas == (1, 2)
        assert [values for values in moving.configs.values() if values] == []
