"""A log directory is emptied into others of the same broker."""

import pytest

from kraftops.errors import KraftopsError, RefusedError
from kraftops.placement.disks import DiskReplica, LogDirectory
from kraftops.placement.placement import TopicPartition
from kraftops.reassign.emptying import Emptying, empty_directory, source_and_targets
from tests.helpers.wire.moving_cluster import Killed, MovingCluster

PARTITIONS = {TopicPartition("t", number): (1, 2) for number in range(5)}


def cluster(room: int = 1 << 30) -> MovingCluster:
    """Return a cluster whose broker 1 has some partitions in /a."""
    moving = MovingCluster(range(1, 3), PARTITIONS, is_old=False)
    moving.sizes = dict.fromkeys(PARTITIONS, 100)
    moving.directories[1] = {"/a": 1 << 30, "/b": room, "/c": room}
    moving.contents(1)
    return moving


def run(moving: MovingCluster, *targets: str) -> None:
    with moving.reached() as access:
        empty_directory(access, Emptying(1, "/a", targets, 1), lambda _: None)


def test_it_goes_on_after_a_kill_at_any_request() -> None:
    whole = cluster()
    assert whole.contents(1)["/a"]
    run(whole)

    for cut_at in range(1, whole.requests * 2 + 1):
        moving = cluster()
        moving.cut_at = cut_at
        with pytest.raises(Killed):
            run(moving)
        moving.cut_at = None
        run(moving)

        contents = moving.contents(1)
        assert contents["/a"] == []
        assert sorted(contents["/b"] + contents["/c"]) == sorted(PARTITIONS)


def test_only_named_directories_take_replicas() -> None:
    moving = cluster()
    before = moving.contents(1)["/b"]

    run(moving, "/c")

    assert moving.contents(1)["/b"] == before


def test_too_little_room_is_refused_before_anything_moves() -> None:
    moving = cluster(room=99)

    with pytest.raises(RefusedError, match="has too little room for what is in /a"):
        run(moving)

    assert moving.asked == {}


DIRECTORIES = [
    LogDirectory("/a", {TopicPartition("t", 0): DiskReplica(1)}),
    LogDirectory("/b", is_failed=True),
    LogDirectory("/c", is_cordoned=True),
]


@pytest.mark.parametrize(
    ("source", "targets", "code", "message"),
    [
        ("/x", (), 4, "has no log directory /x"),
        ("/a", ("/x",), 4, "has no log directory /x"),
        ("/b", (), 3, "/b has failed"),
        ("/a", (), 3, "no other log directory cannot take"),
        ("/a", ("/c",), 3, "/c cannot take replicas"),
        ("/a", ("/a",), 3, "/a cannot take replicas"),
    ],
)
def test_directories_that_do_not_fit_are_refused(
    source: str, targets: tuple[str, ...], code: int, message: str
) -> None:
    with pytest.raises(KraftopsError, match=message) as raised:
        source_and_targets(DIRECTORIES, source, targets)

    assert raised.value.exit_code == code
