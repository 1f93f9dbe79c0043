"""`kafka-cluster decommission`: take brokers out of a cluster."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import click

from kraftops.answers.fields import Answer, boolean, in_some_forms, number, parts, text, texts
from kraftops.errors import RefusedError, UsageError
from kraftops.findings.finding import HAS_FINDINGS
from kraftops.placement.placement import Placement, TopicPartition, names, shown
from kraftops.placement.plan import Move
from kraftops.placement.reassignment_json import checked_plan, read_plan
from kraftops.reassign.answer import OPERATIONS, STEERING
from kraftops.reassign.decommission import (
    Decommission,
    End,
    check_all_moved,
    check_decommission,
    is_leaving,
)
from kraftops.reassign.decommission import decommission as run_decommission
from kraftops.reassign.marks import DECOMMISSION
from kraftops.reassign.moves import Mover, run_moves
from kraftops.reassign.operations import Operation
from kraftops.reassign.steering import cancel_operation
from kraftops_cli.cluster.moving.access import (
    Work,
    check_registered,
    cluster_command,
    limits_of,
    move_options,
)
from kraftops_cli.cluster.moving.operations_output import print_steered, show_operations
from kraftops_cli.cluster.moving.plans import BROKER, PLAN, shown_plan
from kraftops_cli.cluster.options import PlanOptions, ids_option, refuse_together
from kraftops_cli.syntax.option_fields import argument, flag, given_options
from kraftops_terminal.escaping import escaped

_OF_MOVES = {"batch", "throttle", "stall_timeout"}
_OF_NEW_MOVES = {"wait", "no_wait", "to", "exclude_topic", "dry_run", "check_disks"}
_IGNORED = {"status": {*_OF_MOVES, *_OF_NEW_MOVES, "plan"}, "cancel": _OF_NEW_MOVES}
"""The parameters that have no meaning for an action."""
_OUTCOMES = {
    "already": "is not registered",
    "done": "is decommissioned",
    "empty": "is empty and can be stopped",
    "stranded": "keeps partitions that cannot be copied",
}
_BROKER = (
    number("id", "broker", get=itemgetter(0)),
    text(
        "outcome",
        "what became of it; empty: it can be stopped",
        values=_OUTCOMES,
        get=itemgetter(1),
    ),
)
_ENDED = (
    boolean("changed", "whether anything was moved", get="end.has_changed"),
    parts(
        "brokers",
        "each with its outcome; of a plan all, before and after",
        _BROKER,
        get=lambda ended: ended.outcomes.items(),
    ),
    texts(
        "strandedPartitions",
        "partitions without a leader, which are not moved",
        get=lambda ended: sorted(ended.end.stranded),
    ),
)
_CANCELLED = (
    boolean(
        "changed",
        "whether anything was moved",
        get=lambda cancelled: bool(cancelled.cancelled_partitions or cancelled.moved_back),
    ),
    texts("cancelledPartitions", "partitions whose move was cancelled"),
    texts("movedBackPartitions", "partitions that are moved back", get="moved_back"),
    texts(
        "movedPartitions",
        "of cancel without a plan: partitions that stay where they are",
        get="moved",
    ),
)
ANSWER = Answer(
    in_some_forms(
        *(field for field in PLAN.fields if field.name != "brokers"),
        replace(_ENDED[1], fields=(_BROKER[0], *in_some_forms(_BROKER[1], *BROKER[1:]))),
        *_ENDED[2:],
        *_CANCELLED[1:],
        *OPERATIONS,
        *STEERING[1:],
    ),
    "The outcome; with --dry-run a plan; of status and cancel as of the command operations.",
)


@dataclass(frozen=True, kw_only=True)
class DecommissionOptions(PlanOptions):
    """The values of the options."""

    ids: tuple[int, ...] = ids_option()
    action: str | None = argument(required=False, type=click.Choice([*_IGNORED]))
    wait: bool = flag("--wait", help="Wait until the brokers are stopped; the default.")
    no_wait: bool = flag(
        "--no-wait", help="End when they are empty; the next run unregisters them."
    )

    def __post_init__(self) -> None:
        """Refuse options that exclude each other, or have no meaning for the action."""
        super().__post_init__()
        refuse_together({"--wait": self.wait, "--no-wait": self.no_wait})
        if self.action is not None:
            _refuse_ignored(click.get_current_context(), self.action)
        if not self.ids and self.action != "status":
            raise UsageError(
                "argument --id/-i is required", hint="kafka-cluster describe lists the brokers"
            )


@cluster_command(DecommissionOptions, answer="ANSWER")
def decommission(work: Work, options: DecommissionOptions) -> int:
    brokers = frozenset(options.ids)
    if options.action == "status":
        return show_operations(work, DECOMMISSION, brokers)
    if options.action == "cancel":
        return cancel(work, brokers, options)
    return begin_decommission(work, brokers, options, waits=not options.no_wait)


def _refuse_ignored(context: click.Context, action: str) -> None:
    """Refuse options that have no meaning for `status` or `cancel`.

    Raises:
        UsageError: one is given.
    """
    spellings = given_options(context)
    for name, spelling in spellings.items():
        if name in _IGNORED[action]:
            raise click.UsageError(f"{spelling} and {action} do not go together", context)
        if name in _OF_MOVES and "plan" not in spellings:
            raise click.UsageError(f"{spelling} goes with --plan for {action}", context)


def begin_decommission(
    work: Work, brokers: frozenset[int], options: PlanOptions, *, waits: bool = True
) -> int:
    """Begin a decommission, or go on with one; return the exit code."""
    access = work.access
    placement, disks = work.look()
    planned = None
    if options.plan is not None:
        planned = checked_plan(options.plan, placement, leaving=brokers)
    limits = limits_of(placement, options, disks)
    request = Decommission(brokers, limits, move_options(options), planned=planned, waits=waits)
    check_decommission(access, placement, request)
    if not options.dry_run:
        check_all_moved(placement, request)
    shown_plan(work, placement, request.plan(placement).moves, disks, options)
    if options.dry_run:
        return _warn_of_rest(work, placement, request)
    if brokers & placement.brokers.keys() or any(placement.on(brokers)):
        work.confirm_for(brokers, f"decommission {_ids(brokers)}")
    try:
        end = run_decommission(access, request, work.printer())
    except (KeyboardInterrupt, SystemExit):  # or by a signal
        work.terminal.error("interrupted: run it again to go on; cancel takes it back")
        raise
    return _print_end(work, brokers, end)


def _warn_of_rest(work: Work, placement: Placement, request: Decommission) -> int:
    """Say what the run would be refused for: replicas that stay; return its exit code."""
    try:
        check_all_moved(placement, request)
    except RefusedError as refusal:
        work.terminal.error(f"note: {refusal.message}", hint=refusal.hint or "")
        return refusal.exit_code
    return 0


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, sorted(brokers)))


class _Ended(NamedTuple):
    """The end of a run, and the outcomes by broker."""

    end: End
    outcomes: Mapping[int, str]


def _print_end(work: Work, brokers: frozenset[int], end: End) -> int:
    """Print the outcome of each broker, and what could not be moved; return the exit code."""
    holders = {broker for replicas in end.stranded.values() for broker in replicas.replicas}

    def outcome(broker: int) -> str:
        if broker in holders:
            return "stranded"
        if broker in end.unregistered:
            return "done"
        return "already" if end.are_gone else "empty"

    outcomes = {broker: outcome(broker) for broker in sorted(brokers)}
    stranded = names(end.stranded)
    lines = [
        *(f"Broker {broker} {_OUTCOMES[text]}.\n" for broker, text in outcomes.items()),
        *(f"{escaped(name)}: without a leader, not moved\n" for name in stranded),
    ]
    work.show(_ENDED, _Ended(end, outcomes), "".join(lines))
    return HAS_FINDINGS if stranded else 0


class _Cancelled(NamedTuple):
    """The partitions of a decommission that is cancelled: in flight, moved back, or not back."""

    cancelled_partitions: Sequence[TopicPartition]
    moved_back: Sequence[TopicPartition]
    moved: Sequence[TopicPartition]


def cancel(work: Work, brokers: frozenset[int], options: PlanOptions) -> int:
    """End reassignments in flight, remove throttles and cordons; move back what a plan moved.

    Replicas that were moved before stay where they are without a plan: then the exit code is 2.
    """
    access = work.access
    placement = access.patiently(access.placement)
    check_registered(placement, brokers)
    work.confirm_for(brokers, f"cancel the decommission of {_ids(brokers)}")
    planned = None if options.plan is None else read_plan(options.plan)
    marks = access.patiently(access.marks).values()
    begun = [mark for mark in marks if mark.is_same(DECOMMISSION, brokers) and mark.brokers]
    before = access.patiently(lambda: access.placement_before(begun[0])) if begun else None
    operation = Operation(
        DECOMMISSION,
        tuple(sorted(brokers)),
        is_ours=True,
        moving={
            partition: replicas
            for partition, replicas in placement.moving.items()
            if is_leaving(replicas, brokers)
        },
        cordoned=tuple(sorted(brokers)),
    )
    steered = cancel_operation(access, operation)
    printer = work.printer()
    Mover(access, move_options(options), printer, DECOMMISSION).clear()
    back: list[Move] = []
    if planned is not None:
        back = _moves_back(planned, placement)
        undo = partial(_moves_back, planned)
        run_moves(access, move_options(options), printer, undo, DECOMMISSION)
    moved = _moved_away(work, before, brokers) if before and planned is None else []
    work.show(
        _CANCELLED,
        _Cancelled(steered.cancelled, [move.partition for move in back], moved),
        f"cancelled in flight: {len(steered.cancelled)}, moved back: {len(back)}\n"
        + "".join(f"{escaped(str(partition))}: stays where it is\n" for partition in moved),
    )
    code = print_steered(work, [steered], "is cancelled") if steered.refused else 0
    if planned is not None or not (begun and (moved or before is None)):
        return code
    which = shown(moved) if moved else "it is not known which these are"
    work.terminal.error(
        f"the cordon is removed; replicas that have been moved stay where they are: {which}",
        "cancel --plan FILE moves them back, if --dry-run had printed that plan",
    )
    return HAS_FINDINGS


def _moves_back(planned: Mapping[TopicPartition, Move], now: Placement) -> list[Move]:
    return [
        Move(partition, replicas.target, move.before)
        for partition, move in sorted(planned.items())
        if move.before
        and (replicas := now.partitions.get(partition)) is not None
        and not replicas.is_moving
        and replicas.target == move.after
    ]


def _moved_away(work: Work, before: Placement, brokers: frozenset[int]) -> list[TopicPartition]:
    """Look once more, settled, and list what brokers had *before*; deleted topics are left out."""
    now = work.access.patiently(work.access.settled)
    return [
        partition
        for partition, replicas in before.on(brokers)
        if (there := now.partitions.get(partition)) is not None
        and brokers.isdisjoint(there.target)
        and not brokers.isdisjoint(replicas.target)
        and not there.is_moving
    ]
