"""`kafka-cluster drain` and `undrain`: leaders away from brokers, for a restart, and back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.answers.fields import Answer, boolean, texts
from kraftops.display.columns import Cell, Column, Styled, folded
from kraftops.display.sizes import many
from kraftops.fileio.output import OutputFlags, open_output
from kraftops.fileio.writing import write_all
from kraftops.findings.finding import HAS_FINDINGS
from kraftops.placement.leaders import plan_drain, plan_restore
from kraftops.placement.placement import TopicPartition
from kraftops.placement.plan import Move
from kraftops.placement.reassignment_json import plan_json, read_plan
from kraftops.reassign.leadership import change_leaders
from kraftops.reassign.marks import DRAIN, Mark, new_author
from kraftops_cli.cluster.moving.access import Work, check_registered, cluster_command
from kraftops_cli.cluster.options import ChangeOptions, ids_option, single_replica_option
from kraftops_cli.syntax.option_fields import option
from kraftops_terminal.tables import Table, table_text

_PARTITIONS = (folded("PARTITION"), Column("LEADER"))


class _Leaders(NamedTuple):
    """The partitions whose replica lists were changed, and those that are led as before."""

    moved_partitions: Sequence[TopicPartition]
    staying_partitions: Sequence[TopicPartition]


LEADERS = Answer(
    (
        boolean(
            "changed",
            "whether any list was reordered",
            get=lambda leaders: bool(leaders.moved_partitions),
        ),
        texts("movedPartitions", "partitions whose replica list was reordered"),
        texts("stayingPartitions", "partitions that are still led as before"),
    )
)


@dataclass(frozen=True, kw_only=True)
class DrainOptions(ChangeOptions):
    """The values of the options of drain."""

    ids: tuple[int, ...] = ids_option(is_required=True)
    save: str = option(
        "--save FILE",
        required=True,
        help="Keep the old order in this file, for undrain; a second run adds to it.",
    )
    allow_single_replica: bool = single_replica_option()


@dataclass(frozen=True, kw_only=True)
class UndrainOptions(ChangeOptions):
    """The values of the options of undrain."""

    plan: str = option("--plan FILE", required=True, help="The file that drain --save has made.")


@cluster_command(DrainOptions, answer="LEADERS")
def drain(work: Work, options: DrainOptions) -> int:
    access, brokers = work.access, frozenset(options.ids)
    placement = access.patiently(access.settled)
    check_registered(placement, brokers)
    plan = plan_drain(placement, brokers)
    if plan.moves:
        work.confirm_for(brokers, _question(plan.moves))
    _save(options.save, plan.moves)
    mark = Mark(DRAIN, new_author(), brokers=tuple(sorted(brokers)))
    access.patiently(lambda: access.begin_operation(mark))
    stay = [*plan.stay, *change_leaders(access, plan.moves)]
    code = print_leaders(work, [move.partition for move in plan.moves], stay)
    are_single = all(len(placement.partitions[partition].target) == 1 for partition in stay)
    return 0 if options.allow_single_replica and are_single else code


def _save(path: str, moves: Sequence[Move]) -> None:
    """Write a plan, whole, before anything is changed.

    Partitions that the file has already keep the order that it has from before an earlier drain.

    Raises:
        UsageError: the file exists and has no plan.
        OutputError: it cannot be written.
    """
    import json
    import os

    is_stream = os.path.abspath(path).startswith("/dev/")
    saved = read_plan(path) if os.path.isfile(path) and not is_stream else {}
    kept = {
        partition: Move(partition, planned.before or planned.after, planned.after)
        for partition, planned in saved.items()
    }
    for move in moves:
        first = kept.get(move.partition)
        is_same = first is not None and {*first.before} == {*move.before}
        kept[move.partition] = first._replace(after=move.after) if first and is_same else move
    text = json.dumps(plan_json([kept[partition] for partition in sorted(kept)]), indent=1) + "\n"
    with open_output(path, flags=OutputFlags(overwrite=True)) as fd:
        write_all(fd, text.encode())


@cluster_command(UndrainOptions, answer="LEADERS")
def undrain(work: Work, options: UndrainOptions) -> int:
    access = work.access
    restore = plan_restore(access.patiently(access.settled), read_plan(options.plan))
    if restore.moves:
        work.confirm("undrain", _question(restore.moves))
    stay = change_leaders(access, restore.moves)
    restored = {move.after[0] for move in restore.moves}
    access.patiently(lambda: access.end_operation(DRAIN, restored))
    moved = [move.partition for move in restore.moves]
    return print_leaders(work, moved, [*restore.changed, *stay])


def _question(moves: Sequence[Move]) -> str:
    return f"change the order of the replicas of {many(len(moves), 'partition')}"


def print_leaders(
    work: Work, moved: Sequence[TopicPartition], stay: Sequence[TopicPartition]
) -> int:
    """Print the partitions that were changed, and those that are led as before; return the code."""
    rows: list[list[Cell]] = [
        [str(partition), Styled("led as before", "warning")] for partition in stay
    ]
    work.show(
        LEADERS.fields,
        _Leaders(moved, stay),
        f"replica lists reordered: {many(len(moved), 'partition')}\n"
        + table_text(work.terminal.console, Table(_PARTITIONS, rows)),
    )
    return HAS_FINDINGS if stay else 0
