"""What the tree has, and where: the one table that says which path shows what.

A row is a path, who has it (Kafka's shell, ours, or both), and what makes its node from a view.
Directories on the way to a path need no row. Kafka's paths are those of its 4.3 shell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Flag, auto
from typing import NamedTuple, cast

from kraftops.errors import DecodeError
from kraftops.image.image import MetadataImage, Resource
from kraftops.image.needy import needy_partitions
from kraftops.image.plain import PlainPartition, is_leaderless, is_under_replicated
from kraftops.image.topics import Topic
from kraftops.schema.read import Data
from kraftops.tree import leaves
from kraftops.tree.kafkaconfigs import CONFIGS_ON_LOAD
from kraftops.tree.kafkatext import provenance_text
from kraftops.tree.names import (
    SCRAM_MECHANISMS,
    entity_name,
    entity_of,
    integer_of,
    kafka_entity_name,
    resource_name,
    resource_of,
)
from kraftops.tree.node import Directory, Leaf, LeafKind, Node, fixed
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
        form: whether it has the nodes of ours, or exactly those of Kafka 4.3's shell.
        show_secrets: do not redact what must not be seen; Kafka's text never does.
        version: shown by `/local/version`.
    """
    view = View(image, form, show_secrets, version)
    return _directory(view, [row for row in LAYOUT if form in row.has], "")


def _directory(view: View, rows: list[Row], path: str) -> Directory:
    """Return the directory at *path*, below which these rows are."""
    children: dict[str, Node] = {}
    depth = len(path) + 1
    for name in dict.fromkeys(row.path[depth:].partition("/")[0] for row in rows):
        below = f"{path}/{name}"
        found = next((row for row in rows if row.path == below), None)
        if found:
            children[name] = found.make(view)
        else:
            inside = [row for row in rows if row.path.startswith(f"{below}/")]
            children[name] = _directory(view, inside, below)
    return fixed(children)


def _acls(view: View) -> Node:
    acls, image = view.image.acls, view.image

    def get(name: str) -> Node | None:
        acl_id = _uuid(name)
        address = None if acl_id is None else acls.get(acl_id)
        return None if address is None else Leaf(leaves.ACL, image, address)

    return Directory(lambda: map(to_text, acls), get)


def _quotas(view: View) -> Node:
    image, quotas = view.image, view.image.quotas
    name_of = kafka_entity_name if view.form is Has.KAFKA else entity_name

    def get(name: str) -> Node | None:
        entity = entity_of(name)
        keys = None if entity is None else quotas.get(entity)
        return None if keys is None else _records(image, keys, leaves.QUOTA)

    return Directory(lambda: map(name_of, quotas), get)


def _records(image: Image, addresses: dict[str, int], kind: LeafKind) -> Directory:
    """Return a directory of leaves that one record each makes."""

    def get(name: str) -> Node | None:
        address = addresses.get(name)
        return None if address is None else Leaf(kind, image, address)

    return Directory(lambda: addresses, get, is_flat=True)


def _brokers(view: View) -> Node:
    image = view.image

    def get(name: str) -> Node | None:
        number = integer_of(name)
        return Leaf(leaves.BROKER, image, number) if number in image.brokers else None

    return Directory(lambda: map(str, image.brokers), get)


def _controllers(view: View) -> Node:
    return _by_number(view.image, view.image.controllers, leaves.CONTROLLER)


def _by_number(image: Image, addresses: dict[int, int], kind: LeafKind) -> Directory:
    """Return a directory of leaves that one record each makes, named by numbers."""

    def get(name: str) -> Node | None:
        number = integer_of(name)
        address = None if number is None else addresses.get(number)
        return None if address is None else Leaf(kind, image, address)

    return Directory(lambda: map(str, addresses), get)


def _configs(view: View) -> Node:
    image = view.image
    configs: dict[Resource, dict[str, int]] = image.configs
    if view.form is Has.KAFKA:
        configs = {
            resource: kept for resource in configs if (kept := _kept_on_load(image, resource))
        }
    kind = leaves.config_kind(show_secrets=view.show_secrets)

    def get(name: str) -> Node | None:
        resource = resource_of(name)
        keys = None if resource is None else configs.get(resource)
        return None if keys is None else _records(image, keys, kind)

    return Directory(lambda: map(resource_name, configs), get)


def _kept_on_load(image: Image, resource: Resource) -> dict[str, int]:
    """Return what Kafka keeps of a resource's configuration."""
    known = CONFIGS_ON_LOAD.get(resource[0], frozenset())
    configs = image.configs[resource]
    return configs if known is None else {key: configs[key] for key in configs if key in known}


def _tokens(view: View) -> Node:
    return _records(view.image, view.image.tokens, leaves.TOKEN)


def _metadata_version(view: View) -> Node:
    from kraftops.storage.releases import METADATA_VERSIONS

    if view.image.metadata_version is None:
        return Leaf(leaves.constant(None, "Optional.empty"), view.image)
    level, address = view.image.metadata_version
    name = next(version.name for version in METADATA_VERSIONS if version.level == level)
    return Leaf(leaves.constant(name, f"Optional[{name}]", (address,)), view.image)


def _features(view: View) -> Node:
    image, features = view.image, view.image.features
    prefix = "finalized_"
    metadata_version = "metadataVersion"

    def names() -> Iterator[str]:
        yield metadata_version
        yield from (prefix + name for name in features)

    def get(name: str) -> Node | None:
        if name == metadata_version:
            return _metadata_version(view)
        feature = name.removeprefix(prefix)
        if feature == name:
            return None
        if feature in features:
            level, address = features[feature]
            return Leaf(leaves.constant(level, addresses=(address,)), image)
        # Kafka shows a level of 0 for whatever is asked for.
        return Leaf(leaves.constant(0), image) if view.form is Has.KAFKA else None

    return Directory(names, get)


def _producer_ids(view: View) -> Node:
    address = view.image.producer_ids
    if address is None:
        return Leaf(leaves.constant(-1), view.image)
    return Leaf(leaves.PRODUCER_IDS, view.image, address)


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
            address = image.scram.get(number, {}).get(name)
            return None if address is None else Leaf(kind, image, (number, address))

        return Directory(lambda: image.scram.get(number, {}), get)

    names = dict(SCRAM_MECHANISMS)
    if view.form is not Has.KAFKA:
        names |= {
            number: f"UNKNOWN({number})"
            for number, users in image.scram.items()
            if users and number not in names
        }
    return fixed({name: mechanism(number) for number, name in names.items()})


def _topics_by_id(view: View) -> Node:
    topics, image = view.image.topics, view.image

    def get(name: str) -> Node | None:
        topic_id = _uuid(name)
        topic = None if topic_id is None else topics.get(topic_id)
        return None if topic is None else _topic(image, topic)

    return Directory(lambda: map(to_text, topics), get)


def _topics_by_name(view: View) -> Node:
    ids, image = view.image.topic_ids, view.image

    def get(name: str) -> Node | None:
        topic_id = ids.get(name)
        return None if topic_id is None else _topic(image, image.topics[topic_id])

    return Directory(lambda: ids, get)


def _topic(image: Image, topic: Topic) -> Directory:
    def names() -> Iterator[str]:
        yield from map(str, topic.numbers())
        yield "id"
        yield "name"

    def get(name: str) -> Node | None:
        if name == "id":
            return Leaf(leaves.constant(to_text(topic.id), addresses=(topic.address,)), image)
        if name == "name":
            return Leaf(leaves.constant(topic.name, addresses=(topic.address,)), image)
        number = integer_of(name)
        if number is None or topic.place(number) is None:
            return None
        return Leaf(leaves.PARTITION, image, (topic, number))

    def texts() -> dict[str, str]:
        found = {str(number): text for number, text in leaves.partition_texts(image, topic)}
        return found | {"id": to_text(topic.id), "name": topic.name}

    return Directory(names, get, is_flat=True, texts=texts)


class _State(NamedTuple):
    """A state in which a partition is in need of a look, and how to tell that it is in it.

    *is_plain* tells it of a record that says all, in which many states do not occur.
    """

    is_decoded: Callable[[Data], bool]
    is_plain: Callable[[PlainPartition], bool] = lambda _: False


_STATES = {
    "leaderless": _State(lambda state: cast("int", state["leader"]) < 0, is_leaderless),
    "reassigning": _State(
        lambda state: bool(state["addingReplicas"] or state["removingReplicas"]),
    ),
    "underReplicated": _State(
        lambda state: (
            len(cast("list[int]", state["isr"])) < len(cast("list[int]", state["replicas"]))
        ),
        is_under_replicated,
    ),
    "withElr": _State(lambda state: bool(state["eligibleLeaderReplicas"])),
}


def _topics_by_state(view: View) -> Node:
    """Return directories of the partitions that are in need of a look, by topic."""
    image = view.image
    found: dict[str, dict[str, list[int]]] = {}

    def of(name: str) -> dict[str, list[int]]:
        if not found:
            found.update({state: {} for state in _STATES})
            for topic, number, plain in needy_partitions(image):
                if image.topic_ids.get(topic.name) != topic.id:
                    continue  # another one has taken its name
                for state in _states_of(image, topic, number, plain):
                    found[state].setdefault(topic.name, []).append(number)
        return found[name]

    def state(name: str) -> Directory:
        def get(topic_name: str) -> Node | None:
            numbers = of(name).get(topic_name)
            if numbers is None:
                return None
            topic = image.topics[image.topic_ids[topic_name]]
            return fixed(
                {str(number): Leaf(leaves.PARTITION, image, (topic, number)) for number in numbers},
                is_flat=True,
            )

        return Directory(lambda: of(name), get)

    return fixed({name: state(name) for name in _STATES})


def _states_of(
    image: Image, topic: Topic, number: int, plain: PlainPartition | None
) -> Iterator[str]:
    """Yield the states in which a partition is; *plain* is what its record says if that is all."""
    if plain is not None:
        yield from (name for name, state in _STATES.items() if state.is_plain(plain))
        return
    partition = image.partition(topic, number)
    if partition is not None:
        yield from (name for name, state in _STATES.items() if state.is_decoded(partition))


def _leader(view: View) -> Node:
    return _control(view, view.image.quorum.leader, lambda data: data.get("leaderId"))


def _epoch(view: View) -> Node:
    address = view.image.quorum.leader
    epoch = None if address is None else view.image.record(address).epoch
    return Leaf(leaves.constant(epoch, addresses=_some(address)), view.image)


def _voters(view: View) -> Node:
    quorum = view.image.quorum
    if quorum.voters is None:
        # A static quorum has no record of them: the leader names those that it knows.
        return _control(view, quorum.leader, lambda data: data.get("voters"))
    return _control(view, quorum.voters, lambda data: data.get("voters"))


def _kraft_version(view: View) -> Node:
    return _control(view, view.image.quorum.kraft_version, lambda data: data.get("kRaftVersion"))


def _control(view: View, address: int | None, show: Callable[[Data], object]) -> Node:
    """Return a leaf that shows something of a control record."""
    value = None if address is None else show(view.image.read_control(address))
    value = leaves.plain_value(value)
    return Leaf(leaves.constant(value, addresses=_some(address)), view.image)


def _some(address: int | None) -> tuple[int, ...]:
    return () if address is None else (address,)


def _failed_replicas(view: View) -> Node:
    return _by_number(view.image, view.image.failed_replicas, leaves.FAILED_REPLICAS)


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
        return Leaf(leaves.constant(value, addresses=_some(finding.address)), image)

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
    Row("/image/quorum/epoch", Has.OURS, _epoch),
    Row("/image/quorum/kraftVersion", Has.OURS, _kraft_version),
    Row("/image/quorum/leader", Has.OURS, _leader),
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
