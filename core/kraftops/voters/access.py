"""Access to the leader of a quorum, to its metadata log, and to the controllers that answer."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from kraftops.errors import WireError
from kraftops.image.state.image import MetadataImage
from kraftops.reassign.access import ClusterAccess
from kraftops.voters.quorum import Quorum, look
from kraftops.wire.admin.configs import ResourceType, describe_configs
from kraftops.wire.net.addresses import Address, parse_bootstrap
from kraftops.wire.quorum.survey import survey
from kraftops.wire.rpc.cluster import QuorumInfo, describe_cluster, describe_quorum
from kraftops.wire.rpc.connection import Connection
from kraftops.wire.rpc.leader import no_leader
from kraftops.wire.rpc.voters import Listener

T = TypeVar("T")
P = ParamSpec("P")
AUTO_JOIN = "controller.quorum.auto.join.enable"
"""Since Kafka 4.2 (QuorumConfig): an observer with the role of a controller adds itself."""
SERVERS = "controller.quorum.bootstrap.servers"
_NODE_SECONDS = 2.0  # for a controller that may be down: a running one answers in milliseconds
SURVEY_SECONDS = 3.0
"""A follower that has lost its leader names it for `controller.quorum.fetch.timeout.ms`, 2 s."""


@dataclass(frozen=True, slots=True)
class QuorumAccess:
    """Requests to a quorum, by the controllers that are given, or else by any broker."""

    cluster: ClusterAccess

    def ask(
        self, request: Callable[Concatenate[Connection, P], T], *args: P.args, **values: P.kwargs
    ) -> T:
        """Make a request of the leader of the quorum; a broker forwards it.

        Raises:
            WireError: no server answers, or none leads.
            RefusedError: the cluster has another id than expected.
        """
        if self.cluster.controllers is None:
            return self.cluster.ask(request, *args, **values)
        return self.cluster.ask_controllers(request, *args, **values)

    def describe(self) -> QuorumInfo:
        """Return what the leader says of the quorum; errors as `ask`, those that stay."""
        return self.cluster.patiently(self.ask, describe_quorum)

    def quorum(self) -> Quorum:
        """Look until every voter has caught up, or for two seconds; errors as `describe`."""
        return look(self.describe)

    def image(self) -> MetadataImage:
        """Follow the metadata log, from the controllers that are given, or that a broker names.

        Raises:
            WireError: they cannot be reached, or it is not permitted.
        """
        return self.cluster.image()

    def joins_itself(self, node: int, listeners: Sequence[Listener]) -> bool | None:
        """Tell whether a controller adds itself to the voters; None if it does not answer."""
        setting = self._config_of(node, listeners, AUTO_JOIN)
        return None if setting is None else setting == "true"

    def servers_by_node(self, quorum: Quorum, leaving: int) -> dict[int, frozenset[Address]]:
        """Return where nodes look for the quorum, by node: brokers and other voters that answer."""
        servers = {
            node: self._config_of(node, listeners, SERVERS)
            for node, listeners in quorum.info.listeners.items()
            if node != leaving
        }
        if self.cluster.brokers is not None:
            for node in self.cluster.ask(describe_cluster).nodes:
                with suppress(WireError):
                    configs = self.cluster.config_of(node.node_id, (SERVERS,))
                    servers[node.node_id] = configs[SERVERS].value if SERVERS in configs else None
        return {
            node: frozenset(configured.address for configured in parse_bootstrap(text))
            for node, text in servers.items()
            if text
        }

    def listeners_of(self, quorum: Quorum) -> dict[int, frozenset[Address]]:
        """Map ids to addresses: of voters, and of others that have registered in the log."""
        listeners = {node: [*points] for node, points in quorum.info.listeners.items()}
        with suppress(WireError):
            image = self.image()
            for node in image.controllers:
                listeners.setdefault(node, []).extend(listeners_in(image, node))
        return {
            node: frozenset(address for _, address in points) for node, points in listeners.items()
        }

    def _config_of(self, node: int, listeners: Sequence[Listener], key: str) -> str | None:
        """Ask a controller itself for a value, empty without one; None if it does not answer."""
        endpoints = self.cluster.controllers or self.cluster.brokers
        assert endpoints
        if not listeners:
            return None
        deadline = self.cluster.deadline_for(endpoints.settings).within(_NODE_SECONDS)
        try:
            settings = self.cluster.controller_settings or endpoints.settings
            with Connection(listeners[0][1], settings, deadline) as connection:
                if connection.versions_of("DescribeConfigs") is None:
                    return None
                configs = describe_configs(connection, ResourceType.BROKER, [str(node)], (key,))
                configured = configs.get(str(node), {}).get(key)
                return (configured and configured.value) or ""
        except WireError:
            return None


def listeners_in(image: MetadataImage | None, node: int) -> list[Listener]:
    """Read the listeners of a controller's registration (KIP-919); none without one.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    if image is None or node not in image.controllers:
        return []
    registration = image.read(image.controllers[node])[1]
    return [
        (str(point["name"]), Address(str(point["host"]), int(point["port"])))
        for point in registration["endPoints"]
    ]


def require_leader(access: ClusterAccess) -> None:
    """Ask for the leader, so that wrong addresses or a lost quorum fail at once.

    Raises:
        WireError: no server answers, or none leads, or it is not permitted.
    """
    try:
        QuorumAccess(access).ask(describe_quorum)
    except WireError as error:
        if error.code not in ("no-leader", "no-answer"):
            raise
        refusal = error.with_traceback(None)  # whose frames keep an answer of up to 100 MiB
        refusal.__context__ = None
    else:
        return
    text, states = without_leader(access, refusal)
    hint = no_leader(1, len(states)).hint
    raise WireError(text, hint, code="no-leader", addresses=[*states])


def without_leader(access: ClusterAccess, error: WireError) -> tuple[str, Mapping[str, str]]:
    """Say which controllers answer although no leader does, and what each answers.

    Raises:
        WireError: no server answers at all, so that nothing is known.
    """
    endpoints = access.controllers
    if endpoints is not None:
        addresses = {(*named.address,): named.node_id for named in endpoints.bootstrap}
        answers = survey(addresses, endpoints.settings, endpoints.cluster_id, SURVEY_SECONDS)
        answering = {answer.address: answer.refusal or "it answers" for answer in answers}
        if answering:
            names = [str(named.address) for named in endpoints.bootstrap]
            states = {name: answering.get(name, "it does not answer") for name in names}
            return no_leader(len(answering), len(states)).message, states
    if access.brokers is None:
        raise error
    access.renew_deadline()
    access.check()
    return f"the quorum has no leader that answers: {error.message}", {"brokers": "one answers"}
