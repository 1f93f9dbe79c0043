"""The leaves of the tree that a change of the state changes."""

from collections.abc import Callable, Iterator, Mapping

from kraftops.engine.metadata_state import VERSION_FEATURE, EntryChange
from kraftops.image.state.image import MetadataImage
from kraftops.tree.diff import Difference, diff
from kraftops.tree.names import entity_name, mechanism_name, resource_name
from kraftops.tree.node import Directory, descend
from kraftops.uuids import to_text

Names = tuple[str, ...]
TOPIC_LEAVES = ("id", "name")
_BY_NAME = ("image", "topics", "byName")


def changed_leaves(
    change: EntryChange,
    before: tuple[MetadataImage, Directory],
    after: tuple[MetadataImage, Directory],
) -> Iterator[Difference]:
    """Yield the leaves that differ by a change of an entry, between two images and their trees.

    Raises:
        KraftopsError: while iterating, a source can no longer be read.
    """
    for names in leaf_names(change, before[0], after[0]):
        yield from diff(descend(before[1], names), descend(after[1], names), names)


def leaf_names(change: EntryChange, before: MetadataImage, after: MetadataImage) -> list[Names]:
    """Return the paths of the nodes that show an entry which changed between two images."""
    if change.table == "topic-names":
        (name,) = change.key
        return [(*_BY_NAME, str(name), leaf) for leaf in TOPIC_LEAVES]
    if change.table in ("topics", "partitions"):
        topic_id, *number = change.key
        names = dict.fromkeys(
            topic.name
            for image in (before, after)
            if isinstance(topic_id, bytes) and (topic := image.fold.topic(topic_id))
        )
        below = list(map(str, number)) or TOPIC_LEAVES
        return [(*_BY_NAME, name, leaf) for name in names for leaf in below]
    return [_OTHERS[change.table](*change.key)]


def _feature(name: str) -> Names:
    leaf = "metadataVersion" if name == VERSION_FEATURE else f"finalized_{name}"
    return ("image", "features", leaf)


_OTHERS: Mapping[str, Callable[..., Names]] = {
    "brokers": lambda key: ("image", "cluster", "brokers", str(key)),
    "controllers": lambda key: ("image", "cluster", "controllers", str(key)),
    "failed-replicas": lambda key: ("image", "cluster", "failedReplicas", str(key)),
    "configs": lambda kind, name, key: ("image", "configs", resource_name((kind, name)), key),
    "quotas": lambda entity, key: ("image", "clientQuotas", entity_name(entity), key),
    "acls": lambda key: ("image", "acls", "byId", to_text(key)),
    "scram": lambda mechanism, user: ("image", "scram", mechanism_name(mechanism), user),
    "tokens": lambda key: ("image", "delegationToken", key),
    "features": _feature,
    "producer-ids": lambda: ("image", "producerIds", "nextProducerId"),
}
