"""`kafka-cluster wait`: wait for a number of brokers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from kraftops.errors import UsageError, WireError
from kraftops_cli.cluster.options import cluster_syntax, target_options
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.values import Number
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops_cli.cluster.target import KeptImage, Target

EXAMPLES = (
    (
        "after a rolling restart",
        "kafka-cluster wait -b localhost:9092 --for brokers=3:unfenced --timeout 300",
    ),
    (
        "before the next restart",
        "kafka-cluster wait -b b:9092 --for broker=103:unfenced --for no-under-replicated",
    ),
)
_PAUSE_SECONDS = 0.5
_MAX_COUNT = 0x7FFFFFFF
_TOO_LATE = 5  # the exit code


@click.command(
    cls=ToolCommand,
    syntax=cluster_syntax("brokers", "unfenced", "until", "conditions"),
    name="wait",
    examples=EXAMPLES,
    help="""\
Wait until conditions are true, all at one moment.

Conditions are brokers=N (so many or more are registered; fenced ones count, too),
brokers=N:unfenced, broker=ID:fenced, broker=ID:unfenced, broker=ID:gone (it is not registered),
broker=ID:empty (it has no replicas), no-under-replicated and no-reassignments.

Addresses that refuse connections are tried again until --timeout is over. -C reads the metadata
log, and needs CLUSTER_ACTION on the cluster. With -b, only Kafka 4.0 and later list fenced
brokers.""",
)
@target_options
@click.option(
    "--brokers",
    metavar="N",
    type=Number(_MAX_COUNT),
    hidden=True,
    help="The least number of brokers, as --for brokers=N.",
)
@click.option("--unfenced", is_flag=True, hidden=True, help="Count only unfenced brokers.")
@click.option("--until", multiple=True, hidden=True, help="The former name of --for.")
@click.option(
    "--for",
    "conditions",
    metavar="CONDITION",
    multiple=True,
    help="A condition, as broker=103:fenced; may be given more than once.",
)
@click.pass_obj
def wait(
    terminal: Terminal,
    /,
    form: str,
    *,
    until: tuple[str, ...],
    conditions: tuple[str, ...],
    **options: Any,
) -> int:
    """Run the subcommand; return its exit code."""
    brokers, unfenced = options.pop("brokers"), options.pop("unfenced")
    from kraftops_cli.cluster.target import target_of

    if conditions := (*conditions, *until):
        from kraftops_cli.cluster.moving.wait_until import wait_until

        if brokers is not None or unfenced:
            raise UsageError("--for and --brokers do not go together")
        return wait_until(terminal, form, conditions, target_of(terminal, **options))
    if brokers is None:
        raise UsageError("argument --for is required")
    target = target_of(terminal, **options)
    condition = _Condition(brokers, unfenced)
    fenced = _wait(target, condition)
    count = condition.count(fenced)
    print_answer(
        terminal,
        form,
        "wait",
        lambda: {
            "clusterId": _cluster_id(target),
            "count": count,
            "brokers": [{"id": each, "isFenced": is_fenced} for each, is_fenced in fenced.items()],
        },
        lambda: f"{_brokers_are(count)} {'unfenced' if unfenced else 'registered'}.\n",
    )
    return 0


@dataclass(frozen=True, slots=True)
class _Condition:
    """The number of brokers to wait for; fenced brokers may not count."""

    wanted: int
    only_unfenced: bool

    def count(self, fenced: dict[int, bool]) -> int:
        """Return the number of brokers that count."""
        return sum(not (is_fenced and self.only_unfenced) for is_fenced in fenced.values())


def _wait(target: Target, condition: _Condition) -> dict[int, bool]:
    """Return the brokers by id, and whether they are fenced, as soon as enough are there.

    Raises:
        WireError: the deadline is over, or the question is not permitted.
    """
    from kraftops.wire.rpc.error_codes import may_pass
    from kraftops_cli.cluster.target import KeptImage

    count = 0
    has_answer = False
    last_error: WireError | None = None
    kept = KeptImage()
    while True:
        try:
            fenced = _fenced_by_id(target, kept)
        except WireError as error:
            if not may_pass(error):
                raise
            # An earlier result tells more than the missing time for another try.
            if not target.deadline.is_over or not (has_answer or last_error):
                last_error = error
        else:
            has_answer, last_error = True, None
            count = condition.count(fenced)
            if count >= condition.wanted:
                return fenced
        if target.deadline.is_over:
            raise _too_late(target, count, condition.wanted, last_error)
        time.sleep(max(0.0, min(_PAUSE_SECONDS, target.deadline.left)))


def _fenced_by_id(target: Target, kept: KeptImage) -> dict[int, bool]:
    """Return the brokers by id, and whether they are fenced."""
    from kraftops.wire.rpc.cluster import lists_fenced
    from kraftops_cli.cluster.broker_states import fenced_by_id

    if target.is_of_controllers:
        return fenced_by_id(kept.of(target).image)
    with target.connect() as connection:
        nodes = target.nodes(connection, with_fenced=lists_fenced(connection)).nodes
    return {node.node_id: bool(node.is_fenced) for node in nodes}


def _cluster_id(target: Target) -> str | None:
    """Return the id of the cluster; None if it may not be seen."""
    # The last broker may have come just before the deadline.
    target = target.restarted()
    try:
        with target.connect() as connection:
            return target.nodes(connection).cluster_id
    except WireError:
        return None


def _too_late(target: Target, count: int, wanted: int, last_error: WireError | None) -> WireError:
    waited = f"{target.deadline.seconds:g} s"
    if last_error is not None:
        addition = "" if f"within {waited}" in last_error.message else f"; tried for {waited}"
        code = last_error.code if last_error.exit_code == _TOO_LATE else "not-in-time"
        late = WireError(f"{last_error.message}{addition}", last_error.hint, code=code)
        return late.with_known(last_error.known)
    return WireError(
        f"{target.bootstrap[0].address}: {_brokers_are(count)} there after {waited}, not {wanted}",
        hint="--timeout SECONDS waits longer",
        code="not-in-time",
        count=count,
    )


def _brokers_are(count: int) -> str:
    return "1 broker is" if count == 1 else f"{count} brokers are"
