"""The order of Java's and Scala's hash tables."""

from kraftops.java.hash_order import (
    map_order,
    scala_map_order,
    set_order,
    set_text,
)
from kraftops.java.text import string_hash


def test_a_java_map_is_ordered_by_its_table() -> None:
    numbers = [33, 17, 2, 16, 1, 0]

    assert map_order(numbers, int, capacity=16) == [16, 0, 33, 17, 1, 2]
    assert map_order(numbers, int, capacity=32) == [0, 33, 1, 2, 16, 17]


def test_a_java_map_grows() -> None:
    assert map_order([16, *range(1, 12)], int, capacity=16) == [16, *range(1, 12)]  # 3/4 of it
    assert map_order(range(12), int, capacity=16) == list(range(12))
    assert map_order([32, *range(12)], int, capacity=16) == [32, *range(12)]
    assert map_order([16, *range(12)], int, capacity=16) == [*range(12), 16]


def test_a_small_set_of_scala_keeps_its_order() -> None:
    assert set_text([3, 1, 2], int) == "Set(3, 1, 2)"


def test_a_larger_set_of_scala_is_ordered_by_its_trie() -> None:
    ids = [25, 45, 59, 88, 102, 115, 157]

    assert set_text(ids, int) == "HashSet(88, 115, 25, 157, 102, 45, 59)"


def test_names_in_a_larger_set_of_scala() -> None:
    names = ["N880", "N237", "N561", "N942", "MORE"]

    assert set_order(names, string_hash) == ["N237", "N561", "N942", "N880", "MORE"]


def test_a_mutable_map_of_scala_orders_its_buckets() -> None:
    hosts = ["b59!", "fff32!", "bbb95!"]

    assert scala_map_order(hosts, string_hash) == ["fff32!", "b59!", "bbb95!"]
    assert scala_map_order(reversed(hosts), string_hash) == ["fff32!", "b59!", "bbb95!"]


def test_a_mutable_map_of_scala_grows() -> None:
    assert scala_map_order([16, *range(10)], int) == [0, 16, *range(1, 10)]
    assert scala_map_order([16, *range(11)], int) == [*range(11), 16]
