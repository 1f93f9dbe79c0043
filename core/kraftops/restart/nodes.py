"""The nodes to restart, with the registrations that tell one process of a node from the next."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from kraftops.errors import KraftopsError
from kraftops.image.state.image import MetadataImage
from kraftops.uuids import to_text

BROKER, CONTROLLER = "broker", "controller"


class Node(NamedTuple):
    """A node by its registrations: the incarnation id by role, new with each start (KIP-500).

    Kafka's BrokerServer and ControllerServer draw it when they start.
    """

    node_id: int
    host: str
    rack: str | None
    incarnations: Mapping[str, str]

    @property
    def roles(self) -> str:
        """Its roles, as `process.roles` has them."""
        return ",".join(self.incarnations)

    @property
    def is_controller(self) -> bool:
        """Whether it is a controller, and perhaps a broker as well."""
        return CONTROLLER in self.incarnations


def nodes_in(image: MetadataImage) -> dict[int, Node]:
    """Join brokers and controllers that have registered: one node may be both.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    nodes: dict[int, Node] = {}
    for node_id, entry in image.brokers.items():
        state = image.broker_state(entry)
        host = state["endPoints"][0]["host"] if state["endPoints"] else ""
        incarnations = {BROKER: to_text(state["incarnationId"])}
        nodes[node_id] = Node(node_id, str(host), state["rack"], incarnations)
    for node_id, address in image.controllers.items():
        registration = image.read(address)[1]
        points = registration["endPoints"]
        node = nodes.get(node_id) or Node(node_id, str(points[0]["host"]), None, {})
        incarnation = {CONTROLLER: to_text(registration["incarnationId"])}
        nodes[node_id] = node._replace(incarnations={**node.incarnations, **incarnation})
    return dict(sorted(nodes.items()))


def chosen(nodes: Mapping[int, Node], ids: Collection[int], role: str | None) -> dict[int, Node]:
    """Choose nodes by id and role; without *ids* all, without *role* both.

    Raises:
        KraftopsError: an id is not registered, as controllers before metadata.version 3.7:
            nothing would tell that they have restarted.
    """
    if missing := sorted({*ids} - nodes.keys()):
        raise KraftopsError(
            f"node {missing[0]} is not registered",
            hint=f"registered are: {', '.join(map(str, nodes))}",
            code="not-found",
        )
    return {
        node_id: node
        for node_id, node in nodes.items()
        if (not ids or node_id in ids) and (role is None or role in node.incarnations)
    }


def in_order(nodes: Collection[Node], leader: int) -> list[Node]:
    """Return nodes in the order of their restarts: brokers by rack, then controllers.

    The leader of the quorum comes last: each of its restarts is an election.
    """

    def place(node: Node) -> tuple[bool, bool, str, int]:
        return node.is_controller, node.node_id == leader, node.rack or "", node.node_id

    return sorted(nodes, key=place)
