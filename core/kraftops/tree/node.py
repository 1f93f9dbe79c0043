"""The nodes of the tree: directories and leaves, made when they are asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple

from kraftops.display.order import in_natural_order
from kraftops.engine.metadata_state import NewestRecord
from kraftops.errors import KraftopsError
from kraftops.image.state.changes import Change
from kraftops.image.state.image import LastChange, MetadataImage
from kraftops.java.numbers import double_text
from kraftops.java.text import sorted_strings

_NAMES_SHOWN = 5  # a line of a session
_LAST_LETTER = "\U0010ffff"
About = Mapping[str, object]
"""Texts, numbers and lists of numbers by name, for people."""


class LeafKind(NamedTuple):
    """The functions of a kind of leaves; each takes an image and the leaf's key.

    A key is the same in all images of a log. *newest* gives the record that changed the leaf last,
    None where no record made it.
    """

    data: Callable[[MetadataImage, Any], object]
    kafka_text: Callable[[MetadataImage, Any], str]
    newest: Callable[[MetadataImage, Any], NewestRecord | None]
    about: Callable[[MetadataImage, Any], About] | None = None
    """The values by name that a list of such leaves shows, for example leader and ISR."""


class Leaf(NamedTuple):
    """A node with a value."""

    kind: LeafKind
    image: MetadataImage
    key: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        try:
            return f"Leaf({self.json})"
        except KraftopsError as error:  # its file is gone
            return f"Leaf({error.message})"

    @property
    def data(self) -> Any:
        """The value as plain data, as JSON has it.

        Raises:
            KraftopsError: its records can no longer be read.
        """
        return self.kind.data(self.image, self.key)

    @property
    def kafka_text(self) -> str:
        """The value as Kafka 4.3's shell prints it; errors as `data`."""
        return self.kind.kafka_text(self.image, self.key)

    @property
    def json(self) -> str:
        """The value as JSON on one line, without blanks; errors as `data`."""
        return json_text(self.data)

    @property
    def size(self) -> int:
        """The number of bytes of the JSON on one line; errors as `data`."""
        return len(self.json.encode("utf-8", "surrogatepass"))

    @property
    def about(self) -> About | None:
        """The values that a list shows of it, if there are some; errors as `data`."""
        return self.kind.about(self.image, self.key) if self.kind.about else None

    @property
    def newest(self) -> NewestRecord | None:
        """The record that changed the value last; None where no record made it."""
        return self.kind.newest(self.image, self.key)

    @property
    def last_change(self) -> LastChange | None:
        """The last change of the value; None where no record made it.

        Raises:
            SourceError: a file can no longer be read.
        """
        return self.image.last_change(lambda image: self.kind.newest(image, self.key))

    @property
    def change(self) -> Change | None:
        """The position of the last change; errors as `last_change`."""
        last = self.last_change
        return None if last is None else last.change


def json_text(value: object) -> str:
    """Return a value as JSON without blanks.

    Numbers that JSON does not have are texts, as in Kafka's JSON: `"NaN"`, `"Infinity"`.
    """
    try:
        return _encode()(value)
    except ValueError:
        return _encode()(_finite(value))


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _finite(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(element) for element in value]
    if isinstance(value, float) and not isfinite(value):
        return double_text(value).strip('"')
    return value


@cache
def _encode() -> Callable[[object], str]:
    """Return a JSON encoder: a shared one takes half the time of `json.dumps`."""
    import json

    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return encoder.encode


class TopicsBelow(NamedTuple):
    """The topics in a directory: their *ids* by the names of its children, in an image."""

    image: MetadataImage
    ids: Callable[[], Mapping[str, bytes]]


@dataclass(slots=True, eq=False, repr=False)  # frozen, it takes four times as long to make
class Directory:
    """A node with children; `directory["topics"]`, iteration and `items()` are those of a mapping.

    *names* returns their names without an order. *get* finds a child, also by a name that *names*
    does not return: Kafka's shell shows features that do not exist, and parses ids and entities,
    so that several spellings lead to one node.

    *is_known_flat* is a hint that saves reading the children: True means that all are leaves, False
    means that some may be directories.

    The other fields are shortcuts for speed. A directory may lack them, and a command may ignore
    them: a walk through the children gives the same answer. *kafka_texts* returns all children as
    Kafka's shell prints them, by name; *json_texts* all children in natural order, with their JSON
    on one line; *leaf_names* the names of all children, which are flat, in Java's order, with those
    of their leaves; *newest* the highest address of a record that changed a node
    below, with its image; *last_change* the newest change below; *topics* has the topics;
    *is_ordered* means that *names* has the natural order; *beginning* returns the names that begin
    with a text, sorted, of more than a number only the first ones and the last.

    *is_view* means that all nodes below are elsewhere, too: walks from above leave it out. *about*
    has the values by name that a list of such directories shows, for example partitions.
    """

    names: Callable[[], Iterable[str]]
    get: Callable[[str], Node | None]
    is_known_flat: bool = False
    kafka_texts: Callable[[], dict[str, str]] | None = None
    json_texts: Callable[[], Iterable[tuple[str, str]]] | None = None
    leaf_names: Callable[[], Iterable[tuple[str, Sequence[str]]]] | None = None
    newest: Callable[[], tuple[MetadataImage, int] | None] | None = None
    last_change: Callable[[], LastChange | None] | None = None
    topics: TopicsBelow | None = None
    is_ordered: bool = False
    is_view: bool = False
    beginning: Callable[[str, int], list[str]] | None = None
    about: Callable[[], About] | None = None

    def __getitem__(self, name: str) -> Node:
        child = self.get(name)
        if child is None:
            raise KeyError(name)
        return child

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.natural_names())

    def __len__(self) -> int:
        return self.child_count

    def __bool__(self) -> bool:
        return True  # it is there, also without children

    def __repr__(self) -> str:
        some = [*islice(self.names(), _NAMES_SHOWN + 1)]
        more = ", …" if len(some) > _NAMES_SHOWN else ""
        return f"Directory({', '.join(some[:_NAMES_SHOWN])}{more})"

    def keys(self) -> list[str]:
        return self.natural_names()

    def values(self) -> Iterator[Node]:
        """Yield the children in the order of `keys`."""
        return (self[name] for name in self)

    def items(self) -> Iterator[tuple[str, Node]]:
        """Yield names and children in the order of `keys`; views, too."""
        return ((name, self[name]) for name in self)

    @property
    def child_count(self) -> int:
        """The number of children."""
        return sum(1 for _ in self.names())

    def sorted_names(self) -> list[str]:
        """Return the names of the children in the order of Java's strings (UTF-16)."""
        return sorted_strings(self.names())

    def natural_names(self) -> list[str]:
        """Return the names of the children, numbers in them by value: 2 before 10."""
        return list(self.names()) if self.is_ordered else in_natural_order(self.names())

    def children(self) -> Iterator[tuple[str, Node]]:
        """Yield names and children, without views, in Java's order."""
        for name in self.sorted_names():
            child = self.get(name)
            if child is not None and not is_view(child):
                yield name, child


Node = Directory | Leaf


def is_view(node: Node | None) -> bool:
    """Tell whether a node shows only nodes that are elsewhere, too."""
    return isinstance(node, Directory) and node.is_view


def fixed(children: Mapping[str, Node], *, is_known_flat: bool = False) -> Directory:
    """Make a directory of children that exist already, in their order."""
    return Directory(lambda: children, children.get, is_known_flat)


def beginning_with(text: str, names: Sequence[str]) -> Sequence[str]:
    """Return the names that begin with a text, of sorted ones."""
    return names[bisect_left(names, text) : bisect_left(names, text + _LAST_LETTER)]


def some_of(names: Sequence[str], most: int) -> list[str]:
    """Shorten names to *most*: the first ones and the last."""
    return [*names] if len(names) <= most else [*names[: most - 1], names[-1]]


def descend(node: Node | None, names: Iterable[str]) -> Node | None:
    """Return the node below another by names; None if there is none."""
    for name in names:
        if not isinstance(node, Directory):
            return None
        node = node.get(name)
    return node


def leaves_by_raw_path(node: Node | None, path: str = "") -> Iterator[tuple[str, Leaf]]:
    """Yield the leaves below a node, or a leaf itself, by their paths from the node.

    Names in a path are not escaped: a path is a key for comparisons, and no input for a command.
    """
    if isinstance(node, Leaf):
        yield path, node
    elif node is not None:
        for name, child in node.children():
            yield from leaves_by_raw_path(child, f"{path}/{name}" if path else name)
