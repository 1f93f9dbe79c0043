"""Room on disks for a plan."""

from types import SimpleNamespace
from typing import Any

import pytest

from kraftops.errors import RefusedError
from kraftops.placement.placement import TopicPartition
from kraftops.placement.plan import Move
from kraftops.reassign.disks import check_room
from tests.helpers.wire.moving_cluster import MovingCluster

T = TopicPartition("t", 0)


def cluster(usable: int, size: int = 1000) -> MovingCluster:
    """Return a cluster whose brokers have so many usable bytes, and partitions of a size."""
    found = MovingCluster(range(1, 4), {T: (1, 2)}, is_old=False)

    def describe(_: int, **__: Any) -> SimpleNamespace:
        partition = SimpleNamespace(partition_index=0, partition_size=size, is_future_key=False)
        topic = SimpleNamespace(name="t", partitions=[partition])
        directory = SimpleNamespace(error_code=0, usable_bytes=usable, topics=[topic])
        failed = SimpleNamespace(error_code=56, usable_bytes=-1, topics=[])
        return SimpleNamespace(error_code=0, results=[directory, failed])

    found._describe_log_dirs = describe  # type: ignore[method-assign,assignment]
    return found


def check(found: MovingCluster) -> None:
    with found.reached() as access:
        check_room(access, access.placement(), [Move(T, (1, 2), (3, 2))])


def test_room_is_enough_or_refused() -> None:
    check(cluster(1000))

    with pytest.raises(RefusedError, match=r"broker 3 would get .* and has room for"):
        check(cluster(999))


def test_broker_that_is_down_has_no_room() -> None:
    found = cluster(1000)
    found.brokers[3] = True

    with pytest.raises(RefusedError, match="broker 3"):
        check(found)


def test_size_that_cannot_be_seen_is_refused() -> None:
    found = cluster(1000)
    found.brokers[1] = found.brokers[2] = True

    with pytest.raises(RefusedError, match="the size of t-0 cannot be seen"):
        check(found)
