"""The nodes of the tree: directories and leaves, made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kraftops.image.image import Change, MetadataImage


class LeafKind(NamedTuple):
    """What leaves of a sort have in common; each function takes the image and the leaf's key.

    *addresses* gives those of the records that made the leaf, oldest first. Two are short ways:
    *json* to the JSON of the data, without blanks, or None where it does not lead there, and
    *newest* to the last of the addresses.
    """

    data: Callable[[MetadataImage, object], object]
    text: Callable[[MetadataImage, object], str]
    addresses: Callable[[MetadataImage, object], Sequence[int]]
    json: Callable[[MetadataImage, object], str | None] | None = None
    newest: Callable[[MetadataImage, object], int | None] | None = None


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
    def json(self) -> str:
        """The value as JSON on one line, without blanks; errors as those of `data`."""
        made = self.kind.json(self.image, self.key) if self.kind.json else None
        if made is None:
            import json

            made = json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        return made

    @property
    def addresses(self) -> Sequence[int]:
        """The addresses of the records that made the value, oldest first."""
        return self.kind.addresses(self.image, self.key)

    @property
    def newest(self) -> int | None:
        """The last of them, which is another one after every change; None where there are none."""
        if self.kind.newest:
            return self.kind.newest(self.image, self.key)
        addresses = self.addresses
        return addresses[-1] if addresses else None

    @property
    def change(self) -> Change | None:
        """Where the value was last changed; None where no record made it."""
        newest = self.newest
        return None if newest is None else self.image.change(newest)


class Directory(NamedTuple):
    """A node with children.

    *names* gives them in no order, *get* finds one of them by a name, which need not be the one
    that is listed. Where *is_flat*, all of them are leaves: nobody need get them to know that.
    *texts*, where it is there, is a short way to all of them as Kafka's shell prints them, by name.
    """

    names: Callable[[], Iterable[str]]
    get: Callable[[str], Node | None]
    is_flat: bool = False
    texts: Callable[[], dict[str, str]] | None = None

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


def fixed(children: Mapping[str, Node], *, is_flat: bool = False) -> Directory:
    """Return a directory of these children."""
    return Directory(lambda: children, children.get, is_flat)


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
