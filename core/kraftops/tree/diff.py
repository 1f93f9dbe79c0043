"""Differences between two trees, path by path."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kraftops.image.state.fields import ChangeKind, FieldChange, field_changes
from kraftops.java.text import sorted_strings
from kraftops.records.secrets.rules import Redacted
from kraftops.tree.names import integer_of
from kraftops.tree.node import Directory, Leaf, Node

_READ_AHEAD = (
    1 << 14
)  # partitions: whose states one call reads: one for each small topic would be slow
_Changed = Mapping[str, Sequence[str]]
DERIVED_NODES = frozenset(
    {
        ("image", "byBroker"),
        ("image", "byDirectory"),
        ("image", "byRack"),
        ("image", "provenance"),
        ("image", "topics", "byId"),
        ("image", "topics", "byState"),
        ("local",),
    }
)
"""Nodes without differences of their own: they show the whole state, or other nodes again."""


class Difference(NamedTuple):
    """A leaf that differs between two trees; the value is None where the leaf is missing."""

    kind: ChangeKind
    names: tuple[str, ...]
    old: object
    new: object

    @property
    def fields(self) -> tuple[FieldChange, ...]:
        return field_changes(self.old, self.new)


def diff(old: Node | None, new: Node | None, names: Sequence[str] = ()) -> Iterator[Difference]:
    """Yield the leaves that differ between two nodes, in the order of their paths.

    A missing node is None. *names* are the nodes' own names from the root; `DERIVED_NODES` below
    them are left out.

    Raises:
        KraftopsError: while iterating, a source can no longer be read.
    """
    yield from _between(old, new, tuple(names))


def _between(old: Node | None, new: Node | None, names: tuple[str, ...]) -> Iterator[Difference]:
    if isinstance(old, Leaf) and isinstance(new, Leaf):
        if not _is_same(old, new):
            yield Difference(ChangeKind.CHANGED, names, old.data, new.data)
        return
    for node, kind in ((old, ChangeKind.REMOVED), (new, ChangeKind.ADDED)):
        if isinstance(node, Leaf):
            data = node.data
            is_old = kind is ChangeKind.REMOVED
            yield Difference(kind, names, data if is_old else None, None if is_old else data)
    before = old if isinstance(old, Directory) else None
    after = new if isinstance(new, Directory) else None
    child_names = {name for side in (before, after) if side for name in side.names()}
    changed = _changed_topics(before, after) if before and after else {}
    differing = [name for name in sorted_strings(child_names) if changed.get(name) != []]
    for name in _read_ahead(before, after, differing, changed):
        below = (*names, name)
        if below in DERIVED_NODES:
            continue
        sides = [side.get(name) if side else None for side in (before, after)]
        if name in changed:
            sides = [_only(side, changed[name]) for side in sides if isinstance(side, Directory)]
        yield from _between(sides[0], sides[1], below)


def _changed_topics(before: Directory, after: Directory) -> dict[str, list[str]]:
    """Return the children that may differ in topics of two directories, by names of topics.

    Other directories, and images of two different engines, have no result.
    """
    if before.topics is None or after.topics is None:
        return {}
    old, new = before.topics.image, after.topics.image
    if type(old.fold) is not type(new.fold):
        return {}
    old_names, new_names = (
        {topic_id: name for name, topic_id in image.topic_ids.items()} for image in (old, new)
    )
    different, new_ids = old.fold.different(new.fold), after.topics.ids()
    changed_children: dict[str, list[str]] = {}
    for name, topic_id in before.topics.ids().items():
        if new_ids.get(name) == topic_id:
            changed_children[name] = list(map(str, different.get(topic_id, ())))
            if topic_id not in old_names or old_names[topic_id] != new_names.get(topic_id):
                changed_children[name].append("name")
    return changed_children


def _read_ahead(
    before: Directory | None, after: Directory | None, names: list[str], changed: _Changed
) -> Iterator[str]:
    """Yield names; before, have both images read the changed partitions of many topics at once."""
    topics = [side.topics for side in (before, after) if side and side.topics]
    names_ahead = 0
    for index, name in enumerate(names):
        if changed and names_ahead == 0:
            some: list[tuple[bytes, int]] = []
            ids = topics[0].ids()
            while index + names_ahead < len(names) and len(some) < _READ_AHEAD:
                other = names[index + names_ahead]
                numbers = (integer_of(child) for child in changed.get(other, ()))
                some += [(ids[other], number) for number in numbers if number is not None]
                names_ahead += 1
            for tree_topics in topics:
                tree_topics.image.read_ahead(some)
        names_ahead -= 1
        yield name


def _only(directory: Directory, names: Sequence[str]) -> Directory:
    """Narrow a directory to some of its children."""
    return Directory(lambda: names, directory.get)


def _is_same(old: Leaf, new: Leaf) -> bool:
    if old.kind is new.kind and old.image.store.shares_batches(new.image.store):
        newest = old.newest
        if newest and newest == new.newest:
            return True
    return old.json == new.json and _redacted(old.data) == _redacted(new.data)


def _redacted(data: object) -> list[Redacted]:
    """Return the secrets in a leaf's data: redacted, they would look equal in a diff."""
    values = data.values() if isinstance(data, dict) else (data,)
    return [value for value in values if isinstance(value, Redacted)]
