"""`kafka-cluster controllers`: show the voters of the quorum, add, remove and replace them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import click

from kraftops.answers.fields import Answer, Field, boolean, number, parts, text
from kraftops.display import columns
from kraftops.display.columns import Cell, Styled
from kraftops.errors import UsageError, WireError
from kraftops.image.state.image import MetadataImage
from kraftops.reassign.events import events
from kraftops.voters.access import QuorumAccess, listeners_in, require_leader
from kraftops.voters.change import VoterChanges
from kraftops.voters.quorum import Quorum, end_offset, leader_time
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.rpc.voters import Listener
from kraftops_cli.cluster.broker_states import KeptState
from kraftops_cli.cluster.description import OBSERVER, Member, age_of, members_in
from kraftops_cli.cluster.description_fields import REPLICA, ago_text
from kraftops_cli.cluster.health import controller_facts
from kraftops_cli.cluster.moving.access import Work, cluster_command
from kraftops_cli.cluster.options import ChangeOptions
from kraftops_cli.syntax.option_fields import argument, option
from kraftops_cli.syntax.values import JavaInteger
from kraftops_terminal.console import Console
from kraftops_terminal.tables import table_of, table_text

ADD, REMOVE, REPLACE = "add", "remove", "replace"
CONTROLLER, BROKER = "controller", "broker"
_LISTENER = re.compile(r"([A-Za-z0-9_-]+)://(.+)")


def _listener(text: str) -> Listener:
    match = _LISTENER.fullmatch(text)
    if match is None or "," in text:
        raise UsageError(f"--listener: {text!r} is not NAME://HOST:PORT")
    return match[1], parse_bootstrap(match[2])[0].address


@dataclass(frozen=True, kw_only=True)
class ControllersOptions(ChangeOptions):
    """The values of the options."""

    action: str | None = argument(required=False, type=click.Choice((ADD, REMOVE, REPLACE)))
    node: int | None = option("--id", "-i ID", type=JavaInteger(), help="The controller.")
    by: int | None = option("--by ID", type=JavaInteger(), help="Its successor. Default: itself.")
    listeners: tuple[Listener, ...] = option(
        "--listener NAME://HOST:PORT",
        multiple=True,
        callback=lambda _context, _param, texts: tuple(map(_listener, texts)),
        help="A listener of the new voter; may be given more than once.",
    )

    def __post_init__(self) -> None:
        """Refuse options without a meaning for the action, or without its id."""
        values = {"--id": self.node, "--by": self.by, "--listener": self.listeners}
        taken = {None: (), ADD: ("--id", "--listener"), REMOVE: ("--id",)}.get(self.action, values)
        for name, value in values.items():
            if value not in (None, ()) and name not in taken:
                action = self.action or "a look at the controllers"
                raise UsageError(f"{name} does not go with {action}")
        if self.action is not None and self.node is None:
            raise UsageError("argument --id/-i is required")


@cluster_command(ControllersOptions, needs_brokers=False, answer="CONTROLLERS")
def controllers(work: Work, options: ControllersOptions) -> int:
    action, node = options.action, options.node
    access = QuorumAccess(work.access)
    require_leader(work.access)
    if action is None or node is None:
        _show(work, access)
        return 0
    work.confirm(str(node), f"{action} controller {node}")
    report = work.printer()
    changes = VoterChanges(access, report, options.listeners)
    has_changed = _change(changes, action, node, options.by)
    _show(work, access, DONE if has_changed else ALREADY, report.events)
    return 0


def _change(changes: VoterChanges, action: str, node: int, by: int | None) -> bool:
    if action == ADD:
        return changes.add(node)
    if action == REMOVE:
        return changes.remove(node)
    return changes.replace(node, node if by is None else by)


def _show(
    work: Work,
    access: QuorumAccess,
    outcome: str | None = None,
    events: list[Mapping[str, object]] | None = None,
) -> None:
    """Print the quorum as it is now."""
    quorum = access.quorum()
    answer = ControllersAnswer(quorum, members_of(access, quorum), outcome, events or ())
    work.show(CONTROLLERS.fields, answer, controllers_text(answer, work.terminal.console))


def controllers_text(answer: ControllersAnswer, console: Console) -> str:
    info = answer.quorum.info
    kind = "dynamic voters" if answer.quorum.is_dynamic else "static voters"
    head = f"leader {info.leader}, epoch {info.epoch}, {kind}\n"
    if answer.outcome == ALREADY:
        head = f"nothing to do: it is done already\n{head}"
    return head + table_text(console, table_of(MEMBER, answer.members))


DONE, ALREADY = "done", "already"


class ControllersAnswer(NamedTuple):
    """The quorum with its members; *outcome* is None where nothing was asked to change."""

    quorum: Quorum
    members: Sequence[Member]
    outcome: str | None = None
    events: Sequence[Mapping[str, object]] = ()


def _contact_cell(member: Member) -> Cell:
    age = age_of(member.state.fetched_at, member.now)
    text = None if age is None else ago_text(age)
    return text if text is None or member.is_caught_up else Styled(text, "warning")


def _join_cell(member: Member) -> Cell:
    return None if member.joins_itself is None else "yes" if member.joins_itself else "no"


def _with_contact(field: Field) -> Field:
    """Give the age of the last fetch the column that the last moment without lag has elsewhere."""
    if field.name == "lastFetchAgeMs":
        return replace(field, column=columns.Column("LAST CONTACT", 1), cell=_contact_cell)
    return replace(field, column=None) if field.name == "lastCaughtUpAgeMs" else field


MEMBER = (
    *map(_with_contact, REPLICA),
    text(
        "kind?",
        "role of its node; null for an observer without the metadata log",
        values=(CONTROLLER, BROKER),
        column=("KIND", 4),
    ),
    boolean("isCaughtUp", "whether it has had all records since the question"),
    boolean(
        "isAutoJoining?",
        "whether it has controller.quorum.auto.join.enable; null if it does not answer",
        column=("AUTO JOIN", 6),
        get="joins_itself",
        cell=_join_cell,
    ),
)
CONTROLLERS = Answer(
    (
        boolean(
            "changed", "whether voters were changed", get=lambda answer: answer.outcome == DONE
        ),
        text(
            "outcome?",
            "of add, remove and replace; null where nothing is asked to change",
            values=(DONE, ALREADY),
        ),
        number("leader", "node id of the leader", get="quorum.info.leader"),
        number("epoch", "epoch of the leader", get="quorum.info.epoch"),
        number(
            "highWatermark",
            "offset after the last committed record",
            get="quorum.info.high_watermark",
        ),
        boolean(
            "isDynamic",
            "whether voters can be added and removed: kraft.version is 1",
            get="quorum.is_dynamic",
        ),
        parts("members", "voters and observers", MEMBER),
        events(number("id", "node id of the controller")),
    ),
    help="A field is null if the leader does not know it, or the user may not see it.",
)


def members_of(access: QuorumAccess, quorum: Quorum) -> list[Member]:
    """Join voters, observers and registrations; controllers that fetch are asked for auto-join.

    Raises:
        KraftopsError: a source can no longer be read.
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
