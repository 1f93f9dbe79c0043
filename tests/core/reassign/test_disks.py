"""Room in log directories for a plan, and directories that are asked for by name."""

import pytest

from kraftops.errors import RefusedError
from kraftops.placement.effects import effects_of
from kraftops.placement.placement import TopicPartition
from kraftops.placement.plan import Move
from kraftops.reassign.disks import ask_for_directories, check_room, disks_of
from tests.helpers.wire.moving_cluster import MovingCluster

T, U = TopicPartition("t", 0), TopicPartition("u", 0)
MOVE = Move(T, (1, 2), (3, 2))


def cluster(usable: int, size: int = 1000) -> MovingCluster:
    """Return a cluster with a partition of a size, and so many usable bytes on broker 3."""
    moving = MovingCluster(range(1, 4), {T: (1, 2)}, is_old=False)
    moving.sizes[T] = size
    moving.directories[3] = {"/d": usable}
    return moving


def check(moving: MovingCluster) -> None:
    with moving.reached() as access:
        placement = access.placement()
        disks = disks_of(access, placement)
        check_room([MOVE], effects_of(placement, [MOVE], disks).shortages, disks)


def test_room_is_enough_or_refused() -> None:
    check(cluster(1000))

    with pytest.raises(RefusedError, match=r"broker 3: /d would get .* and has room for"):
        check(cluster(999))


def test_broker_that_is_down_has_no_room() -> None:
    moving = cluster(1000)
    moving.brokers[3] = True

    with pytest.raises(RefusedError, match="broker 3"):
        check(moving)


def test_size_that_cannot_be_seen_is_refused() -> None:
    moving = cluster(1000)
    moving.brokers[1] = moving.brokers[2] = True

    with pytest.raises(RefusedError, match="the size of t-0 cannot be seen"):
        check(moving)


def test_directory_is_asked_for_where_the_broker_would_choose_one_without_room() -> None:
    """Kafka would take /small, which has fewer partitions."""
    moving = MovingCluster(range(1, 4), {T: (1, 2), U: (3,)}, is_old=False)
    moving.sizes[T] = 1000
    moving.directories[3] = {"/large": 5000, "/small": 10}

    with moving.reached() as access:
        ask_for_directories(access, access.placement(), [MOVE])

    assert moving.contents(3) == {"/large": [U], "/small": []}
    assert moving.asked == {(3, T): "/large"}


def test_directory_is_left_to_the_broker_where_all_have_room() -> None:
    moving = cluster(1000)
    moving.directories[3] = {"/a": 5000, "/b": 5000}

    with moving.reached() as access:
        ask_for_directories(access, access.placement(), [MOVE])

    assert moving.asked == {}
