"""Output of operations: those that are under way, and those that were cancelled."""

from collections.abc import Collection, Sequence

from kraftops.findings.finding import HAS_FINDINGS
from kraftops.reassign.answer import OPERATION, OPERATIONS, STEERING
from kraftops.reassign.operations import measured, operations_under_way
from kraftops.reassign.steering import Steered
from kraftops_cli.cluster.moving.access import Work
from kraftops_terminal.escaping import escaped

_LOOK_SECONDS = 3.0
"""Between two looks at the bytes: followers fetch several times a second, but in bursts."""


def show_operations(work: Work, kind: str | None = None, brokers: Collection[int] = ()) -> int:
    """Print the operations that are under way, those of a kind and of brokers; return the code."""
    access = work.access
    placement = access.patiently(access.placement)
    chosen = [
        operation
        for operation in access.patiently(lambda: operations_under_way(access, placement))
        if kind in (None, operation.kind)
        and (not brokers or not {*operation.brokers}.isdisjoint(brokers))
    ]
    chosen = access.patiently(lambda: measured(access, placement, chosen, _LOOK_SECONDS))
    text = work.table(OPERATION, chosen) or "nothing is under way\n"
    work.show(OPERATIONS, chosen, text)
    return 0


def print_steered(work: Work, steered: Sequence[Steered], done: str) -> int:
    """Print operations that were cancelled, or what else was *done*; return the exit code."""
    lines = []
    for operation, cancelled, refused in steered:
        what = f"cancelled in flight: {len(cancelled)}" if cancelled else done
        lines.append(f"{operation.name}: {what}\n")
        for partition, refusal in sorted(refused.items()):
            lines.append(f"{escaped(f'{partition}: not cancelled: {refusal.message}')}\n")
    work.show(STEERING, steered, "".join(lines))
    return HAS_FINDINGS if any(operation.refused for operation in steered) else 0
