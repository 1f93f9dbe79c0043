"""Topics and where the records of their partitions lie."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from struct import Struct

_ABSENT = -1
_WIDEST_HOLE = 1024  # numbers that are skipped in a dense array before one counts as odd
PARTITION_KEY = Struct(">i16s")
"""Number and topic id, as partition records have them."""


class Topic:
    """A topic: its id, name, and the addresses of its record and of its partitions' records."""

    __slots__ = ("address", "id", "is_deleting", "name", "odd", "places")

    def __init__(self, topic_id: bytes, name: str, address: int) -> None:
        self.id = topic_id
        self.name = name
        self.address = address
        self.is_deleting = False
        """What drafts of KIP-631 say of a topic before it goes."""
        self.places: array[int] = array("q")
        """The addresses of the records that made partitions 0, 1, … last; negative: there is none.

        A million partitions take 8 MB here, and 80 in a dict.
        """
        self.odd: dict[int, int] = {}
        """The same for partitions whose numbers are far from their neighbours'."""

    def put(self, number: int, address: int) -> None:
        """Have the record at *address* make a partition."""
        places = self.places
        size = len(places)
        if number in self.odd or not 0 <= number < size + _WIDEST_HOLE:
            self.odd[number] = address
            return
        if number >= size:
            places.extend([_ABSENT] * (number + 1 - size))
        places[number] = address

    def place(self, number: int) -> int | None:
        """Return the address of the record that made a partition, None if there is none."""
        if 0 <= number < len(self.places):
            address = self.places[number]
            return self.odd.get(number) if address < 0 else address
        return self.odd.get(number)

    def numbers(self) -> Iterator[int]:
        """Yield the numbers of the partitions; those far apart come last."""
        for number, address in enumerate(self.places):
            if address >= 0:
                yield number
        yield from self.odd

    def keys(self) -> Iterator[bytes]:
        """Yield the keys of the partitions: number and topic id as their records have them."""
        for number in self.numbers():
            yield PARTITION_KEY.pack(number, self.id)

    def __len__(self) -> int:
        return len(self.places) - self.places.count(_ABSENT) + len(self.odd)
