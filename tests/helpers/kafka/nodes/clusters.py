"""Whole clusters of real nodes: controllers, brokers, and the listeners that tests want of them."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kraftops.storage.config.server_config import load_config
from kraftops.storage.format.checks import check_plan
from kraftops.storage.format.execute import format_directories
from kraftops.storage.format.plan import FormatRequest, plan_format
from tests.helpers.kafka.nodes.configs import (
    BROKER,
    CLUSTER_ID,
    CONTROLLER,
    Config,
    _free_ports,
    _written,
    broker,
    controllers,
    initial_controllers,
)
from tests.helpers.kafka.nodes.nodes import Node, NodeError, running, until

FIRST_BROKER = 101
QUICK = {
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
    "group.initial.rebalance.delay.ms": "0",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}


@dataclass(frozen=True)
class Shape:
    """The shape of a cluster: the number of nodes of each kind, and their settings.

    *listeners* are further ones of brokers and of controllers: protocols by name.
    """

    controllers: int = 1
    brokers: int = 0
    first_broker: int = FIRST_BROKER
    is_combined: bool = False
    is_dynamic: bool = False
    cluster_id: str = CLUSTER_ID
    release: str | None = None
    features: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    node_settings: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    broker_listeners: Mapping[str, str] = field(default_factory=dict)
    controller_listeners: Mapping[str, str] = field(default_factory=dict)
    credentials: tuple[str, ...] = ()


class Cluster:
    """A running cluster; nodes by id, addresses as the tools take them."""

    def __init__(self, nodes: dict[int, Node]) -> None:
        self.nodes = nodes

    def port(self, node_id: int, listener: str) -> int:
        return self.nodes[node_id].config.ports[listener]

    def addresses(self, listener: str) -> str:
        """Return the addresses of all nodes that have the listener."""
        ports = [node.config.ports.get(listener) for node in self.nodes.values()]
        return ",".join(f"localhost:{port}" for port in ports if port)

    @property
    def brokers(self) -> str:
        return self.addresses(BROKER)

    @property
    def controllers(self) -> str:
        return self.addresses(CONTROLLER)

    def leader(self) -> int:
        """Return the id of the controller that leads; some node that runs must know it."""
        for node in self.nodes.values():
            if node.exit_code is None and CONTROLLER in node.config.ports:
                # A broker calls any broker the controller, and only the leader tells of the quorum.
                is_broker = BROKER in node.config.ports
                return node.quorum().leader if is_broker else node.cluster().controller
        raise AssertionError("no controller runs")


@contextmanager
def running_cluster(
    jars: Path, folder: Path, shape: Shape, other_jars: Mapping[int, Path] | None = None
) -> Iterator[Cluster]:
    """Format and start a cluster, with the jars of other releases for some nodes; it is ready.

    The controllers are first: of brokers that start beside them, one in fifty never gets its
    registration to the leader (Kafka logs "the RPC got timed out before it could be sent").
    """
    configs = configured(folder, shape)
    for config in configs:
        formatted(config, configs, shape)
    with ExitStack() as stack:
        jars_by_id = {config.node_id: jars for config in configs} | {**(other_jars or {})}
        cluster = Cluster({})
        for has_controller in (True, False):
            for config in configs:
                if (CONTROLLER in config.ports) is has_controller:
                    node = stack.enter_context(running(jars_by_id[config.node_id], config))
                    cluster.nodes[config.node_id] = node
            wait_ready(cluster)
        yield cluster


def wait_ready(cluster: Cluster) -> None:
    """Wait until every node that runs knows every broker that runs."""
    alive = [node for node in cluster.nodes.values() if node.exit_code is None]
    brokers = sum(BROKER in node.config.ports for node in alive)
    for node in alive:
        node.wait_ready(brokers if BROKER in node.config.ports else 1)


def restarted(cluster: Cluster, node_id: int) -> None:
    """Start a node that has ended, and wait until it is ready."""
    cluster.nodes[node_id].start()
    wait_ready(cluster)


def wait_for_leader(cluster: Cluster, limit: float = 60) -> int:
    """Wait until the controllers that run have a leader that runs; return it."""

    def leads() -> bool:
        try:
            leader = cluster.leader()
        except (OSError, AssertionError, NodeError):
            return False
        return leader >= 0 and cluster.nodes[leader].exit_code is None

    assert until(leads, limit)
    return cluster.leader()


def configured(folder: Path, shape: Shape) -> list[Config]:
    """Write the configurations of all nodes of a cluster."""
    static = not shape.is_dynamic
    count = shape.controllers
    configs = controllers(folder, count, static=static, are_brokers=shape.is_combined)
    ids = range(shape.first_broker, shape.first_broker + shape.brokers)
    configs += [broker(folder, node_id, configs[:count]) for node_id in ids]
    return [_changed(config, shape) for config in configs]


def _changed(config: Config, shape: Shape) -> Config:
    """Return the configuration of a node with the further listeners and settings."""
    further: dict[str, str] = {}
    if BROKER in config.ports:
        further |= shape.broker_listeners
    if CONTROLLER in config.ports:
        further |= shape.controller_listeners
    ports = {**config.ports, **dict(zip(further, _free_ports(len(further)), strict=True))}
    protocols = {**shape.broker_listeners, **shape.controller_listeners}
    known = config.settings["listener.security.protocol.map"]
    mapped = [known, *(f"{name}:{protocol}" for name, protocol in protocols.items())]
    settings = {
        **config.settings,
        **QUICK,
        "listeners": ",".join(f"{name}://localhost:{port}" for name, port in ports.items()),
        "controller.listener.names": ",".join([CONTROLLER, *shape.controller_listeners]),
        "listener.security.protocol.map": ",".join(mapped),
        **shape.settings,
        **shape.node_settings.get(config.node_id, {}),
    }
    return _written(config.path, config.node_id, settings, ports)


def formatted_later(config: Config, release: str | None = None) -> None:
    """Format a controller that joins a cluster."""
    asked = FormatRequest(cluster_id=CLUSTER_ID, release=release, no_initial_controllers=True)
    plan = plan_format(load_config(str(config.path)), asked)
    check_plan(plan)
    assert [*format_directories(plan)]


def formatted(config: Config, configs: list[Config], shape: Shape) -> None:
    """Format one of the nodes of a cluster."""
    voters = [each for each in configs if CONTROLLER in each.ports]
    is_voter = shape.is_dynamic and CONTROLLER in config.ports
    asked = FormatRequest(
        cluster_id=shape.cluster_id,
        release=shape.release,
        features=shape.features,
        ensure=True,
        credentials=shape.credentials,
        initial_controllers=initial_controllers(voters) if is_voter else None,
    )
    plan = plan_format(load_config(str(config.path)), asked)
    check_plan(plan)
    assert [*format_directories(plan)]
