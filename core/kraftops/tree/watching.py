"""What to look for in a log for the history of a node: which bytes its records have.

A record's value begins with frame version, type and version, and Kafka writes strings with their
length before them; so a few bytes say what a record is about before it is decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from kraftops.errors import DecodeError, UsageError
from kraftops.image import recordtypes as types
from kraftops.image.history import Watched
from kraftops.image.image import MetadataImage
from kraftops.schema.tables.metadata import MESSAGES
from kraftops.tree.layout import Has, tree_of
from kraftops.tree.names import entity_of, integer_of, resource_of
from kraftops.tree.node import Leaf, Node, descend
from kraftops.uuids import from_text
from kraftops.varint import uvarint_bytes

Needles = Callable[[MetadataImage], Collection[bytes]]

_TOPIC_RESOURCE = 2
_CLEAR_ALL_ELR = bytes([1, types.CLEAR_ELR, 0, 1])
_VERSIONS = {message.key: message.versions.last or 0 for message in MESSAGES.values()}


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
        wanted = row.needles(below)

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
    """Nodes below a path: which needles they have, by the names below it, at *least* so many."""

    path: str
    needles: Callable[[tuple[str, ...]], Needles]
    least: int = 0
    is_control: bool = False


def _always(*needles: bytes) -> Needles:
    return lambda _: needles


def _frames(*numbers: int, then: bytes = b"") -> list[bytes]:
    """Return how the values of records of these types begin, in any version."""
    return [
        bytes([1, number, version]) + then
        for number in numbers
        for version in range(_VERSIONS[number] + 1)
    ]


def _string(text: str) -> bytes:
    raw = text.encode("utf-8", "surrogatepass")
    return uvarint_bytes(len(raw) + 1) + raw


def _int32(text: str) -> bytes:
    return ((integer_of(text) or 0) & 0xFFFFFFFF).to_bytes(4)


def _of_types(*numbers: int) -> Callable[[tuple[str, ...]], Needles]:
    """Return needles of all records of some types."""
    return lambda _: _always(*_frames(*numbers))


def _acls(names: tuple[str, ...]) -> Needles:
    if names:
        return _always(_uuid(names[0]))
    return _always(*_frames(types.ACCESS_CONTROL_ENTRY, types.REMOVE_ACCESS_CONTROL_ENTRY))


def _brokers(names: tuple[str, ...]) -> Needles:
    return _always(*_frames(*_BROKERS, then=_int32(names[0]) if names else b""))


_BROKERS = (
    types.REGISTER_BROKER,
    types.UNREGISTER_BROKER,
    types.FENCE_BROKER,
    types.UNFENCE_BROKER,
    types.BROKER_REGISTRATION_CHANGE,
)


def _controllers(names: tuple[str, ...]) -> Needles:
    then = _int32(names[0]) if names else b""
    return _always(*_frames(types.REGISTER_CONTROLLER, then=then))


def _quotas(names: tuple[str, ...]) -> Needles:
    entity = entity_of(names[0]) if names else None
    given = [name for _, name in entity or () if name is not None]
    if given:
        return _always(_string(max(given, key=len)))
    return _always(*_frames(types.CLIENT_QUOTA))


def _configs(names: tuple[str, ...]) -> Needles:
    resource = resource_of(names[0]) if names else None
    if resource is None:
        return _always(*_frames(types.CONFIG, types.REMOVE_TOPIC))
    number, name = resource
    frames = _frames(types.CONFIG, then=bytes([number & 0xFF]) + _string(name))
    if number != _TOPIC_RESOURCE:
        return _always(*frames)
    # They go with the topic, whatever its id is.
    topic = _topic_of_name(name)
    return lambda image: [*frames, *topic(image)]


def _topic_of_name(name: str) -> Needles:
    """Return needles of records that make or remove a topic of this name."""

    def needles(image: MetadataImage) -> list[bytes]:
        found = _frames(types.TOPIC, then=_string(name))
        topic_id = image.topic_ids.get(name)
        return found if topic_id is None else [*found, *_lives_of(topic_id)]

    return needles


def _lives_of(topic_id: bytes) -> list[bytes]:
    """Return needles of records that remove a topic, or put another one into its place."""
    return [*_frames(types.REMOVE_TOPIC, then=topic_id), topic_id + b"\0"]


def _tokens(names: tuple[str, ...]) -> Needles:
    if names:
        return _always(_string(names[0]))
    return _always(*_frames(types.DELEGATION_TOKEN, types.REMOVE_DELEGATION_TOKEN))


def _scram(names: tuple[str, ...]) -> Needles:
    if len(names) > 1:
        return _always(_string(names[1]))
    return _always(*_frames(types.USER_SCRAM_CREDENTIAL, types.REMOVE_USER_SCRAM_CREDENTIAL))


def _features(names: tuple[str, ...]) -> Needles:
    if not names:
        return _always(*_frames(types.FEATURE_LEVEL))
    name = "metadata.version" if names[0] == "metadataVersion" else names[0]
    then = _string(name.removeprefix("finalized_"))
    return _always(*_frames(types.FEATURE_LEVEL, then=then))


def _topics_by_id(names: tuple[str, ...]) -> Needles:
    topic_id = _uuid(names[0])
    elr = _elr_of_id(topic_id)
    return lambda image: [*_of_topic(topic_id, names[1:]), *elr(image)]


def _topics_by_name(names: tuple[str, ...]) -> Needles:
    name, *below = names
    lives = _topic_of_name(name)
    elr = [_CLEAR_ALL_ELR, *_frames(types.CLEAR_ELR, then=_string(name))]

    def needles(image: MetadataImage) -> list[bytes]:
        topic_id = image.topic_ids.get(name)
        found = [*lives(image), *elr]
        return found if topic_id is None else [*found, *_of_topic(topic_id, below)]

    return needles


def _elr_of_id(topic_id: bytes) -> Needles:
    def needles(image: MetadataImage) -> list[bytes]:
        topic = image.topics.get(topic_id)
        named = [] if topic is None else _frames(types.CLEAR_ELR, then=_string(topic.name))
        return [_CLEAR_ALL_ELR, *named]

    return needles


def _of_topic(topic_id: bytes, below: Sequence[str]) -> list[bytes]:
    """Return needles of a topic's records; of one partition, if *below* names it."""
    if below and integer_of(below[0]) is not None:
        return [_int32(below[0]) + topic_id, *_lives_of(topic_id)]
    # A topic's own leaves change with the topic alone.
    return _lives_of(topic_id) if below else [topic_id]


def _uuid(text: str) -> bytes:
    try:
        return from_text(text)
    except DecodeError as error:
        raise UsageError(error.message) from None


_ROWS = (
    _Row("/image/acls/byId", _acls),
    _Row("/image/clientQuotas", _quotas),
    _Row("/image/cluster/brokers", _brokers),
    _Row("/image/cluster/controllers", _controllers),
    _Row("/image/configs", _configs),
    _Row("/image/delegationToken", _tokens),
    _Row("/image/features", _features),
    _Row("/image/producerIds", _of_types(types.PRODUCER_IDS)),
    _Row("/image/quorum", lambda _: _always(), is_control=True),
    _Row("/image/scram", _scram),
    _Row("/image/topics/byId", _topics_by_id, least=1),
    _Row("/image/topics/byName", _topics_by_name, least=1),
)
