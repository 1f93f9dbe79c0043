"""What `kafka-cluster safe-to-stop` answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kraftops.answers.fields import Answer, boolean, number, numbers, parts, text, texts
from kraftops.display import columns
from kraftops.display.columns import Cell, Styled
from kraftops.placement.answer import PARTITION_FIELDS
from kraftops.placement.safety import Danger
from kraftops.voters.stop import Stop, StopRules

BROKER, CONTROLLER = "broker", "controller"


class StopAnswer(NamedTuple):
    """The stop of the nodes that are named, if any, and that of each node alone."""

    rules: StopRules
    asked: Stop | None
    alone: Sequence[Stop]

    @property
    def is_safe(self) -> bool:
        """Whether the nodes that are named may stop, or else each one alone."""
        if self.asked is None:
            return all(stop.is_safe for stop in self.alone)
        return self.asked.is_safe

    @property
    def dangers(self) -> list[Danger]:
        """The partitions in danger by the nodes that are named."""
        if self.asked is None:
            return []
        return sorted([*self.asked.dangers, *self.asked.single_replicas])

    def rows(self) -> list[NodeStop]:
        """Return each node with its roles."""
        voters = self.rules.quorum.voters if self.rules.quorum else frozenset()
        rows = []
        for stop in self.alone:
            node = stop.nodes[0]
            roles = [BROKER] if node in self.rules.placement.brokers else []
            rows.append(NodeStop(node, roles + [CONTROLLER] * (node in voters), stop))
        return rows


class NodeStop(NamedTuple):
    """A node, its roles, and its stop."""

    node: int
    roles: Sequence[str]
    stop: Stop


def _answer_cell(row: NodeStop) -> Cell:
    return Styled("safe", "good") if row.stop.is_safe else Styled("not safe", "bad")


DANGER = (
    *PARTITION_FIELDS,
    boolean(
        "isOffline",
        "whether no replica stays in sync",
        column=columns.Column("STATE"),
        cell=lambda danger: Styled("offline" if danger.is_offline else "under min ISR", "bad"),
    ),
    numbers(
        "isr",
        "The replicas that stay in sync",
        get="left",
        column=columns.folded("IN SYNC"),
        cell=lambda danger: ",".join(map(str, danger.left)) or None,
    ),
    number(
        "minIsr",
        "its min.insync.replicas",
        get="min_isr.value",
        column=columns.Column("MIN ISR"),
        cell=lambda danger: f"{danger.min_isr.value}{' (assumed)' * danger.min_isr.is_assumed}",
    ),
    boolean(
        "isMinIsrAssumed",
        "whether it could not be seen, and is taken to be 1",
        get="min_isr.is_assumed",
    ),
    boolean("isSingleReplica", "whether it has only one replica"),
)
"""The fields of a partition that is in danger."""
NODE = (
    number("id", "node id", column=columns.number("NODE"), get="node"),
    texts(
        "roles",
        "broker, controller or both; of controllers, those that vote",
        column=columns.Column("ROLES", 1),
        cell=lambda row: ", ".join(row.roles) or None,
    ),
    boolean(
        "isSafe",
        "whether it may stop alone",
        column=columns.Column("STOP"),
        get="stop.is_safe",
        cell=_answer_cell,
    ),
    number("offline", "partitions with several replicas that would be offline", get="stop.offline"),
    number(
        "underMinIsr",
        "partitions that would be under min.insync.replicas",
        get=lambda row: len(row.stop.dangers) - row.stop.offline,
    ),
    number(
        "singleReplicas",
        "partitions whose only replica it has",
        get=lambda row: len(row.stop.single_replicas),
    ),
    texts(
        "reasons",
        "what would be lost",
        column=columns.folded("REASON"),
        get=lambda row: row.stop.reasons(),
        cell=lambda row: "; ".join(row.stop.reasons()) or None,
    ),
)
SAFE_TO_STOP = Answer(
    (
        boolean("isSafe", "whether all that are named may stop at once; without names, each alone"),
        numbers(
            "brokers",
            "the nodes that are named; all brokers without names",
            get=lambda answer: (
                sorted(answer.rules.placement.brokers)
                if answer.asked is None
                else [*answer.asked.nodes]
            ),
        ),
        parts(
            "partitions",
            "partitions that those which are named take offline, or under min.insync.replicas",
            DANGER,
            get="dangers",
        ),
        text(
            "quorumReason",
            "why the controllers that are named must not stop",
            may_be_null=True,
            get="asked.quorum_reason",
        ),
        boolean(
            "isQuorumSeen",
            "whether the user may see the controllers",
            get=lambda answer: answer.rules.quorum is not None,
        ),
        parts("nodes", "each node alone", NODE, get=lambda answer: answer.rows()),
    )
)
