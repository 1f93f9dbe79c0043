"""The directories to which replicas come: Kafka's own choice where it has room, else named ones."""

from hypothesis import given
from hypothesis import strategies as st

from kraftops.placement.disks import DiskReplica, LogDirectory, with_directories
from kraftops.placement.placement import TopicPartition
from kraftops.placement.plan import Move


def partition(number: int) -> TopicPartition:
    return TopicPartition("t", number)


def moves_to(broker: int, count: int) -> list[Move]:
    return [Move(partition(number), (1,), (broker,)) for number in range(count)]


def test_kafka_takes_the_directory_with_the_fewest_partitions() -> None:
    full = {partition(number): DiskReplica(1) for number in range(10, 12)}
    disks = {2: [LogDirectory("/a", full), LogDirectory("/b")]}

    placed = with_directories(moves_to(2, 4), disks, {})

    assert len(placed.arrivals[2, "/b"]) == 3
    assert len(placed.arrivals[2, "/a"]) == 1
    assert placed.moves == moves_to(2, 4)


def test_failed_and_cordoned_directories_get_nothing() -> None:
    disks = {
        2: [
            LogDirectory("/a", is_failed=True),
            LogDirectory("/b", is_cordoned=True),
            LogDirectory("/c", {partition(9): DiskReplica(1)}),
        ]
    }

    assert [*with_directories(moves_to(2, 2), disks, {}).arrivals] == [(2, "/c")]


def test_directories_of_one_volume_share_its_room() -> None:
    volume = [LogDirectory(path, total=500, usable=100) for path in ("/v/a", "/v/b")]
    sizes = {partition(number): 60 for number in range(2)}

    alone = with_directories(moves_to(2, 1), {2: volume}, sizes)
    both = with_directories(moves_to(2, 2), {2: volume}, sizes)

    assert alone.shortages == []
    assert {shortage.broker for shortage in both.shortages} == {2}


def test_named_directory_of_a_user_is_kept() -> None:
    disks = {2: [LogDirectory("/a"), LogDirectory("/b", {partition(9): DiskReplica(1)})]}
    move = Move(partition(0), (1,), (2,), ("/b",))

    placed = with_directories([move], disks, {})

    assert placed.moves == [move]
    assert placed.arrivals == {(2, "/b"): [partition(0)]}


def test_named_directories_take_their_room_before_others_are_chosen() -> None:
    disks = {2: [LogDirectory(f"/{n}", total=1000 + n, usable=100) for n in range(2)]}
    free, named = partition(0), partition(1)
    moves = [Move(free, (1,), (2,)), Move(named, (1,), (2,), ("/0",))]

    placed = with_directories(moves, disks, {free: 90, named: 80})

    assert placed.arrivals == {(2, "/0"): [named], (2, "/1"): [free]}
    assert placed.shortages == []


@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=4),
    st.lists(st.integers(0, 50), max_size=12),
)
def test_no_directory_is_filled_without_a_word(rooms: list[int], sizes: list[int]) -> None:
    """Either all replicas have room where they come, or the shortage is told."""
    disks = {
        2: [LogDirectory(f"/{n}", total=1000 + n, usable=room) for n, room in enumerate(rooms)]
    }
    bytes_of = {partition(number): size for number, size in enumerate(sizes)}

    moves = with_directories(moves_to(2, len(sizes)), disks, bytes_of)

    placed = {
        path: sum(bytes_of[name] for name in names) for (_, path), names in moves.arrivals.items()
    }
    full = {
        directory.path for directory in disks[2] if placed.get(directory.path, 0) > directory.usable
    }  # type: ignore[operator]
    assert full == {shortage.path for shortage in moves.shortages}
    assert sum(map(len, moves.arrivals.values())) == len(sizes)
