"""The window of moves in flight."""

from kraftops.placement.placement import Replicas, TopicPartition
from kraftops.placement.plan import Move
from kraftops.reassign.moves import Window, next_moves


def partition(number: int) -> TopicPartition:
    return TopicPartition("t", number)


def moves(*targets: int) -> list[Move]:
    """Return a move of a replica to each of these brokers."""
    return [Move(partition(n), (1, 2), (1, target)) for n, target in enumerate(targets)]


def begun(found: list[Move]) -> list[int]:
    return [move.partition.number for move in found]


def test_largest_moves_begin_first_and_brokers_take_turns() -> None:
    sizes = {partition(n): size for n, size in enumerate((10, 30, 20, 5))}

    assert begun(next_moves(moves(3, 3, 3, 4), {}, sizes, Window(3))) == [1, 3, 2]


def test_window_counts_what_is_in_flight() -> None:
    moving = {partition(9): Replicas((1, 3, 2), (1, 2), 1, (3,), (2,))}

    assert len(next_moves(moves(3, 3, 3), moving, {}, Window(2))) == 1
    assert next_moves(moves(3, 3, 3), moving, {}, Window(1)) == []


def test_bytes_in_flight_are_limited() -> None:
    sizes = {partition(n): 40 for n in range(4)}

    assert len(next_moves(moves(3, 3, 3, 3), {}, sizes, Window(100, 100))) == 2


def test_broker_that_gets_nothing_gets_a_move_larger_than_the_window() -> None:
    sizes = {partition(0): 500, partition(1): 400, partition(2): 1}

    assert begun(next_moves(moves(3, 4, 3), {}, sizes, Window(100, 100))) == [0, 1]


def test_moves_that_copy_nothing_are_not_held_back() -> None:
    order = [Move(partition(n), (1, 2), (2, 1)) for n in range(5)]

    assert len(next_moves(order, {}, {}, Window(100, 0))) == 5


def test_moves_of_unknown_size_are_not_limited_by_bytes() -> None:
    assert len(next_moves(moves(3, 3, 3), {}, {}, Window(100, 0))) == 3
