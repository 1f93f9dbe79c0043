"""Subjects of histories: the entries of the state that each path of the tree shows."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from kraftops.engine.metadata_state import EntryKey
from kraftops.errors import DecodeError, UsageError
from kraftops.image.history import HistorySubject
from kraftops.image.state.image import MetadataImage
from kraftops.tree.layout import tree_of
from kraftops.tree.leaves import PARTITION
from kraftops.tree.names import entity_of, integer_of, mechanism_of, resource_of
from kraftops.tree.node import Leaf, Node, descend, leaves_by_raw_path
from kraftops.tree.view import Form
from kraftops.uuids import from_text

Entries = Callable[[MetadataImage], Sequence[EntryKey]]
Names = tuple[str, ...]


def history_subject(names: Sequence[str], *, show_secrets: bool = False) -> HistorySubject:
    """Return the subject of the history of the node with these names, which may not exist.

    Raises:
        UsageError: no records make this node, or all records of the log do.
    """
    path = "/" + "/".join(names)
    for row in _ROWS:
        if path != row.path and not path.startswith(f"{row.path}/"):
            continue
        below = tuple(names[row.path.count("/") :])
        if len(below) < row.least:
            break

        def leaves(image: MetadataImage) -> Mapping[str, Leaf]:
            root = tree_of(image, form=Form.OURS, show_secrets=show_secrets)
            return dict(leaves_by_raw_path(descend(root, names)))

        return HistorySubject(leaves, row.entries(below), is_control=row.is_control)
    raise UsageError(
        f"{path} has no history of its own",
        "name a topic, a partition, a broker, or another node that records make",
    )


def record_subject(names: Sequence[str], node: Node | None) -> HistorySubject | None:
    """Return the subject of all records about a node or nodes below it; None for the whole log.

    It has no leaves: its records are found, and not what they changed.

    Args:
        names: of the node.
        node: the node, if it exists.

    Raises:
        UsageError: no records make this node.
    """
    path = "/" + "/".join(names)
    if path in ("/", "/image"):
        return None
    rows = [row for row in _ROWS if f"{row.path}/".startswith(f"{path}/")]
    if rows and (len(rows) > 1 or rows[0].path != path or rows[0].least):

        def entries(image: MetadataImage) -> list[EntryKey]:
            keys_by_row = (_ALL_TOPICS if row.least else row.entries(())(image) for row in rows)
            return [key for keys in keys_by_row for key in keys]

        return HistorySubject(lambda _: {}, entries, is_control=any(row.is_control for row in rows))
    if not any(path.startswith(f"{row.path}/") for row in _ROWS):
        leaves = (leaf for _, leaf in leaves_by_raw_path(node))
        keys = [EntryKey("partitions", leaf.key) for leaf in leaves if leaf.kind is PARTITION]
        if keys:
            return HistorySubject(lambda _: {}, lambda _: keys)
    return history_subject(names)


class _Row(NamedTuple):
    """The entries of the nodes below a path, by at *least* so many names below it."""

    path: str
    entries: Callable[[Names], Entries]
    least: int = 0
    is_control: bool = False


def _entries(table: str, *key: Callable[[str], object]) -> Callable[[Names], Entries]:
    """Return the function from names to entries of a table; *key* reads each part of their key.

    A name that cannot be read has no entry.
    """

    def entries(names: Names) -> Entries:
        parts = [part(name) for part, name in zip(key, names, strict=False)]
        keys = [] if None in parts else [EntryKey(table, tuple(parts))]
        return lambda _: keys

    return entries


def _configs(names: Names) -> Entries:
    if not names:
        return lambda _: [EntryKey("configs")]
    resource = resource_of(names[0])
    keys = [] if resource is None else [EntryKey("configs", (*resource, *names[1:2]))]
    return lambda _: keys


def _feature(name: str) -> str | None:
    if name == "metadataVersion":
        return "metadata.version"
    feature = name.removeprefix("finalized_")
    return None if feature == name else feature


def _topics_by_id(names: Names) -> Entries:
    topic_id = _uuid(names[0])
    keys = _of_topic(topic_id, names[1:])
    return lambda _: keys


def _topics_by_name(names: Names) -> Entries:
    name, *below = names

    def entries(image: MetadataImage) -> list[EntryKey]:
        topic_id = image.fold.topic_id(name)
        keys = [EntryKey("topic-names", (name,))]
        return keys if topic_id is None else [*keys, *_of_topic(topic_id, below)]

    return entries


def _of_topic(topic_id: bytes, below: Sequence[str]) -> list[EntryKey]:
    topic = EntryKey("topics", (topic_id,))
    if not below:
        return [topic, EntryKey("partitions", (topic_id,))]
    number = integer_of(below[0])
    # The leaves of a topic itself change with the topic alone.
    return [topic] if number is None else [topic, EntryKey("partitions", (topic_id, number))]


def _uuid(text: str) -> bytes:
    try:
        return from_text(text)
    except DecodeError as error:
        raise UsageError(error.message) from None


_ALL_TOPICS = [EntryKey("topic-names"), EntryKey("topics"), EntryKey("partitions")]

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
