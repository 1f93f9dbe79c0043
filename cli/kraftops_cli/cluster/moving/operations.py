"""`kafka-cluster operations`: all that is under way in a cluster, and its end."""

from collections.abc import Sequence
from dataclasses import dataclass

import click

from kraftops.errors import RefusedError, UsageError
from kraftops.reassign.marks import DECOMMISSION, RESTART
from kraftops.reassign.operations import Operation, operations_under_way
from kraftops.reassign.steering import (
    Steered,
    cancel_operation,
    clear_throttles_of,
    follow_to_end,
    named,
)
from kraftops.restart.rolling import cancel_restart
from kraftops_cli.cluster.moving.access import Work, cluster_command, move_options
from kraftops_cli.cluster.moving.decommission import begin_decommission
from kraftops_cli.cluster.moving.operations_output import print_steered, show_operations
from kraftops_cli.cluster.options import ChangeOptions, PlanOptions, stall_option, throttle_option
from kraftops_cli.syntax.option_fields import argument

ACTIONS = ("cancel", "resume", "clear-throttles")
_DONE = {"cancel": "is cancelled", "clear-throttles": "its throttles are removed"}


@dataclass(frozen=True, kw_only=True)
class OperationsOptions(ChangeOptions):
    """The values of the options."""

    action: str | None = argument(required=False, type=click.Choice(ACTIONS))
    names: tuple[str, ...] = argument(nargs=-1, metavar="[NAME]...")
    throttle: int | None = throttle_option()
    stall_timeout: float = stall_option()

    def __post_init__(self) -> None:
        """Refuse an action without the names of operations."""
        if self.action is not None and not self.names:
            raise UsageError(
                f"{self.action} needs the names of operations", hint="without it, all are shown"
            )


@cluster_command(OperationsOptions, answer="kraftops.reassign.answer:ANSWER")
def operations(work: Work, options: OperationsOptions) -> int:
    access, action = work.access, options.action
    if action is None:
        return show_operations(work)
    placement = access.patiently(access.placement)
    under_way = access.patiently(lambda: operations_under_way(access, placement))
    chosen = named(under_way, options.names)
    if action == "resume":
        return _resume(work, chosen, options)
    return _steer(work, action, chosen)


def _steer(work: Work, action: str, chosen: Sequence[Operation]) -> int:
    word = ",".join(operation.name for operation in chosen)
    work.confirm(word, f"{action} {word}")
    steered = []
    for operation in chosen:
        if action == "cancel":
            if operation.kind == RESTART:
                cancel_restart(work.access)
            steered.append(cancel_operation(work.access, operation))
        else:
            clear_throttles_of(work.access, operation)
            steered.append(Steered(operation))
    return print_steered(work, steered, _DONE[action])


def _resume(work: Work, chosen: Sequence[Operation], options: OperationsOptions) -> int:
    plan = PlanOptions(throttle=options.throttle, stall_timeout=options.stall_timeout)
    printer = work.printer()
    for operation in chosen:
        if operation.kind == RESTART:
            raise RefusedError(
                "only its author has the command of a restart",
                hint="kafka-cluster restart with its --hook goes on with the nodes that are left",
            )
        if operation.kind == DECOMMISSION:
            code = begin_decommission(work, frozenset(operation.brokers), plan)
            if code:
                return code
        else:
            follow_to_end(work.access, operation, move_options(plan), printer)
    if all(operation.kind == DECOMMISSION for operation in chosen):
        return 0
    return print_steered(work, [Steered(operation) for operation in chosen], "has ended")
