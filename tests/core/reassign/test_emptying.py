"""A log directory is emptied into others of the same broker."""

import pytest

from kraftops.errors import KraftopsError, RefusedError
from kraftops.placement.disks import DiskReplica, LogDirectory
from kraftops.placement.placement import TopicPartition
from kraftops.reassign.emptying import Emptying, empty_directory, source_and_targets
from kraftops.reassign.moves import MoveOptions
from kraftops.reassign.operations import measured, operations_under_way
from kraftops.reassign.steering import cancel_operation, follow_to_end
from tests.helpers.wire.moving_cluster import Killed, MovingCluster

PARTITIONS = {TopicPartition("t", number): (1, 2) for number in range(5)}


def cluster(room: int = 1 << 30) -> MovingCluster:
    """Return a cluster whose broker 1 has some partitions in /a."""
    moving = MovingCluster(range(1, 3), PARTITIONS, is_old=False)
    moving.sizes = dict.fromkeys(PARTITIONS, 100)
    moving.directories[1] = {"/a": 1 << 30, "/b": room, "/c": room}
    moving.contents(1)
    return moving


def run(moving: MovingCluster, *targets: str, throttle: int | None = None) -> None:
    with moving.reached() as access:
        empty_directory(
            access, Emptying(1, "/a", targets, MoveOptions(1, throttle)), lambda _: None
        )


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


RATE = "replica.alter.log.dirs.io.max.bytes.per.second"


def stalled(moving: MovingCluster, stall_seconds: float = 0) -> KraftopsError:
    moving.copies_slowly = True
    task = Emptying(1, "/a", ("/b",), MoveOptions(2, 500, stall_seconds))
    with moving.reached() as access, pytest.raises(KraftopsError) as raised:
        empty_directory(access, task, lambda _: None)
    return raised.value


def test_stall_ends_a_run_which_is_seen_with_its_bytes_and_resumed_by_anybody() -> None:
    moving = cluster()
    count = len(moving.contents(1)["/a"])
    error = stalled(moving)

    assert (error.exit_code, error.code) == (5, "stalled")
    assert moving.configs[4, "1"][RATE] == "500"
    with moving.reached() as access:
        now = access.placement()
        (seen,) = measured(access, now, operations_under_way(access, now), 0)
        assert (seen.name, seen.directories, seen.throttle) == ("move-dirs-1", ("/a", "/b"), 500)
        assert (seen.total, len(seen.moving), seen.waiting, seen.done) == (count, 2, count - 2, 0)
        assert seen.amounts
        assert (seen.size, seen.amounts.done, seen.amounts.left) == (
            *(count * 100, 100, count * 100 - 100),
        )
        moving.end_copies()
        follow_to_end(access, seen, MoveOptions(2, None), lambda _: None)

    assert moving.contents(1)["/a"] == []
    assert not any(moving.configs.values())


def test_cancel_keeps_replicas_where_they_are() -> None:
    moving = cluster()
    before = moving.contents(1)
    stalled(moving)

    with moving.reached() as access:
        (operation,) = operations_under_way(access, access.placement())
        _, ended, refused = cancel_operation(access, operation)

    assert (len(ended), refused, moving.coming) == (2, {}, {})
    assert moving.contents(1) == before
    assert not any(moving.configs.values())


def test_throttle_of_another_is_refused() -> None:
    moving = cluster()
    moving.configs[4, "1"] = {RATE: "7"}

    with pytest.raises(RefusedError, match="a throttle of another"):
        run(moving, throttle=1)


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
