"""The voters and observers of a quorum, with what is known of their nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraftops.errors import WireError
from kraftops.voters.access import listeners_in
from kraftops.voters.quorum import Quorum, end_offset, leader_time
from kraftops_cli.cluster.broker_states import KeptState
from kraftops_cli.cluster.health import NodeFacts, controller_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraftops.image.state.image import MetadataImage
    from kraftops.voters.access import QuorumAccess
    from kraftops.wire.rpc.cluster import ReplicaState
    from kraftops.wire.rpc.voters import Listener

LEADER, VOTER, OBSERVER = "leader", "voter", "observer"
CONTROLLER, BROKER = "controller", "broker"


@dataclass(frozen=True, slots=True)
class Member:
    """A voter or an observer; *now* is the leader's time in ms.

    Without the metadata log, the *kind* of an observer is not known, nor any release.
    """

    role: str
    state: ReplicaState
    lag: int | None
    is_caught_up: bool
    listeners: Sequence[Listener]
    kind: str | None
    release: str | None
    joins_itself: bool | None
    now: int

    @property
    def node_id(self) -> int:
        """The id of its node."""
        return self.state.node_id

    @property
    def end_offset(self) -> int | None:
        """The end of its log; None if the leader does not know it."""
        return self.state.end_offset if self.state.end_offset >= 0 else None


def members_of(access: QuorumAccess, quorum: Quorum) -> list[Member]:
    """Return the members; controllers that fetch are asked whether they join by themselves.

    Raises:
        KraftopsError: a source cannot be read any more.
    """
    info = quorum.info
    try:
        image = access.image()
    except WireError as error:
        access.cluster.note(f"releases and observers' kinds are not known: {error.message}")
        image = None
    facts = _facts(image)
    end, now = end_offset(info), leader_time(info)
    members = []
    for is_voter, states in ((True, info.voters), (False, info.observers)):
        for state in states:
            node = state.node_id
            listeners = info.listeners.get(node, ()) if is_voter else listeners_in(image, node)
            role = LEADER if node == info.leader else VOTER if is_voter else OBSERVER
            kind = CONTROLLER if is_voter else _kind_of(image, node)
            joins = None
            if kind == CONTROLLER and (quorum.is_caught_up(state) or not is_voter):
                joins = access.joins_itself(node, listeners or listeners_in(image, node))
            members.append(
                Member(
                    role,
                    state,
                    max(end - state.end_offset, 0) if state.end_offset >= 0 else None,
                    quorum.is_caught_up(state),
                    listeners,
                    kind,
                    facts.get(node, NodeFacts()).release,
                    joins,
                    now,
                )
            )
    return members


def _kind_of(image: MetadataImage | None, node: int) -> str | None:
    if image is None:
        return None
    return CONTROLLER if node in image.controllers else BROKER if node in image.brokers else None


def _facts(image: MetadataImage | None) -> dict[int, NodeFacts]:
    """Return what nodes have registered, by id."""
    return {} if image is None else KeptState().facts(image) | controller_facts(image)
