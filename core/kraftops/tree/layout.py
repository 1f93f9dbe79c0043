"""The layout of the tree: one table from paths to the functions that make their nodes.

Directories on the way to a path need no row. Kafka's paths are those of its 4.3 shell.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from kraftops.display.times import iso_time
from kraftops.engine.metadata_state import (
    VERSION_FEATURE,
    Resource,
)
from kraftops.image.state.image import MetadataImage
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
    uuid_of,
)
from kraftops.tree.node import Directory, Leaf, LeafKind, Node, fixed
from kraftops.tree.replicas import by_broker, by_directory, by_rack
from kraftops.tree.topics import topics_by_id, topics_by_name, topics_by_state
from kraftops.tree.view import Form, View
from kraftops.uuids import to_text

Image = MetadataImage


MOST_FINDINGS = 100_000
"""Findings that are listed: a bad log of some KB has millions, and the first lines their number."""


class Row(NamedTuple):
    """A path of the tree, the forms that have it, and the function that makes its node."""

    path: str
    forms: Form
    make: Callable[[View], Node]


def tree_of(
    image: MetadataImage,
    *,
    form: Form = Form.OURS,
    show_secrets: bool = False,
    version: str = "",
    directory_paths: Callable[[], Mapping[bytes, str]] = dict,
) -> Directory:
    """Return the root of the tree of an image.

    Args:
        image: the state; nodes are made when they are asked for.
        form: the nodes of ours, or of Kafka 4.3's shell.
        show_secrets: do not redact passwords and keys; Kafka's text never does.
        version: the value of `/local/version`.
        directory_paths: returns the known paths of log directories by their ids.
    """
    view = View(image, form, show_secrets, version, directory_paths)
    return _directory(view, [row for row in LAYOUT if form in row.forms], "")


def _directory(view: View, rows: list[Row], path: str) -> Directory:
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
    return lambda view: Leaf(kind, view.image, (record,))


def _voters(view: View) -> Node:
    # A static quorum has no record of its voters: its leader names the voters.
    has_voters = view.image.quorum.voters is not None
    return Leaf(leaves.VOTERS, view.image, ("voters" if has_voters else "leader",))


def _acls(view: View) -> Node:
    image = view.image

    def get(name: str) -> Node | None:
        acl_id = uuid_of(name)
        return Leaf(leaves.ACL, image, (acl_id,)) if acl_id in image.acls else None

    return Directory(lambda: map(to_text, image.acls), get)


def _quotas(view: View) -> Node:
    image = view.image
    name_of = kafka_entity_name if view.form is Form.KAFKA else entity_name

    def get(name: str) -> Node | None:
        entity = entity_of(name)
        keys = None if entity is None else image.quotas.get(entity)
        return None if keys is None else _keys(image, keys, leaves.QUOTA, (entity,))

    return Directory(lambda: map(name_of, image.quotas), get)


def _keys(
    image: Image, keys: Mapping[str, int], kind: LeafKind, owner: tuple[object, ...]
) -> Directory:
    """Make the directory of a resource's or quota entity's keys, a leaf each."""

    def get(name: str) -> Node | None:
        return Leaf(kind, image, (*owner, name)) if name in keys else None

    return Directory(lambda: keys, get, is_known_flat=True)


def _brokers(view: View) -> Node:
    return _by_number(view.image, lambda image: image.brokers, leaves.BROKER)


def _controllers(view: View) -> Node:
    return _by_number(view.image, lambda image: image.controllers, leaves.CONTROLLER)


def _failed_replicas(view: View) -> Node:
    return _by_number(view.image, lambda image: image.failed_replicas, leaves.FAILED_REPLICAS)


def _by_number(
    image: Image, entries: Callable[[Image], Mapping[int, object]], kind: LeafKind
) -> Directory:
    def get(name: str) -> Node | None:
        number = integer_of(name)
        return Leaf(kind, image, (number,)) if number in entries(image) else None

    return Directory(lambda: map(str, entries(image)), get)


def _configs(view: View) -> Node:
    image, is_kafka = view.image, view.form is Form.KAFKA
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
    """Return the configurations of a resource that Kafka's shell shows after loading an image."""
    kept = CONFIGS_ON_LOAD.get(resource[0], frozenset())
    configs = image.configs[resource]
    return configs if kept is None else {key: configs[key] for key in configs if key in kept}


def _tokens(view: View) -> Node:
    image = view.image

    def get(name: str) -> Node | None:
        return Leaf(leaves.TOKEN, image, (name,)) if name in image.tokens else None

    return Directory(lambda: image.tokens, get, is_known_flat=True)


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
        return Leaf(leaves.constant(0), image) if view.form is Form.KAFKA else None

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
        "time": iso_time(provenance.timestamp) if provenance.timestamp >= 0 else None,
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
    if view.form is not Form.KAFKA:
        numbers |= {number for number, users in image.scram.items() if users}
    return fixed({mechanism_name(number): mechanism(number) for number in numbers})


def _findings(view: View) -> Node:
    image = view.image

    def numbers() -> range:
        return range(len(image.log_findings) + len(image.record_findings))

    def get(name: str) -> Node | None:
        number = integer_of(name)
        return Leaf(leaves.FINDING, image, (number,)) if number in numbers() else None

    return Directory(lambda: map(str, numbers()[:MOST_FINDINGS]), get, is_known_flat=True)


def _commit(view: View) -> Node:
    return Leaf(
        leaves.COMMIT_ID if view.form is Form.OURS else leaves.constant("unknown"), view.image
    )


def _version(view: View) -> Node:
    return Leaf(leaves.constant(view.version), view.image)


LAYOUT = (
    Row("/image/acls/byId", Form.BOTH, _acls),
    Row("/image/byBroker", Form.OURS, by_broker),
    Row("/image/byDirectory", Form.OURS, by_directory),
    Row("/image/byRack", Form.OURS, by_rack),
    Row("/image/clientQuotas", Form.BOTH, _quotas),
    Row("/image/cluster/brokers", Form.BOTH, _brokers),
    Row("/image/cluster/controllers", Form.BOTH, _controllers),
    Row("/image/cluster/failedReplicas", Form.OURS, _failed_replicas),
    Row("/image/configs", Form.BOTH, _configs),
    Row("/image/delegationToken", Form.BOTH, _tokens),
    Row("/image/features", Form.BOTH, _features),
    Row("/image/producerIds/nextProducerId", Form.BOTH, _producer_ids),
    Row("/image/provenance", Form.BOTH, _provenance),
    Row("/image/quorum/epoch", Form.OURS, _control(leaves.EPOCH, "leader")),
    Row("/image/quorum/kraftVersion", Form.OURS, _control(leaves.KRAFT_VERSION, "kraft_version")),
    Row("/image/quorum/leader", Form.OURS, _control(leaves.LEADER, "leader")),
    Row("/image/quorum/voters", Form.OURS, _voters),
    Row("/image/scram", Form.BOTH, _scram),
    Row("/image/topics/byId", Form.BOTH, topics_by_id),
    Row("/image/topics/byName", Form.BOTH, topics_by_name),
    Row("/image/topics/byState", Form.OURS, topics_by_state),
    Row("/local/commitId", Form.BOTH, _commit),
    Row("/local/findings", Form.OURS, _findings),
    Row("/local/version", Form.BOTH, _version),
)
"""All rows. No row is below another."""
