"""What the tree has, and where: the one table that says which path shows what.

A row is a path, who has it (Kafka's shell, ours, or both), and what makes its node from a view.
Directories on the way to a path need no row. Kafka's paths are entries of its 4.3 shell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Flag, auto
from functools import cache
from typing import NamedTuple

from kraftops.engine.metadata_state import (
    VERSION_FEATURE,
    NewestRecord,
    PartitionCondition,
    Resource,
)
from kraftops.errors import DecodeError
from kraftops.image.state.image import LastChange, MetadataImage
from kraftops.tree import leaves
from kraftops.tree.kafka_configs import CONFIGS_ON_LOAD
from kraftops.tree.kafka_text import provenance_text
from kraftops.tree.names import (
    SCRAM_MECHANISMS,
    entity_name,
    entity_of,
    integer_of,
    kafka_entity_name,
    mechanism_name,
    resource_name,
    resource_of,
)
from kraftops.tree.node import Directory, Leaf, LeafKind, Node, TopicsBelow, fixed
from kraftops.uuids import from_text, to_text

Image = MetadataImage


class Has(Flag):
    """Whose tree has a node."""

    KAFKA = auto()
    OURS = auto()
    BOTH = KAFKA | OURS


class View(NamedTuple):
    """An image as somebody wants to see it."""

    image: MetadataImage
    form: Has
    show_secrets: bool
    version: str
    """What `/local/version` shows."""


class Row(NamedTuple):
    """A path of the tree, whose it is, and what makes its node."""

    path: str
    has: Has
    make: Callable[[View], Node]


def tree_of(
    image: MetadataImage,
    *,
    form: Has = Has.OURS,
    show_secrets: bool = False,
    version: str = "",
) -> Directory:
    """Return the root of the tree of an image.

    Args:
        image: whose state the tree shows; nodes are made when they are asked for.
        form: whether it has the nodes of ours, or exactly entries of Kafka 4.3's shell.
        show_secrets: do not redact what must not be seen; Kafka's text never does.
        version: shown by `/local/version`.
    """
    view = View(image, form, show_secrets, version)
    return _directory(view, [row for row in LAYOUT if form in row.has], "")


def _directory(view: View, rows: list[Row], path: str) -> Directory:
    """Return the directory at *path*, below which these rows are."""
    depth = len(path) + 1
    names = dict.fromkeys(row.path[depth:].partition("/")[0] for row in rows)

    def get(name: str) -> Node | None:
        below = f"{path}/{name}"
        for row in rows:
            if row.path == below:
                return row.make(view)
        inside = [row for row in rows if row.path.startswith(f"{below}/")]
        return _directory(view, inside, below) if name in names else None

    return Directory(lambda: names, get)


def _control(kind: LeafKind, record: str) -> Callable[[View], Node]:
    """Return the function that makes the leaf of a control record."""
    return lambda view: Leaf(kind, view.image, (record,))


def _voters(view: View) -> Node:
    # A static quorum has no record of its voters: its leader names those that it knows.
    has_voters = view.image.quorum.voters is not None
    return Leaf(leaves.VOTERS, view.image, ("voters" if has_voters else "leader",))


def _acls(view: View) -> Node:
    image = view.image

    def get(name: str) -> Node | None:
        acl_id = _uuid(name)
        return Leaf(leaves.ACL, image, (acl_id,)) if acl_id in image.acls else None

    return Directory(lambda: map(to_text, image.acls), get)


def _quotas(view: View) -> Node:
    image = view.image
    name_of = kafka_entity_name if view.form is Has.KAFKA else entity_name

    def get(name: str) -> Node | None:
        entity = entity_of(name)
        keys = None if entity is None else image.quotas.get(entity)
        return None if keys is None else _keys(image, keys, leaves.QUOTA, (entity,))

    return Directory(lambda: map(name_of, image.quotas), get)


def _keys(
    image: Image, keys: Mapping[str, int], kind: LeafKind, owner: tuple[object, ...]
) -> Directory:
    """Return a directory of the leaves of a resource or quota entity."""

    def get(name: str) -> Node | None:
        return Leaf(kind, image, (*owner, name)) if name in keys else None

    return Directory(lambda: keys, get, is_flat=True)


def _brokers(view: View) -> Node:
    return _by_number(view.image, lambda image: image.brokers, leaves.BROKER)


def _controllers(view: View) -> Node:
    return _by_number(view.image, lambda image: image.controllers, leaves.CONTROLLER)


def _failed_replicas(view: View) -> Node:
    return _by_number(view.image, lambda image: image.failed_replicas, leaves.FAILED_REPLICAS)


def _by_number(
    image: Image, entries: Callable[[Image], Mapping[int, object]], kind: LeafKind
) -> Directory:
    """Return a directory of leaves that are named by numbers."""

    def get(name: str) -> Node | None:
        number = integer_of(name)
        return Leaf(kind, image, (number,)) if number in entries(image) else None

    return Directory(lambda: map(str, entries(image)), get)


def _configs(view: View) -> Node:
    image, is_kafka = view.image, view.form is Has.KAFKA
    kind = leaves.config_kind(show_secrets=view.show_secrets)

    def names() -> Iterator[str]:
        for resource in image.configs:
            if not is_kafka or _kept_on_load(image, resource):
                yield resource_name(resource)

    def get(name: str) -> Node | None:
        resource = resource_of(name)
        if resource is None or resource not in image.configs:
            return None
        keys = _kept_on_load(image, resource) if is_kafka else image.configs[resource]
        return _keys(image, keys, kind, resource) if keys else None

    return Directory(names, get)


def _kept_on_load(image: Image, resource: Resource) -> dict[str, int]:
    """Return what Kafka keeps of a resource's configuration."""
    known = CONFIGS_ON_LOAD.get(resource[0], frozenset())
    configs = image.configs[resource]
    return configs if known is None else {key: configs[key] for key in configs if key in known}


def _tokens(view: View) -> Node:
    image = view.image

    def get(name: str) -> Node | None:
        return Leaf(leaves.TOKEN, image, (name,)) if name in image.tokens else None

    return Directory(lambda: image.tokens, get, is_flat=True)


def _features(view: View) -> Node:
    image = view.image
    prefix = "finalized_"
    metadata_version = "metadataVersion"

    def names() -> Iterator[str]:
        yield metadata_version
        yield from (prefix + name for name in image.features)

    def get(name: str) -> Node | None:
        if name == metadata_version:
            return Leaf(leaves.METADATA_VERSION, image, (VERSION_FEATURE,))
        feature = name.removeprefix(prefix)
        if feature == name:
            return None
        if feature in image.features:
            return Leaf(leaves.FEATURE, image, (feature,))
        # Kafka shows a level of 0 for whatever is asked for.
        return Leaf(leaves.constant(0), image) if view.form is Has.KAFKA else None

    return Directory(names, get)


def _producer_ids(view: View) -> Node:
    if view.image.producer_ids is None:
        return Leaf(leaves.constant(-1), view.image)
    return Leaf(leaves.PRODUCER_IDS, view.image)


def _provenance(view: View) -> Node:
    provenance = view.image.provenance
    value = {
        "offset": view.image.offset,
        "epoch": provenance.epoch,
        "timestamp": provenance.timestamp,
    }
    return Leaf(leaves.constant(value, provenance_text(provenance)), view.image)


def _scram(view: View) -> Node:
    image = view.image
    kind = leaves.scram_kind(show_secrets=view.show_secrets)

    def mechanism(number: int) -> Directory:
        def get(name: str) -> Node | None:
            users = image.scram.get(number, {})
            return Leaf(kind, image, (number, name)) if name in users else None

        return Directory(lambda: image.scram.get(number, {}), get)

    numbers = set(SCRAM_MECHANISMS)
    if view.form is not Has.KAFKA:
        numbers |= {number for number, users in image.scram.items() if users}
    return fixed({mechanism_name(number): mechanism(number) for number in numbers})


def _topics_by_id(view: View) -> Node:
    image = view.image
    fold = image.fold

    def get(name: str) -> Node | None:
        topic_id = _uuid(name)
        return None if topic_id is None or fold.topic(topic_id) is None else _topic(image, topic_id)

    def ids() -> dict[str, bytes]:
        return {to_text(topic_id): topic_id for topic_id in fold.topic_ids()}

    return Directory(
        lambda: map(to_text, fold.topic_ids()),
        get,
        newest=lambda: _newest(image, None),
        last_change=lambda: _below(image, None),
        topics=TopicsBelow(image, ids),
    )


def _topics_by_name(view: View) -> Node:
    image = view.image

    def get(name: str) -> Node | None:
        topic_id = image.fold.topic_id(name)
        return None if topic_id is None else _topic(image, topic_id)

    return Directory(
        lambda: image.topic_ids, get, topics=TopicsBelow(image, lambda: image.topic_ids)
    )


def _topic(image: Image, topic_id: bytes) -> Directory:
    fold = image.fold

    def names() -> Iterator[str]:
        yield from map(str, fold.numbers(topic_id))
        yield from _OF_TOPIC

    def get(name: str) -> Node | None:
        if name in _OF_TOPIC:
            return Leaf(_OF_TOPIC[name], image, (topic_id,))
        number = integer_of(name)
        if number is None or fold.newest(topic_id, number) is None:
            return None
        return Leaf(leaves.PARTITION, image, (topic_id, number))

    def texts() -> dict[str, str]:
        found = {str(number): text for number, text in leaves.partition_texts(image, topic_id)}
        return found | {name: kind.text(image, (topic_id,)) for name, kind in _OF_TOPIC.items()}

    return Directory(
        names,
        get,
        is_flat=True,
        texts=texts,
        newest=lambda: _newest(image, topic_id),
        last_change=lambda: _below(image, topic_id),
    )


_OF_TOPIC = {"id": leaves.TOPIC_ID, "name": leaves.TOPIC_NAME}


def _newest(image: Image, topic_id: bytes | None) -> tuple[Image, int] | None:
    newest = image.fold.newest_below(topic_id, None)
    return None if newest is None else (image, newest.address)


def _below(image: Image, topic_id: bytes | None) -> LastChange | None:
    """Return the newest change of a topic, or of all."""

    def look(at: Image) -> NewestRecord | None:
        return image.fold.newest_below(topic_id, None if at is image else at.fold)

    return image.last_change(look)


_STATES = {
    "leaderless": PartitionCondition.LEADERLESS,
    "reassigning": PartitionCondition.REASSIGNING,
    "underReplicated": PartitionCondition.UNDER_REPLICATED,
    "withElr": PartitionCondition.WITH_ELR,
}


def _topics_by_state(view: View) -> Node:
    """Return directories of the partitions that are in need of a look, by topic."""
    return fixed({name: _in_state(view.image, look) for name, look in _STATES.items()})


def _in_state(image: Image, look: PartitionCondition) -> Directory:
    """Return a directory of the partitions that are in some state, by topic."""

    @cache
    def found() -> dict[str, tuple[bytes, list[int]]]:
        names = {topic_id: name for name, topic_id in image.topic_ids.items()}
        return {
            names[topic_id]: (topic_id, numbers)
            for topic_id, numbers in image.fold.partitions_with(look).items()
            if topic_id in names  # another one may have taken its name
        }

    def get(name: str) -> Node | None:
        if name not in found():
            return None
        topic_id, numbers = found()[name]
        return fixed(
            {str(number): Leaf(leaves.PARTITION, image, (topic_id, number)) for number in numbers},
            is_flat=True,
        )

    return Directory(found, get)


def _findings(view: View) -> Node:
    return findings_of(view.image)


def findings_of(image: Image, first: int = 0) -> Directory:
    """Return the directory of an image's findings, numbered from *first* on."""

    def names() -> Iterator[str]:
        total = len(image.log_findings) + len(image.record_findings)
        return map(str, range(first, first + total))

    def get(name: str) -> Node | None:
        number = integer_of(name)
        finding = None if number is None else image.finding(number - first)
        if finding is None:
            return None
        value = {
            "kind": finding.kind.value,
            "reason": finding.reason,
            "source": finding.source,
            "position": finding.position,
            "offset": finding.offset,
        }
        return Leaf(leaves.constant(value, address=finding.address), image)

    return Directory(names, get, is_flat=True)


def _constant(value: object) -> Callable[[View], Node]:
    return lambda view: Leaf(leaves.constant(value), view.image)


def _version(view: View) -> Node:
    return Leaf(leaves.constant(view.version), view.image)


LAYOUT = (
    Row("/image/acls/byId", Has.BOTH, _acls),
    Row("/image/clientQuotas", Has.BOTH, _quotas),
    Row("/image/cluster/brokers", Has.BOTH, _brokers),
    Row("/image/cluster/controllers", Has.BOTH, _controllers),
    Row("/image/cluster/failedReplicas", Has.OURS, _failed_replicas),
    Row("/image/configs", Has.BOTH, _configs),
    Row("/image/delegationToken", Has.BOTH, _tokens),
    Row("/image/features", Has.BOTH, _features),
    Row("/image/producerIds/nextProducerId", Has.BOTH, _producer_ids),
    Row("/image/provenance", Has.BOTH, _provenance),
    Row("/image/quorum/epoch", Has.OURS, _control(leaves.EPOCH, "leader")),
    Row("/image/quorum/kraftVersion", Has.OURS, _control(leaves.KRAFT_VERSION, "kraft_version")),
    Row("/image/quorum/leader", Has.OURS, _control(leaves.LEADER, "leader")),
    Row("/image/quorum/voters", Has.OURS, _voters),
    Row("/image/scram", Has.BOTH, _scram),
    Row("/image/topics/byId", Has.BOTH, _topics_by_id),
    Row("/image/topics/byName", Has.BOTH, _topics_by_name),
    Row("/image/topics/byState", Has.OURS, _topics_by_state),
    Row("/local/commitId", Has.KAFKA, _constant("unknown")),
    Row("/local/findings", Has.OURS, _findings),
    Row("/local/version", Has.BOTH, _version),
)
"""All of the tree. What is below a row's path is that row's alone."""


def _uuid(name: str) -> bytes | None:
    try:
        return from_text(name)
    except DecodeError:
        return None
