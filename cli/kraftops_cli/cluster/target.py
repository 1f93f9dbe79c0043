"""Cluster that a subcommand of `kafka-cluster` works on, and connections to its nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kraftops.errors import UsageError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect
from kraftops.wire.rpc.cluster import ClusterNodes, describe_cluster
from kraftops.wire.rpc.connection import Connection, NodeKind
from kraftops.wire.rpc.endpoints import Endpoints, other_cluster
from kraftops_cli.cluster.options import TargetOptions
from kraftops_cli.live.connect import settings_of
from kraftops_cli.live.kafka_package import skip_kafka_clients
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.wire.quorum.live_image import LiveImage


@dataclass(frozen=True, slots=True)
class Target:
    """A cluster: brokers or controllers of it, and the deadline of the questions to them."""

    endpoints: Endpoints
    kind: NodeKind
    deadline: Deadline

    @property
    def settings(self) -> Settings:
        """How its nodes are connected to."""
        return self.endpoints.settings

    @property
    def expected_id(self) -> str | None:
        """The id that it must have, if any."""
        return self.endpoints.cluster_id

    def connect(self) -> Connection:
        """Return a connection to the first address that answers.

        Raises:
            WireError: none does.
        """
        return connect(self.endpoints.bootstrap, self.settings, self.deadline, self.kind)

    def connect_to(self, address: Address, deadline: Deadline | None = None) -> Connection:
        """Return a connection to another node of the cluster, by default with this deadline.

        Raises:
            WireError: it does not answer.
        """
        return Connection(address, self.settings, deadline or self.deadline)

    def nodes(self, connection: Connection, *, with_fenced: bool = False) -> ClusterNodes:
        """Ask a node for the nodes of the cluster, and compare the cluster's id.

        Raises:
            AnswerError: the id is not the expected one, or the node answers with an error.
        """
        cluster = describe_cluster(connection, with_fenced=with_fenced)
        if self.expected_id not in (None, cluster.cluster_id):
            raise other_cluster(connection.address, cluster.cluster_id, self.expected_id)
        return cluster

    def live_image(self) -> LiveImage:
        """Return the metadata of the cluster, read by this target's deadline.

        Raises:
            WireError: no controller leads, or none answers.
            AnswerError: it is not permitted to read the metadata log.
        """
        from kraftops.wire.quorum.live_image import LiveImage

        settings = replace(self.settings, timeout=max(self.deadline.left, 0.001))
        return LiveImage(replace(self.endpoints, settings=settings))

    def restarted(self) -> Target:
        """Return the same cluster with a new deadline."""
        return replace(self, deadline=Deadline(self.settings.timeout))

    @property
    def is_of_controllers(self) -> bool:
        return self.kind is NodeKind.CONTROLLER


class KeptImage:
    """The metadata of a cluster, loaded when it is needed first, and then kept current."""

    def __init__(self) -> None:
        self._live: LiveImage | None = None

    def current(self, target: Target) -> LiveImage:
        """Return the metadata as it is now, or was less than a second ago; errors as `live_image`.

        The log is read anew only after an error.
        """
        if self._live is None:
            self._live = target.live_image()
        self._live.update()
        return self._live


def target_of(terminal: Terminal, options: TargetOptions) -> Target:
    """Return the cluster that options name; print warnings on the terminal.

    Raises:
        UsageError: an address is invalid, or options exclude each other.
        ConfigError: the file cannot be read, or has an invalid or unsupported value.
    """
    skip_kafka_clients()
    settings = settings_of(terminal, _config_path(terminal, options), options.timeout)
    controllers = options.bootstrap_controller
    addresses = options.bootstrap_server if controllers is None else controllers
    assert addresses is not None  # the syntax requires one of the two
    return Target(
        Endpoints(parse_bootstrap(addresses), settings, options.expect_cluster_id),
        NodeKind.BROKER if controllers is None else NodeKind.CONTROLLER,
        Deadline(settings.timeout),
    )


def _config_path(terminal: Terminal, options: TargetOptions) -> str | None:
    """Return the file of client properties, also from the deprecated --config."""
    if options.config is None:
        return options.command_config
    if options.command_config is not None:
        raise UsageError("--config and --command-config cannot be specified together.")
    terminal.error(
        "warning: --config has been deprecated and will be removed in a future version",
        hint="--command-config is its name now",
    )
    return options.config
