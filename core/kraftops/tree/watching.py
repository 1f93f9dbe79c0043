"""What a fold is to watch for the history of a node: the entries of the state that it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kraftops.engine.metadata_state import EntryKey
from kraftops.errors import DecodeError, UsageError
from kraftops.image.history import Watched
from kraftops.image.state.image import MetadataImage
from kraftops.tree.layout import Has, tree_of
from kraftops.tree.names import entity_of, integer_of, mechanism_of, resource_of
from kraftops.tree.node import Leaf, Node, descend
from kraftops.uuids import from_text

Watches = Callable[[MetadataImage], Sequence[EntryKey]]
Names = tuple[str, ...]


def watched(names: Sequence[str], *, show_secrets: bool = False) -> Watched:
    """Return what a history of the node of these names is about, whether it is there or not.

    Raises:
        UsageError: no records make such a node, or those of all the log.
    """
    path = "/" + "/".join(names)
    for row in _ROWS:
        if path != row.path and not path.startswith(f"{row.path}/"):
            continue
        below = tuple(names[row.path.count("/") :])
        if len(below) < row.least:
            break
        wanted = row.watches(below)

        def look(image: MetadataImage) -> Mapping[str, Leaf]:
            root = tree_of(image, form=Has.OURS, show_secrets=show_secrets)
            return dict(leaves_below(descend(root, names)))

        return Watched(look, wanted, is_control=row.is_control)
    raise UsageError(
        f"{path} has no history of its own",
        "name a topic, a partition, a broker, or another node that records make",
    )


def leaves_below(node: Node | None, path: str = "") -> Iterator[tuple[str, Leaf]]:
    """Yield the leaves below a node, or it itself, by their paths from it."""
    if isinstance(node, Leaf):
        yield path, node
    elif node is not None:
        for name, child in node.children():
            yield from leaves_below(child, f"{path}/{name}" if path else name)


class _Row(NamedTuple):
    """Nodes below a path: what to watch for them, by the names below it, at *least* so many."""

    path: str
    watches: Callable[[Names], Watches]
    least: int = 0
    is_control: bool = False


def _entries(table: str, *key: Callable[[str], object]) -> Callable[[Names], Watches]:
    """Return what watches entries of a table; each of the names is a part of the *key*.

    A name that is none of them names nothing that there will be.
    """

    def watches(names: Names) -> Watches:
        parts = [part(name) for part, name in zip(key, names, strict=False)]
        found = [] if None in parts else [EntryKey(table, tuple(parts))]
        return lambda _: found

    return watches


def _configs(names: Names) -> Watches:
    if not names:
        return lambda _: [EntryKey("configs")]
    resource = resource_of(names[0])
    found = [] if resource is None else [EntryKey("configs", (*resource, *names[1:2]))]
    return lambda _: found


def _feature(name: str) -> str | None:
    if name == "metadataVersion":
        return "metadata.version"
    feature = name.removeprefix("finalized_")
    return None if feature == name else feature


def _topics_by_id(names: Names) -> Watches:
    topic_id = _uuid(names[0])
    found = _of_topic(topic_id, names[1:])
    return lambda _: found


def _topics_by_name(names: Names) -> Watches:
    name, *below = names

    def watches(image: MetadataImage) -> list[EntryKey]:
        topic_id = image.fold.topic_id(name)
        found = [EntryKey("topic-names", (name,))]
        return found if topic_id is None else [*found, *_of_topic(topic_id, below)]

    return watches


def _of_topic(topic_id: bytes, below: Sequence[str]) -> list[EntryKey]:
    """Return what to watch of a topic: its record, and partitions or one if *below* names it."""
    topic = EntryKey("topics", (topic_id,))
    if not below:
        return [topic, EntryKey("partitions", (topic_id,))]
    number = integer_of(below[0])
    # A topic's own leaves change with the topic alone.
    return [topic] if number is None else [topic, EntryKey("partitions", (topic_id, number))]


def _uuid(text: str) -> bytes:
    try:
        return from_text(text)
    except DecodeError as error:
        raise UsageError(error.message) from None


_ROWS = (
    _Row("/image/acls/byId", _entries("acls", _uuid)),
    _Row("/image/clientQuotas", _entries("quotas", entity_of, str)),
    _Row("/image/cluster/brokers", _entries("brokers", integer_of)),
    _Row("/image/cluster/controllers", _entries("controllers", integer_of)),
    _Row("/image/configs", _configs),
    _Row("/image/delegationToken", _entries("tokens", str)),
    _Row("/image/features", _entries("features", _feature)),
    _Row("/image/producerIds", _entries("producer-ids")),
    _Row("/image/quorum", lambda _: lambda _: (), is_control=True),
    _Row("/image/scram", _entries("scram", mechanism_of, str)),
    _Row("/image/topics/byId", _topics_by_id, least=1),
    _Row("/image/topics/byName", _topics_by_name, least=1),
)
