"""Connections to a cluster by its brokers and, where they are given, its controllers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar

from kraftops.errors import AnswerError, KraftopsError, WireError
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Address, Bootstrap
from kraftops.wire.net.deadline import PAUSE, Deadline
from kraftops.wire.rpc.bootstrap import connect
from kraftops.wire.rpc.cluster import ClusterNodes, describe_cluster, describe_quorum, lists_fenced
from kraftops.wire.rpc.connection import Connection, NodeKind
from kraftops.wire.rpc.endpoints import Endpoints, other_cluster
from kraftops.wire.rpc.error_codes import UNSUPPORTED_VERSION, may_pass
from kraftops.wire.rpc.leader import ask_leader

if TYPE_CHECKING:
    from kraftops.image.state.image import MetadataImage
    from kraftops.wire.quorum.live_image import LiveImage

T = TypeVar("T")
P = ParamSpec("P")

PATIENCE_SECONDS = 60.0
"""Time for which requests are tried again, while nodes restart and controllers elect a leader."""
_LEAST_SECONDS = 0.1  # a timeout of 0 would mean none
_LOG_SECONDS = 5.0  # for a metadata log that may be out of reach from here


@dataclass(slots=True)
class ClusterConnections:
    """Connections to a cluster, which are opened when they are needed; a context manager.

    The *deadline* is that of all work on the cluster, and so of each request.
    """

    brokers: Endpoints | None
    controllers: Endpoints | None = None
    controller_settings: Settings | None = None
    """Those of controllers that brokers name; without them, those of the brokers."""
    note: Callable[[str], None] = lambda _: None
    deadline: Deadline | None = None
    _connection: Connection | None = None
    _image: LiveImage | None = None
    _addresses: dict[int, Address] = field(default_factory=dict)
    _lists_fenced: bool = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._disconnect()
        self._close_image()

    def renew_deadline(self) -> None:
        """Restart the deadline: the work that begins now has all of its time."""
        if self.deadline is not None:
            self.deadline = Deadline(self.deadline.seconds)

    def anew(self) -> ClusterConnections:
        """Return fresh connections to the same addresses, with the whole deadline."""
        fresh = ClusterConnections(self.brokers, self.controllers, deadline=self.deadline)
        fresh.renew_deadline()
        return fresh

    @property
    def is_of_controllers(self) -> bool:
        """Whether only controllers are asked."""
        return self.brokers is None

    @property
    def endpoints(self) -> Endpoints:
        """The brokers, or the controllers where only these are asked."""
        endpoints = self.brokers or self.controllers
        assert endpoints is not None  # each command requires one of the two
        return endpoints

    @property
    def lists_fenced(self) -> bool:
        """Whether placements have fenced brokers: by Kafka 4.0, or by the metadata log."""
        return self.controllers is not None or self._lists_fenced

    def check(self) -> None:
        """Connect to a broker, so that wrong addresses fail before anything else is done.

        Raises:
            WireError: none answers.
            AnswerError: the cluster has another id than expected.
        """
        self._connected()

    def connect(self) -> Connection:
        """Connect again to the first of the endpoints that answers.

        Raises:
            WireError: none does.
        """
        endpoints = self.endpoints
        kind = NodeKind.CONTROLLER if self.is_of_controllers else NodeKind.BROKER
        deadline = self.deadline_for(endpoints.settings)
        return connect(endpoints.bootstrap, endpoints.settings, deadline, kind)

    def connect_to(self, address: Address, deadline: Deadline | None = None) -> Connection:
        """Connect to another node of the cluster, by default with the cluster's deadline.

        Raises:
            WireError: it does not answer.
        """
        settings = self.endpoints.settings
        return Connection(address, settings, deadline or self.deadline_for(settings))

    def nodes(self, connection: Connection, *, with_fenced: bool = False) -> ClusterNodes:
        """Ask a node for the nodes of the cluster, and compare the cluster's id.

        Raises:
            AnswerError: the id is not the expected one, or the node answers with an error.
        """
        return _checked(connection, self.endpoints, with_fenced=with_fenced)

    def live_image(self) -> LiveImage:
        """Follow the metadata log, by controllers that are given or a broker names.

        The log is read once, and then followed; again only after an error.

        Raises:
            WireError: no controller leads, or none answers.
            AnswerError: it is not permitted to read the metadata log.
        """
        if self._image is None:
            from kraftops.wire.quorum.live_image import LiveImage

            controllers = self.controllers or self.named_controllers()
            limit = self.deadline_for(controllers.settings)
            seconds = limit.left if self.controllers else min(limit.left, _LOG_SECONDS)
            timeout = max(round(seconds, 1), _LEAST_SECONDS)
            settings = replace(controllers.settings, timeout=timeout)
            self._image = LiveImage(replace(controllers, settings=settings), note=self.note)
        self._image.update()
        return self._image

    def image(self) -> MetadataImage:
        """Take the present image of `live_image`; errors as there."""
        return self.live_image().image

    def ask(
        self, request: Callable[Concatenate[Connection, P], T], *args: P.args, **values: P.kwargs
    ) -> T:
        """Make a request of any broker that answers.

        Raises:
            WireError: none does, or the connection broke.
        """
        connection = self._connected()
        connection.deadline = self.deadline_for(self.endpoints.settings)
        try:
            return request(connection, *args, **values)
        except AnswerError:
            raise
        except WireError:
            self._disconnect()
            raise

    def ask_broker(
        self,
        broker: int,
        request: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **values: P.kwargs,
    ) -> T:
        """Make a request of one broker; errors as `ask`."""
        self._connected()
        settings = self.endpoints.settings
        address = self._addresses.get(broker)
        if address is None:
            self._disconnect()  # the next connection knows of newer brokers
            raise WireError(f"the address of broker {broker} is not known")
        try:
            with Connection(address, settings, self.deadline_for(settings)) as connection:
                return request(connection, *args, **values)
        except AnswerError:
            raise
        except WireError:
            self._disconnect()  # it may come back at another address
            raise

    def patiently(self, act: Callable[P, T], *args: P.args, **values: P.kwargs) -> T:
        """Act, and again after errors that pass; *act* must have the same effect if repeated.

        Raises:
            WireError: the errors went on for a minute, or to the deadline, or one does not pass.
        """
        patience = Deadline(PATIENCE_SECONDS)
        if self.deadline is not None:
            patience = self.deadline.within(PATIENCE_SECONDS)
        is_noted = False
        while True:
            try:
                return act(*args, **values)
            except WireError as error:
                if not may_pass(error) or patience.is_over:
                    raise
                if not is_noted:
                    self.note(f"{error.message}; trying again")
                is_noted = True
            time.sleep(PAUSE)

    def named_controllers(self) -> Endpoints:
        """Ask a broker for the voters' addresses: since Kafka 3.9 (KIP-853, DescribeQuorum v2).

        Raises:
            WireError: it names none, or errors as `ask`.
        """
        listeners = self.ask(describe_quorum).listeners
        addresses = [Bootstrap(address) for points in listeners.values() for _, address in points]
        if not addresses:
            raise WireError(
                "brokers before Kafka 3.9 do not know the addresses of controllers",
                hint="-C gives them",
                code="not-supported",
            )
        brokers = self.endpoints
        settings = self.controller_settings or brokers.settings
        return Endpoints(addresses, settings, brokers.cluster_id)

    def find_controllers(self) -> bool:
        """Follow the metadata log of the controllers that a broker names, if that can be."""
        if self.controllers is None:
            try:
                self.controllers = self.named_controllers()
                self.image()
            except KraftopsError:
                self.controllers = self._image = None
        return self.controllers is not None

    def ask_controllers(
        self, request: Callable[Concatenate[Connection, P], T], *args: P.args, **values: P.kwargs
    ) -> T:
        """Make a request of the leader of the controllers; errors as `ask`."""
        controllers = self.controllers
        assert controllers is not None
        settings = controllers.settings
        deadline = self.deadline_for(settings)

        def check(connection: Connection) -> None:
            try:
                _checked(connection, controllers)
            except AnswerError as error:
                # ControllerApis of one that has just started, and has no metadata.version yet:
                # the others are tried.
                if error.error_code == UNSUPPORTED_VERSION:
                    raise WireError(error.message, error.hint) from error
                raise

        with connect(
            controllers.bootstrap, settings, deadline, NodeKind.CONTROLLER, check
        ) as connection:
            return ask_leader(
                connection,
                lambda address: Connection(address, settings, deadline),
                lambda leader: request(leader, *args, **values),
            )

    def deadline_for(self, settings: Settings) -> Deadline:
        """Begin the time of a request, which ends with the deadline of the whole at the latest."""
        if self.deadline is None:
            return Deadline(settings.timeout)
        return self.deadline.within(settings.timeout)

    def _connected(self) -> Connection:
        """Connect to a broker, which also tells where the others are if it fails later."""
        if self._connection is None:
            endpoints = self.endpoints
            bootstraps = {bootstrap.address: bootstrap for bootstrap in endpoints.bootstrap}
            bootstraps |= {address: Bootstrap(address) for address in self._addresses.values()}
            deadline = self.deadline_for(endpoints.settings)
            self._connection = connect(
                [*bootstraps.values()],
                endpoints.settings,
                deadline,
                NodeKind.BROKER,
                first=self._learn,
            )
        return self._connection

    def _learn(self, connection: Connection) -> None:
        """Note the addresses of all brokers, and check the cluster's id."""
        self._lists_fenced = lists_fenced(connection)
        cluster = self.nodes(connection, with_fenced=self._lists_fenced)
        self._addresses.update((node.node_id, node.address) for node in cluster.nodes)

    def _disconnect(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None

    def _close_image(self) -> None:
        if self._image:
            self._image.close()
        self._image = None


def _checked(
    connection: Connection, endpoints: Endpoints, *, with_fenced: bool = False
) -> ClusterNodes:
    """Ask for the nodes, and refuse a cluster with another id than the user expects."""
    cluster = describe_cluster(connection, with_fenced=with_fenced)
    if endpoints.cluster_id not in (None, cluster.cluster_id):
        raise other_cluster(connection.address, cluster.cluster_id, endpoints.cluster_id)
    return cluster
