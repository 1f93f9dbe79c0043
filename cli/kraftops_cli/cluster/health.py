"""Health of partitions and brokers, from the metadata log or from the answers of brokers."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftops.engine.metadata_state import (
    BrokerEntry,
    BrokerLoad,
    PartitionCondition,
    Resource,
    is_under_replicated,
)
from kraftops.engine.timeline_contract import MIN_ISR
from kraftops.errors import AnswerError, WireError
from kraftops.image.state.broker import BrokerState, registered_broker
from kraftops.image.state.image import MetadataImage
from kraftops.placement.placement import Placement, Replicas, TopicPartition, replicas_of
from kraftops.placement.safety import MinIsr
from kraftops.reassign.min_isr import logged_min_isr, min_isr_by
from kraftops.uuids import to_text
from kraftops.wire.admin.configs import ConfigValue, ResourceType, describe_configs
from kraftops.wire.admin.replicas import ask_placement
from kraftops.wire.cluster import ClusterConnections
from kraftops.wire.rpc.cluster import ClusterNode, Feature, api_versions, failed_directories
from kraftops.wire.rpc.connection import Connection, VersionRange
from kraftops.wire.rpc.node_release import release_of

_NODE_SECONDS = 2.0  # a broker that hangs must not hold up the description of the others
_ASKED_AGAIN = 60  # descriptions, after which each broker was asked again


class Counts(NamedTuple):
    """Counts of partitions, and of those in trouble.

    A partition is under its min ISR with fewer replicas in sync than `min.insync.replicas`, or
    than it has replicas if these are fewer.
    """

    partitions: int
    under_replicated: int
    offline: int
    under_min_isr: int
    moving: int


@dataclass(frozen=True, slots=True)
class Health:
    """Counts of partitions, and those with a reassignment in flight.

    *is_min_isr_assumed*: no server tells the default of `min.insync.replicas`: it is taken to be 1,
    as Kafka's own. *loads* has the partitions by broker, if a broker told them.
    """

    counts: Counts
    is_min_isr_assumed: bool
    moving: Mapping[TopicPartition, Replicas]
    loads: Mapping[int, BrokerLoad] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """The release of a node, its features, and its failed log directories (paths or ids).

    They are None where the node, or the log, does not tell; *configs* of a node that was asked are
    its own dynamic values.
    """

    release: str | None = None
    features: tuple[Feature, ...] = ()
    failed: tuple[str, ...] | None = field(default=None)
    configs: Mapping[str, ConfigValue] | None = None


def health_of_image(image: MetadataImage) -> Health:
    """Count unhealthy partitions with the min ISR that topics and cluster set in the log.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    fold = image.fold
    # For the min ISR, replicas that are being added count too.
    chosen = PartitionCondition.UNDER_REPLICATED | PartitionCondition.REASSIGNING
    places = [
        (topic_id, number)
        for topic_id, numbers in fold.partitions_with(chosen).items()
        for number in numbers
    ]
    partitions = {
        TopicPartition(image.topics[topic_id].name, number): replicas_of(state)
        for (topic_id, number), state in zip(places, fold.states(places), strict=True)
        if state is not None
    }
    out_of_sync = _behind(partitions)
    needed = logged_min_isr(image, {partition.topic for partition in out_of_sync})
    moving = dict(sorted(Placement({}, partitions).moving.items()))
    counts = Counts(
        partitions=fold.partition_count(),
        under_replicated=fold.count_with(PartitionCondition.UNDER_REPLICATED),
        offline=fold.count_with(PartitionCondition.LEADERLESS),
        under_min_isr=_under_min_isr(out_of_sync, needed),
        moving=len(moving),
    )
    return Health(counts, any(min_isr.is_assumed for min_isr in needed.values()), moving)


def _behind(partitions: Mapping[TopicPartition, Replicas]) -> dict[TopicPartition, Replicas]:
    return {
        partition: replicas
        for partition, replicas in partitions.items()
        if len(replicas.isr) < len(replicas.replicas)
    }


def _under_min_isr(
    out_of_sync: Mapping[TopicPartition, Replicas], needed: Mapping[str, MinIsr]
) -> int:
    return sum(
        len(replicas.isr) < min(needed[partition.topic].value, len(replicas.replicas))
        for partition, replicas in out_of_sync.items()
    )


def min_isr_addresses(image: MetadataImage) -> dict[Resource, int]:
    """Map each resource that sets `min.insync.replicas` to the record that does so."""
    return {
        resource: values[MIN_ISR] for resource, values in image.configs.items() if MIN_ISR in values
    }


def ask_health(connection: Connection) -> Health:
    """Ask a broker for the health of the partitions that the user may describe.

    Raises:
        WireError: a request fails.
        AnswerError: it is not permitted.
    """
    placement = ask_placement(connection)
    out_of_sync = _behind(placement.partitions)
    topics = sorted({partition.topic for partition in out_of_sync})
    configs = describe_configs(connection, ResourceType.TOPIC, topics, (MIN_ISR,))
    texts = {
        topic: values[MIN_ISR].value or "" for topic, values in configs.items() if MIN_ISR in values
    }
    needed = min_isr_by(texts, topics)
    counts = Counts(
        partitions=len(placement.partitions),
        under_replicated=sum(
            is_under_replicated(len(replicas.isr), len(replicas.replicas), len(replicas.adding))
            for replicas in out_of_sync.values()
        ),
        offline=sum(replicas.leader < 0 for replicas in placement.partitions.values()),
        under_min_isr=_under_min_isr(out_of_sync, needed),
        moving=len(placement.moving),
    )
    is_assumed = any(min_isr.is_assumed for min_isr in needed.values())
    return Health(counts, is_assumed, placement.moving, _loads(placement))


def _loads(placement: Placement) -> dict[int, BrokerLoad]:
    replicas: Counter[int] = Counter()
    leaders: Counter[int] = Counter()
    for held_replicas in placement.partitions.values():
        replicas.update(held_replicas.replicas)
        leaders[held_replicas.leader] += 1
    return {
        broker: BrokerLoad(replicas[broker], leaders[broker])
        for broker in sorted({*placement.brokers, *replicas})
    }


def broker_facts(image: MetadataImage, entry: BrokerEntry, state: BrokerState) -> NodeFacts:
    """Return what a broker registered; *state* is that of its *entry*.

    A log directory has failed if the broker registered with it, and a later change lacks it; of a
    broker that only a snapshot has, this is not known.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    first = entry.addresses[0]
    at_first = registered_broker(image.read(first)[1])
    gone = [directory for directory in at_first["logDirs"] if directory not in state["logDirs"]]
    is_known = not image.change(first).is_upper_bound
    features = _features(at_first["features"])
    failed = tuple(map(to_text, gone)) if is_known or gone else None
    return NodeFacts(release_of(None, features), features, failed)


def controller_facts(image: MetadataImage) -> dict[int, NodeFacts]:
    """Return what controllers registered, by id; errors as above."""
    controllers = {}
    for controller, address in sorted(image.controllers.items()):
        features = _features(image.read(address)[1]["features"])
        controllers[controller] = NodeFacts(release_of(None, features), features)
    return controllers


def _features(features: object) -> tuple[Feature, ...]:
    assert isinstance(features, list)
    return tuple(
        Feature(
            feature["name"],
            VersionRange(feature["minSupportedVersion"], feature["maxSupportedVersion"]),
            None,
        )
        for feature in sorted(features, key=lambda feature: str(feature["name"]))
    )


class KeptFacts:
    """What brokers told of themselves: all are asked once, then some of them each time."""

    def __init__(self) -> None:
        self._facts: dict[ClusterNode, NodeFacts | None] = {}  # the last that were asked come last

    def current(
        self, cluster: ClusterConnections, nodes: Collection[ClusterNode]
    ) -> dict[int, NodeFacts]:
        """Ask brokers that have begun to run, and a part of the others again; keep who answered."""
        running = [node for node in nodes if not node.is_fenced]
        present = {*running}
        facts_by_node = {node: self._facts[node] for node in self._facts if node in present}
        again = [*facts_by_node][: -(-len(facts_by_node) // _ASKED_AGAIN)]
        for node in (*again, *(node for node in running if node not in facts_by_node)):
            facts_by_node.pop(node, None)
            facts_by_node[node] = ask_node(cluster, node)
        self._facts = facts_by_node
        return {node.node_id: facts for node, facts in facts_by_node.items() if facts is not None}


def ask_node(cluster: ClusterConnections, node: ClusterNode) -> NodeFacts | None:
    """Ask a broker for its release and log directories; None without an answer in two seconds."""
    deadline = cluster.deadline_for(cluster.endpoints.settings).within(_NODE_SECONDS)
    try:
        with cluster.connect_to(node.address, deadline) as connection:
            versions = api_versions(connection)
            release = release_of(versions.apis, versions.features)
            failed = failed_directories(connection)
            configs = _own_configs(connection, node.node_id)
    except WireError:
        return None
    return NodeFacts(release, tuple(versions.features), failed, configs)


def _own_configs(connection: Connection, broker: int) -> dict[str, ConfigValue] | None:
    """Ask a broker for its own dynamic values; None if the user may not see them."""
    if connection.versions_of("DescribeConfigs") is None:
        return None
    try:
        values = describe_configs(connection, ResourceType.BROKER, [str(broker)], None)
    except AnswerError:
        return None
    return {key: config for key, config in values.get(str(broker), {}).items() if config.is_dynamic}
