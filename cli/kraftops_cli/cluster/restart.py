"""`kafka-cluster restart`: restart brokers and controllers, while all stays available."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import click

from kraftops.display.sizes import many
from kraftops.errors import RefusedError
from kraftops.findings.finding import HAS_FINDINGS
from kraftops.restart.hook import Hook
from kraftops.restart.nodes import chosen
from kraftops.restart.rolling import (
    Restart,
    Rolling,
    check_alone,
    follow_log,
    look,
    refuse_impossible,
)
from kraftops_cli.cluster.moving.access import Work, check_topics, cluster_command
from kraftops_cli.cluster.options import (
    UNCOUNTED_TOPIC,
    ChangeOptions,
    ids_option,
    single_replica_option,
    stall_option,
    topics_option,
)
from kraftops_cli.cluster.restart_fields import NODE, ORDER, RestartAnswer
from kraftops_cli.syntax.option_fields import option
from kraftops_cli.syntax.values import Number, Seconds

_ROLES = {"brokers": "broker", "controllers": "controller"}
_MOST_AT_ONCE = 1000
EXAMPLES = (
    (
        "all nodes, by ssh",
        "kafka-cluster restart -b b:9092 --hook 'ssh {host} systemctl restart kafka'",
    ),
    (
        "in which order, and may they stop?",
        "kafka-cluster restart -b b:9092 --hook 'ssh {host} systemctl restart kafka' --dry-run",
    ),
    (
        "brokers, up to three of a rack at once",
        "kafka-cluster restart -b b:9092 --hook ./restart.sh\\ {id} --roles brokers --at-once 3",
    ),
)


@dataclass(frozen=True, kw_only=True)
class RestartOptions(ChangeOptions):
    """The values of the options."""

    ids: tuple[int, ...] = ids_option()
    hook: str = option(
        "--hook",
        metavar="COMMAND",
        required=True,
        help="Restarts a node; {id}, {host}, {role} and {rack} stand for its own.",
    )
    roles: str | None = option(
        "--roles", type=click.Choice([*_ROLES]), help="Only nodes with this role."
    )
    at_once: int = option(
        "--at-once",
        metavar="N",
        type=Number(_MOST_AT_ONCE, minimum=1),
        default=1,
        help="Most brokers of a rack to restart at once, as far as that is safe.",
    )
    hook_timeout: float = option(
        "--hook-timeout",
        metavar="SECONDS",
        type=Seconds(),
        default=300.0,
        help="The command is killed after so long.",
    )
    stall_timeout: float = stall_option()
    dry_run: bool = option(
        "--dry-run", is_flag=True, help="Only print the order; 2 if a node may not stop now."
    )
    allow_single_replica: bool = single_replica_option()
    exclude_topic: tuple[str, ...] = topics_option(UNCOUNTED_TOPIC)
    take_over: bool = option(
        "--take-over",
        is_flag=True,
        help="Go on with a restart whose process has ended, as on another host that is gone.",
    )


@cluster_command(
    RestartOptions,
    answer="kraftops_cli.cluster.restart_fields:RESTART",
    examples=EXAMPLES,
    help="""\
Restart nodes by a command, one after another: brokers, rack by rack; then controllers, and the
active one last.

For each it waits until the node may stop, as safe-to-stop says; has other brokers lead its
partitions; runs the command in a shell of this host; and waits until the node has registered as a
new process, is unfenced, has all its log directories and is in sync, or as a controller has caught
up. Then it leads again, and the next begins.

It stops at the first node that does not come back, whose command fails, or that may not stop for
--stall-timeout. It can be killed at any moment: the same restart goes on with the nodes that are
left. `operations` shows it, and `operations cancel restart` ends it and gives the leaders back.

The metadata log is followed: by -C, or by the controllers that brokers name since Kafka 3.9.""",
)
def restart(work: Work, options: RestartOptions) -> int:
    """Run the subcommand; return its exit code."""
    access = work.access
    follow_log(access)
    begun = check_alone(access, takes_over=options.take_over)
    if begun and not begun.issuperset(options.ids):
        raise RefusedError(
            f"the restart of {', '.join(map(str, sorted(begun)))} has not ended",
            hint="the same restart goes on; kafka-cluster operations cancel restart ends it",
        )
    request = _request(work, begun or options.ids, options)
    return _run(work, Rolling(access, request, work.printer()), request, options)


def _request(work: Work, ids: Collection[int], options: RestartOptions) -> Restart:
    nodes, placement = work.access.patiently(lambda: look(work.access))
    check_topics(placement, options.exclude_topic)
    return Restart(
        chosen(nodes, ids, options.roles and _ROLES[options.roles]),
        Hook(options.hook, options.hook_timeout),
        options.stall_timeout,
        options.at_once,
        options.allow_single_replica,
        options.exclude_topic,
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
        work.terminal.error("interrupted: the same again goes on")
        raise
    if not work.is_json:
        work.terminal.write(f"restarted: {count}\n")
    return 0
