"""The nodes of the tree: directories and leaves, made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kraftops.image.image import Change, MetadataImage


class LeafKind(NamedTuple):
    """What leaves of a sort have in common; each function takes the image and the leaf's key.

    *addresses* gives those of the records that made the leaf, oldest first.
    """

    data: Callable[[MetadataImage, object], object]
    text: Callable[[MetadataImage, object], str]
    addresses: Callable[[MetadataImage, object], Sequence[int]]


class Leaf(NamedTuple):
    """A node with a value."""

    kind: LeafKind
    image: MetadataImage
    key: object = None

    @property
    def data(self) -> object:
        """The value as plain data, as JSON has it.

        Raises:
            KraftopsError: its records cannot be read any more.
        """
        return self.kind.data(self.image, self.key)

    @property
    def text(self) -> str:
        """The value as Kafka 4.3's shell prints it; errors as those of `data`."""
        return self.kind.text(self.image, self.key)

    @property
    def addresses(self) -> Sequence[int]:
        """The addresses of the records that made the value, oldest first."""
        return self.kind.addresses(self.image, self.key)

    @property
    def change(self) -> Change | None:
        """Where the value was last changed; None where no record made it."""
        addresses = self.addresses
        return self.image.change(addresses[-1]) if addresses else None


class Directory(NamedTuple):
    """A node with children.

    *names* gives them in no order, *get* finds one of them by a name, which need not be the one
    that is listed.
    """

    names: Callable[[], Iterable[str]]
    get: Callable[[str], Node | None]

    def sorted_names(self) -> list[str]:
        """Return the names of the children as Java sorts them, by UTF-16 code units."""
        return java_sorted(self.names())

    def children(self) -> Iterator[tuple[str, Node]]:
        """Yield names and children in that order."""
        for name in self.sorted_names():
            child = self.get(name)
            if child is not None:
                yield name, child


Node = Directory | Leaf


def fixed(children: dict[str, Node]) -> Directory:
    """Return a directory of these children."""
    return Directory(lambda: children, children.get)


def java_sorted(names: Iterable[str]) -> list[str]:
    """Return strings as Java sorts them, by UTF-16 code units."""
    found = list(names)
    if all(map(str.isascii, found)):
        return sorted(found)
    return sorted(found, key=lambda name: name.encode("utf-16-be", "surrogatepass"))


def descend(node: Node | None, names: Iterable[str]) -> Node | None:
    """Return the node that is reached from another by these names; None if there is none."""
    for name in names:
        if not isinstance(node, Directory):
            return None
        node = node.get(name)
    return node
