"""`kafka-cluster restart`: restart brokers and controllers, while all stays available."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.answers.fields import Answer, boolean, number, numbers, parts, text
from kraftops.display import columns
from kraftops.display.sizes import many
from kraftops.display.times import span_text
from kraftops.errors import RefusedError
from kraftops.findings.finding import HAS_FINDINGS
from kraftops.reassign.events import events
from kraftops.restart.decide import View
from kraftops.restart.hook import Hook
from kraftops.restart.nodes import Node, chosen, in_order
from kraftops.restart.rolling import (
    SECONDS_A_NODE,
    Restart,
    Rolling,
    check_alone,
    follow_log,
    look,
    refuse_impossible,
)
from kraftops.voters.stop import Stop
from kraftops_cli.cluster.moving.access import Work, check_topics, cluster_command
from kraftops_cli.cluster.moving.safe_to_stop import NODE as STOP_NODE
from kraftops_cli.cluster.options import (
    UNCOUNTED_TOPIC,
    ChangeOptions,
    ids_option,
    names_option,
    single_replica_option,
    stall_option,
)
from kraftops_cli.syntax.option_fields import flag, option
from kraftops_cli.syntax.values import Number, Plural, Seconds

_ROLES = {"brokers": "broker", "controllers": "controller"}
"""Roles as `process.roles` has them, which users type too, by the names of their nodes."""
_MOST_AT_ONCE = 1000  # more than any cluster has nodes


@dataclass(frozen=True, kw_only=True)
class RestartOptions(ChangeOptions):
    """The values of the options."""

    ids: tuple[int, ...] = ids_option()
    hook: str = option(
        "--hook COMMAND",
        required=True,
        help="Restarts a node; {id}, {host}, {role} and {rack} stand for its own.",
    )
    roles: str | None = option("--roles", type=Plural(_ROLES), help="Only nodes with this role.")
    at_once: int = option(
        "--at-once N",
        type=Number(_MOST_AT_ONCE, minimum=1),
        default=1,
        help="How many brokers of a rack may restart at once, as far as that is safe.",
    )
    hook_timeout: float = option(
        "--hook-timeout SECONDS",
        type=Seconds(),
        default=300.0,
        help="The command is killed after this long.",
    )
    stall_timeout: float = stall_option()
    dry_run: bool = flag(
        "--dry-run", help="Only print the order. Exit code 2: a node may not stop now."
    )
    allow_single_replica: bool = single_replica_option()
    exclude_topic: tuple[str, ...] = names_option("--exclude-topic", UNCOUNTED_TOPIC)
    take_over: bool = flag(
        "--take-over", help="Go on with a restart whose process has ended, also on another host."
    )


@cluster_command(RestartOptions, answer="RESTART")
def restart(work: Work, options: RestartOptions) -> int:
    access = work.access
    follow_log(access)
    begun = check_alone(access, takes_over=options.take_over)
    if begun and not begun.issuperset(options.ids):
        raise RefusedError(
            f"the restart of {', '.join(map(str, sorted(begun)))} has not ended",
            hint=(
                "run the same restart again to go on; kafka-cluster operations cancel "
                "restart ends it"
            ),
        )
    request = _request(work, begun or options.ids, options)
    return _run(work, Rolling(access, request, work.printer()), request, options)


def _request(work: Work, ids: Collection[int], options: RestartOptions) -> Restart:
    nodes, placement = work.access.patiently(lambda: look(work.access))
    check_topics(placement, options.exclude_topic)
    return Restart(
        nodes=chosen(nodes, ids, options.roles and _ROLES[options.roles]),
        hook=Hook(options.hook, options.hook_timeout),
        stall_seconds=options.stall_timeout,
        at_once=options.at_once,
        allows_single_replica=options.allow_single_replica,
        excluded=options.exclude_topic,
    )


def _run(work: Work, rolling: Rolling, request: Restart, options: RestartOptions) -> int:
    """Print the order, and restart the nodes."""
    view = rolling.view()
    answer = RestartAnswer(request, view, is_dry=options.dry_run)
    work.show(ORDER, answer, work.table(NODE, answer.rows()) + answer.estimate())
    if options.dry_run:
        return 0 if all(row.stop.is_safe for row in answer.rows()) else HAS_FINDINGS
    refuse_impossible(view)
    count = many(len(request.nodes), "node")
    work.confirm("restart", f"restart {count}")
    try:
        rolling.run()
    except (KeyboardInterrupt, SystemExit):  # or by a signal
        work.terminal.error("interrupted: run it again to go on")
        raise
    if not work.terminal.is_json:
        work.terminal.write(f"restarted: {count}\n")
    return 0


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
    text("roles", "broker, controller, or both", column=("ROLES", 1), get="registration.roles"),
    text("rack?", "rack of a broker", column=("RACK", 1), get="registration.rack"),
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
