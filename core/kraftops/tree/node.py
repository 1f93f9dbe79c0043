"""The nodes of the tree: directories and leaves, made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from kraftops.engine.metadata_state import NewestRecord
from kraftops.image.state.changes import Change
from kraftops.image.state.image import LastChange, MetadataImage
from kraftops.java.text import sorted_strings


class LeafKind(NamedTuple):
    """The functions of a kind of leaves; each takes an image and the leaf's key.

    A key is the same in all images of a log. *newest* gives the record that changed the leaf last,
    None where no record made it.
    """

    data: Callable[[MetadataImage, Any], object]
    text: Callable[[MetadataImage, Any], str]
    newest: Callable[[MetadataImage, Any], NewestRecord | None]


class Leaf(NamedTuple):
    """A node with a value."""

    kind: LeafKind
    image: MetadataImage
    key: tuple[Any, ...] = ()

    @property
    def data(self) -> object:
        """The value as plain data, as JSON has it.

        Raises:
            KraftopsError: its records cannot be read any more.
        """
        return self.kind.data(self.image, self.key)

    @property
    def text(self) -> str:
        """The value as Kafka 4.3's shell prints it; errors as `data`."""
        return self.kind.text(self.image, self.key)

    @property
    def json(self) -> str:
        """The value as JSON on one line, without blanks; errors as `data`."""
        return json_text(self.data)

    @property
    def newest(self) -> NewestRecord | None:
        """The record that changed the value last; None where no record made it."""
        return self.kind.newest(self.image, self.key)

    @property
    def last_change(self) -> LastChange | None:
        """The last change of the value; None where no record made it.

        Raises:
            SourceError: a file cannot be read any more.
        """
        return self.image.last_change(lambda image: self.kind.newest(image, self.key))

    @property
    def change(self) -> Change | None:
        """The position of the last change; errors as `last_change`."""
        last = self.last_change
        return None if last is None else last.change


def json_text(value: object) -> str:
    """Return a value as JSON without blanks."""
    return _encode()(value)


@cache
def _encode() -> Callable[[object], str]:
    """Return a JSON encoder: a shared one takes half the time of `json.dumps`."""
    import json

    return json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class TopicsBelow(NamedTuple):
    """The topics in a directory: their *ids* by the names of its children, in an image."""

    image: MetadataImage
    ids: Callable[[], Mapping[str, bytes]]


class Directory(NamedTuple):
    """A node with children.

    *names* returns their names without an order; *get* finds a child, also by a name that is not
    listed. All children of an *is_flat* directory are leaves.

    The other fields are shortcuts that some directories have: *texts* returns all children as
    Kafka's shell prints them, by name; *newest* the highest address of a record that changed a node
    below, with its image; *last_change* the newest change below; *topics* has the topics.
    """

    names: Callable[[], Iterable[str]]
    get: Callable[[str], Node | None]
    is_flat: bool = False
    texts: Callable[[], dict[str, str]] | None = None
    newest: Callable[[], tuple[MetadataImage, int] | None] | None = None
    last_change: Callable[[], LastChange | None] | None = None
    topics: TopicsBelow | None = None

    def sorted_names(self) -> list[str]:
        """Return the names of the children in Java's order."""
        return sorted_strings(self.names())

    def children(self) -> Iterator[tuple[str, Node]]:
        """Yield names and children in Java's order."""
        for name in self.sorted_names():
            child = self.get(name)
            if child is not None:
                yield name, child


Node = Directory | Leaf


def fixed(children: Mapping[str, Node], *, is_flat: bool = False) -> Directory:
    """Return a directory with fixed children."""
    return Directory(lambda: children, children.get, is_flat)


def descend(node: Node | None, names: Iterable[str]) -> Node | None:
    """Return the node below another by names; None if there is none."""
    for name in names:
        if not isinstance(node, Directory):
            return None
        node = node.get(name)
    return node


def leaves_below(node: Node | None, path: str = "") -> Iterator[tuple[str, Leaf]]:
    """Yield the leaves below a node, or a leaf itself, by their paths from the node."""
    if isinstance(node, Leaf):
        yield path, node
    elif node is not None:
        for name, child in node.children():
            yield from leaves_below(child, f"{path}/{name}" if path else name)
