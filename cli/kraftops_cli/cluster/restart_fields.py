"""What `kafka-cluster restart` answers: the nodes in their order, and what was done."""

from __future__ import annotations

from typing import NamedTuple

from kraftops.answers.fields import Answer, boolean, number, numbers, parts, text
from kraftops.display import columns
from kraftops.display.sizes import many
from kraftops.display.times import span_text
from kraftops.reassign.events import events
from kraftops.restart.decide import View
from kraftops.restart.nodes import Node, in_order
from kraftops.restart.rolling import SECONDS_A_NODE, Restart
from kraftops.voters.stop import Stop
from kraftops_cli.cluster.moving.stop_fields import NODE as STOP_NODE


class Row(NamedTuple):
    """A node, its command, and whether it may stop now."""

    node: int
    registration: Node
    stop: Stop
    command: str


class RestartAnswer(NamedTuple):
    """The nodes to restart, as they are before it."""

    request: Restart
    view: View
    is_dry: bool

    def rows(self) -> list[Row]:
        """Return the nodes in their order."""
        return [
            Row(
                node.node_id,
                node,
                self.view.rules.stop([node.node_id]),
                self.request.hook.command(node),
            )
            for node in in_order(self.request.nodes.values(), self.view.leader)
        ]

    def estimate(self) -> str:
        """Return in words how long it may take."""
        count = len(self.request.nodes)
        span = span_text(count * SECONDS_A_NODE * 1000)
        return f"{many(count, 'node')}, about {span} if each takes a minute\n"


_OF_STOP = {"id", "isSafe", "reasons"}
NODE = (
    *(field for field in STOP_NODE if field.name in _OF_STOP),
    text(
        "roles",
        "broker, controller, or both",
        column=columns.Column("ROLES", 1),
        get="registration.roles",
    ),
    text(
        "rack",
        "rack of a broker",
        may_be_null=True,
        column=columns.Column("RACK", 1),
        get="registration.rack",
    ),
    text("host", "host of its first listener", get="registration.host"),
    text("command", "what restarts it", column=columns.folded("COMMAND")),
)
ORDER = (
    boolean("changed", "whether nodes are restarted", get=lambda answer: not answer.is_dry),
    number(
        "estimatedSeconds",
        "time that it may take, at a minute for each node",
        get=lambda answer: len(answer.request.nodes) * SECONDS_A_NODE,
    ),
    parts("nodes", "nodes in the order of their restarts", NODE, get=lambda answer: answer.rows()),
)
RESTART = Answer((*ORDER, events(numbers("ids", "its nodes"))))
