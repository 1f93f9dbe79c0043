"""`kafka-cluster safe-to-stop`: tell whether brokers can be stopped without harm to partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kraftops.display.columns import Cell, Column, Styled, folded
from kraftops.display.sizes import many
from kraftops.findings.finding import HAS_FINDINGS
from kraftops_cli.cluster.moving.options import access_options, ids_option, moving_syntax
from kraftops_cli.syntax.command import ToolCommand
from kraftops_cli.syntax.values import Number
from kraftops_terminal.console import Console
from kraftops_terminal.tables import Table, table_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kraftops.placement.safety import Danger
    from kraftops_cli.cluster.moving.access import Work

EXAMPLES = (
    ("before a restart", "kafka-cluster safe-to-stop -b b:9092 --id 103"),
    ("all of a rack at once", "kafka-cluster safe-to-stop -b b:9092 --id 103,104,105"),
)
_MAX_MIN_ISR = 1000
_SHOWN = 20
_PARTITIONS = (folded("PARTITION"), Column("STATE"), folded("IN SYNC"), Column("MIN ISR"))
"""The partitions that are in danger, with the brokers that stay in sync."""


@click.command(
    cls=ToolCommand,
    syntax=moving_syntax("min_isr"),
    name="safe-to-stop",
    examples=EXAMPLES,
    help="""\
Tell whether brokers can be stopped, all at once: exit code 0, or 2 if a partition would go offline
or under min.insync.replicas.

With -b, a broker tells min.insync.replicas of each topic, with its own default. With -C alone, it
is read from the metadata log, which does not have the defaults of server.properties: --min-isr
gives them, and without it 1 is assumed, and marked.""",
)
@access_options
@ids_option()
@click.option(
    "--min-isr",
    metavar="N",
    type=Number(_MAX_MIN_ISR, minimum=1),
    help="The brokers' default of min.insync.replicas, where it cannot be seen.",
)
@click.pass_context
def safe_to_stop(
    context: click.Context,
    /,
    form: str,
    ids: tuple[tuple[int, ...], ...],
    *,
    min_isr: int | None,
    **options: Any,
) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops.placement.safety import dangers
    from kraftops.reassign.min_isr import min_isr_of_topics
    from kraftops_cli.cluster.moving.access import check_registered, flat, work_of

    work, _ = work_of(context.obj, form, options, needs_brokers=False)
    brokers = flat(ids)
    with work.access as access:
        placement = access.placement()
        if access.lists_fenced:
            check_registered(placement, brokers)
        access.refuse_hidden_topics()
        known = min_isr_of_topics(access, placement, min_isr)
    found = dangers(placement, brokers, known)
    _print(work, brokers, found)
    return HAS_FINDINGS if found else 0


def _print(work: Work, brokers: frozenset[int], found: Sequence[Danger]) -> None:
    if work.is_json:
        fields = {
            "isSafe": not found,
            "brokers": sorted(brokers),
            "partitions": [_json(danger) for danger in found],
        }
        work.terminal.answer("safe-to-stop", fields)
    else:
        work.terminal.write("".join(_lines(brokers, found, work.terminal.console)))


def _json(danger: Danger) -> dict[str, object]:
    return {
        "topic": danger.partition.topic,
        "partition": danger.partition.number,
        "isr": [*danger.left],
        "minIsr": danger.min_isr.value,
        "isMinIsrAssumed": danger.min_isr.is_assumed,
        "isOffline": danger.is_offline,
    }


def _lines(brokers: frozenset[int], found: Sequence[Danger], console: Console) -> Iterator[str]:
    ids = ", ".join(map(str, sorted(brokers)))
    if not found:
        yield f"{ids}: safe to stop\n"
        return
    offline = sum(danger.is_offline for danger in found)
    yield (
        f"{ids}: not safe to stop: {many(offline, 'partition')} would be offline,"
        f" {len(found) - offline} under min ISR\n"
    )
    yield table_text(console, Table(_PARTITIONS, map(_cells, found[:_SHOWN])))
    if found[_SHOWN:]:
        yield f"and {len(found) - _SHOWN} more\n"


def _cells(danger: Danger) -> list[Cell]:
    needed = f"{danger.min_isr.value}{' (assumed)' if danger.min_isr.is_assumed else ''}"
    state = "offline" if danger.is_offline else "under min ISR"
    left = ",".join(map(str, danger.left))
    return [str(danger.partition), Styled(state, "bad"), left or None, needed]
