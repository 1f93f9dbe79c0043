"""The voters and observers of a quorum, with what is known of their nodes."""

from __future__ import annotations

from kraftops.errors import WireError
from kraftops.image.state.image import MetadataImage
from kraftops.voters.access import QuorumAccess, listeners_in
from kraftops.voters.quorum import Quorum, end_offset, leader_time
from kraftops_cli.cluster.broker_states import KeptState
from kraftops_cli.cluster.description import OBSERVER, Member, members_in
from kraftops_cli.cluster.health import controller_facts

CONTROLLER, BROKER = "controller", "broker"


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
    facts = {} if image is None else KeptState().facts(image) | controller_facts(image)
    members = []
    for member in members_in(info, end_offset(info), leader_time(info), facts):
        node, is_voter = member.state.node_id, member.role != OBSERVER
        registered = listeners_in(image, node)
        is_caught_up = quorum.is_caught_up(member.state)
        kind = CONTROLLER if is_voter else _kind_of(image, node)
        joins = None
        if kind == CONTROLLER and (is_caught_up or not is_voter):
            joins = access.joins_itself(node, member.listeners or registered)
        members.append(
            member._replace(
                listeners=member.listeners if is_voter else registered,
                is_caught_up=is_caught_up,
                kind=kind,
                joins_itself=joins,
            )
        )
    return members


def _kind_of(image: MetadataImage | None, node: int) -> str | None:
    if image is None:
        return None
    return CONTROLLER if node in image.controllers else BROKER if node in image.brokers else None
