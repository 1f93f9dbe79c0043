"""Order of Java's and Scala's hash tables, in which Kafka lists names and reports errors."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

_SCALA_SMALL = 4  # sets up to this size keep the order of insertion
_MASK = 0xFFFFFFFF


def map_order(
    keys: Iterable[T], hash_code: Callable[[T], int], *, capacity: int | None = None
) -> list[T]:
    """Return keys in the order of a `HashMap`.

    Args:
        keys: the keys in the order of insertion, none twice.
        hash_code: returns the hash of a key, unsigned.
        capacity: the initial capacity of the map; None for a copy of another map.
    """
    in_order = list(keys)
    size = _table_size(16 if capacity is None else capacity)
    if capacity is None:
        size = _table_size(int(len(in_order) / 0.75 + 1))
    while len(in_order) * 4 > size * 3:
        size *= 2
    return sorted(in_order, key=lambda key: _spread(hash_code(key)) & size - 1)


def scala_map_order(keys: Iterable[T], hash_code: Callable[[T], int]) -> list[T]:
    """Return keys in the order of Scala's `mutable.HashMap`, by hash in each bucket."""
    in_order = list(keys)
    size = 16
    while len(in_order) * 4 >= size * 3:
        size *= 2

    def place(key: T) -> tuple[int, int]:
        spread = _spread(hash_code(key))
        return spread & size - 1, spread - (spread >> 31 << 32)

    return sorted(in_order, key=place)


def set_text(items: Iterable[T], hash_code: Callable[[T], int]) -> str:
    """Return the `toString` of an immutable Scala set."""
    in_order = list(items)
    name = "Set" if len(in_order) <= _SCALA_SMALL else "HashSet"
    return f"{name}({', '.join(map(str, set_order(in_order, hash_code)))})"


def set_order(items: Iterable[T], hash_code: Callable[[T], int]) -> list[T]:
    """Return *items*, given in the order of insertion, in the order of an immutable Scala set."""
    in_order = list(items)
    return in_order if len(in_order) <= _SCALA_SMALL else _trie_order(in_order, hash_code, 0)


def _trie_order(items: list[T], hash_code: Callable[[T], int], shift: int) -> list[T]:
    """Return the items of a CHAMP trie's node: its own, then its children's."""
    branches: dict[int, list[T]] = {}
    for item in items:
        branches.setdefault(_improved(hash_code(item)) >> shift & 31, []).append(item)
    ordered = [branches[index] for index in sorted(branches)]
    own = [branch[0] for branch in ordered if len(branch) == 1]
    for branch in ordered:
        if len(branch) > 1:
            own += branch if shift >= 30 else _trie_order(branch, hash_code, shift + 5)
    return own


def _spread(value: int) -> int:
    """Spread a hash over the buckets, as Java's `HashMap.hash` and Scala's `mutable.HashMap` do."""
    return value ^ value >> 16


def _improved(value: int) -> int:
    """Improve a hash as `scala.collection.Hashing.improve` does, for tries."""
    value = value + ~(value << 9) & _MASK
    value ^= value >> 14
    value = value + (value << 4) & _MASK
    return value ^ value >> 10


def _table_size(capacity: int) -> int:
    return 1 << max(0, capacity - 1).bit_length()
