"""Access to the leader of a quorum, to its metadata log, and to single controllers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kraftops.errors import AnswerError, RefusedError, WireError
from kraftops.image.state.image import MetadataImage
from kraftops.reassign.access import ClusterAccess, Endpoints
from kraftops.voters.quorum import Quorum, look
from kraftops.wire.admin.configs import ResourceType, describe_configs
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.quorum.live_image import LiveImage
from kraftops.wire.quorum.quorum_target import QuorumTarget
from kraftops.wire.rpc.bootstrap import connect
from kraftops.wire.rpc.cluster import QuorumInfo, describe_cluster, describe_quorum
from kraftops.wire.rpc.connection import Connection, NodeKind
from kraftops.wire.rpc.error_codes import UNSUPPORTED_VERSION
from kraftops.wire.rpc.leader import ask_leader
from kraftops.wire.rpc.voters import Listener

T = TypeVar("T")
AUTO_JOIN = "controller.quorum.auto.join.enable"
"""Since Kafka 4.2 (QuorumConfig): an observer with the role of a controller adds itself."""
_NODE_SECONDS = 2.0  # for a controller that may be down
_LOG_SECONDS = 5.0  # for a metadata log that may be out of reach from here


@dataclass(slots=True)
class QuorumAccess:
    """Requests to a quorum, by the controllers that are given, or else by any broker."""

    cluster: ClusterAccess
    _image: LiveImage | None = field(default=None)

    def close(self) -> None:
        """Stop following the metadata log."""
        if self._image:
            self._image.close()
        self._image = None

    def ask(self, request: Callable[[Connection], T]) -> T:
        """Ask the leader of the quorum; a broker forwards to it.

        Raises:
            WireError: nobody answers, or nobody leads.
            RefusedError: the cluster has another id than expected.
        """
        controllers = self.cluster.controllers
        if controllers is None:
            return self.cluster.ask(request)
        settings, deadline = controllers.settings, self._limit(controllers)

        def check(connection: Connection) -> None:
            try:
                cluster_id = describe_cluster(connection).cluster_id
            except AnswerError as error:
                # ControllerApis of one that has just started, and has no metadata.version yet:
                # the others are tried.
                if error.error_code == UNSUPPORTED_VERSION:
                    raise WireError(error.message, error.hint) from error
                raise
            if controllers.cluster_id not in (None, cluster_id):
                raise RefusedError(
                    f"{connection.address}: its cluster id is {cluster_id}, not"
                    f" {controllers.cluster_id}",
                    hint="check the address and --expect-cluster-id",
                    code="other-cluster",
                )

        with connect(
            controllers.bootstrap, settings, deadline, NodeKind.CONTROLLER, check
        ) as connection:
            return ask_leader(
                connection, lambda address: Connection(address, settings, deadline), request
            )

    def describe(self) -> QuorumInfo:
        """Return what the leader says of the quorum; errors as `ask`, those that stay."""
        return self.cluster.patiently(lambda: self.ask(describe_quorum))

    def quorum(self) -> Quorum:
        """Return the quorum, with the voters that are up and caught up; errors as `describe`."""
        return look(self.describe)

    def image(self) -> MetadataImage:
        """Return the metadata, read from the controllers that are given, or that a broker names.

        Raises:
            WireError: they cannot be reached, or it is not permitted.
        """
        if self._image is None:
            endpoints = self._controllers()
            settings = endpoints.settings
            if self.cluster.controllers is None:
                settings = replace(settings, timeout=min(settings.timeout, _LOG_SECONDS))
            target = QuorumTarget(endpoints.bootstrap, settings, endpoints.cluster_id)
            self._image = LiveImage(target, note=self.cluster.note)
        self._image.update()
        return self._image.image

    def joins_itself(self, node: int, listeners: Sequence[Listener]) -> bool | None:
        """Tell whether a controller adds itself to the voters; None if it does not answer."""
        endpoints = self.cluster.controllers or self.cluster.brokers
        assert endpoints
        if not listeners:
            return None
        deadline = self._limit(endpoints).within(_NODE_SECONDS)
        try:
            settings = self.cluster.controller_settings or endpoints.settings
            with Connection(listeners[0][1], settings, deadline) as connection:
                if connection.versions_of("DescribeConfigs") is None:
                    return None
                values = describe_configs(
                    connection, ResourceType.BROKER, [str(node)], (AUTO_JOIN,)
                ).get(str(node), {})
        except WireError:
            return None
        return AUTO_JOIN in values and values[AUTO_JOIN].value == "true"

    def _controllers(self) -> Endpoints:
        """Return the controllers: the voters have listeners in DescribeQuorum v2 (Kafka 3.9)."""
        if self.cluster.controllers is not None:
            return self.cluster.controllers
        listeners = self.ask(describe_quorum).listeners
        addresses = [Bootstrap(address) for each in listeners.values() for _, address in each]
        if not addresses:
            raise WireError(
                "brokers before Kafka 3.9 do not know the addresses of controllers",
                hint="-C gives them",
                code="not-supported",
            )
        brokers = self.cluster.brokers
        assert brokers
        settings = self.cluster.controller_settings or brokers.settings
        return Endpoints(addresses, settings, brokers.cluster_id)

    def _limit(self, endpoints: Endpoints) -> Deadline:
        """Return the deadline of a request that begins now."""
        seconds = endpoints.settings.timeout
        deadline = self.cluster.deadline
        return Deadline(seconds) if deadline is None else deadline.within(seconds)


def listeners_in(image: MetadataImage | None, node: int) -> list[Listener]:
    """Return the listeners with which a controller has registered; none without a registration.

    Raises:
        KraftopsError: a source cannot be read any more.
    """
    if image is None or node not in image.controllers:
        return []
    registration = image.read(image.controllers[node])[1]
    return [
        (str(point["name"]), Address(str(point["host"]), int(point["port"])))
        for point in registration["endPoints"]
    ]
