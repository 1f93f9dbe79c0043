"""What `kafka-cluster controllers` answers: the quorum, its members, and what was changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kraftops.answers.fields import Answer, Field, boolean, number, parts, text
from kraftops.display import columns
from kraftops.display.columns import Cell, Styled
from kraftops.reassign.events import events
from kraftops.voters.quorum import Quorum
from kraftops_cli.cluster.description import Member, age_of
from kraftops_cli.cluster.description_fields import REPLICA, ago_text
from kraftops_cli.cluster.members import BROKER, CONTROLLER

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
        "kind",
        "role of its node; null for an observer without the metadata log",
        values=(CONTROLLER, BROKER),
        may_be_null=True,
        column=columns.Column("KIND", 4),
    ),
    boolean("isCaughtUp", "whether it has had all records since the question"),
    boolean(
        "isAutoJoining",
        "whether it has controller.quorum.auto.join.enable; null if it does not answer",
        may_be_null=True,
        column=columns.Column("AUTO JOIN", 6),
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
            "outcome",
            "of add, remove and replace; null where nothing is asked to change",
            values=(DONE, ALREADY),
            may_be_null=True,
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
    help="null stands for what the leader does not know, or the user may not see.",
)
