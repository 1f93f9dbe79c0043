"""What `kafka-cluster repair` answers: the outcome of each partition, and what can be had of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import NamedTuple

from kraftops.answers.fields import Answer, boolean, number, numbers, parts, text
from kraftops.display.columns import Column, Styled
from kraftops.display.columns import number as number_column
from kraftops.findings.finding import HAS_FINDINGS
from kraftops.placement.answer import PARTITION_FIELDS
from kraftops.placement.placement import Placement, TopicPartition
from kraftops.placement.repair import Leaderless, Repair
from kraftops_cli.cluster.moving.plan_output import PLAN


class RepairOutcome(StrEnum):
    """What became of a partition."""

    PLANNED = "planned"
    REPAIRED = "repaired"
    ELECTED = "elected"
    """Repaired after an unclean election."""
    LEADERLESS = "leaderless"
    NO_BROKER = "no-broker"
    """No other broker takes its replica."""
    NOT_MOVED = "not-moved"


_GOOD = {RepairOutcome.REPAIRED, RepairOutcome.ELECTED, RepairOutcome.PLANNED}


class RepairedPartition(NamedTuple):
    """A partition with its outcome; *leaderless* where it has none to copy from."""

    partition: TopicPartition
    outcome: RepairOutcome
    leaderless: Leaderless | None = None


class RepairAnswer(NamedTuple):
    """All partitions that lost replicas; *is_changed* where something was done."""

    partitions: Sequence[RepairedPartition]
    is_changed: bool

    @property
    def exit_code(self) -> int:
        """The exit code: some partitions cannot be repaired, or all are."""
        return 0 if all(repaired.outcome in _GOOD for repaired in self.partitions) else HAS_FINDINGS


def outcomes_of(
    repair: Repair,
    placement: Placement,
    lost: set[TopicPartition],
    elected: Collection[TopicPartition] | None,
) -> list[RepairedPartition]:
    """Return the outcomes of partitions that had *lost* replicas, by the plan that is left.

    Without *elected* ones, nothing has been done yet.
    """
    missing = {move.partition for move in repair.plan.moves}
    leaderless = {lost_leader.partition: lost_leader for lost_leader in repair.leaderless}
    outcomes = []
    for partition in sorted(lost & placement.partitions.keys()):
        if partition in leaderless:
            outcome = RepairOutcome.LEADERLESS
        elif partition in repair.plan.stuck:
            outcome = RepairOutcome.NO_BROKER
        elif partition in missing:
            outcome = RepairOutcome.PLANNED if elected is None else RepairOutcome.NOT_MOVED
        else:
            is_elected = partition in (elected or ())
            outcome = RepairOutcome.ELECTED if is_elected else RepairOutcome.REPAIRED
        outcomes.append(RepairedPartition(partition, outcome, leaderless.get(partition)))
    return outcomes


def _ids(brokers: Sequence[int]) -> str | None:
    return ",".join(map(str, brokers)) or None


def stake_text(leaderless: Sequence[Leaderless]) -> str:
    """Return the number of records that elections may lose; "unknown" if one is."""
    stakes = [partition.at_stake for partition in leaderless]
    return "unknown" if None in stakes else f"{sum(filter(None, stakes)):,}"


def what_can_be_had(leaderless: Leaderless) -> str:
    """Return what to do about a partition without a leader."""
    texts = []
    last = ", ".join(map(str, leaderless.last_in_sync))
    if last:
        texts.append(f"start broker {last}, or read its disk: --from DIR, or kafka-storage compare")
    if leaderless.live:
        live = ", ".join(map(str, leaderless.live))
        name = leaderless.partition
        texts.append(f"or let broker {live} lead, which lacks records: --elect-unclean {name}")
    return "; ".join(texts) or "no replica is known: delete the topic, and create it again"


PARTITION = (
    *PARTITION_FIELDS,
    text(
        "outcome",
        "what became of it",
        values=RepairOutcome,
        column=Column("OUTCOME"),
        cell=lambda repaired: Styled(
            repaired.outcome, "good" if repaired.outcome in _GOOD else "bad"
        ),
    ),
    numbers(
        "lastInSync",
        "brokers that had all acknowledged records, or led last, of a partition without a leader",
        may_be_null=True,
        get="leaderless.last_in_sync",
        column=Column("LAST IN SYNC", 1),
        cell=lambda repaired: repaired.leaderless and _ids(repaired.leaderless.last_in_sync),
    ),
    numbers(
        "liveReplicas",
        "brokers with a replica that lacks records, of a partition without a leader",
        may_be_null=True,
        get="leaderless.live",
        column=Column("LIVE", 1),
        cell=lambda repaired: repaired.leaderless and _ids(repaired.leaderless.live),
    ),
    number(
        "recordsAtStake",
        "that an unclean election may lose, by the disks of --from; null: unknown",
        may_be_null=True,
        get="leaderless.at_stake",
        column=number_column("AT STAKE", 2),
        cell=lambda repaired: repaired.leaderless and stake_text([repaired.leaderless]),
    ),
    text(
        "remedy",
        "what can still be had of a partition without a leader",
        may_be_null=True,
        get=lambda repaired: repaired.leaderless and what_can_be_had(repaired.leaderless),
    ),
)
REPAIR = Answer(
    (
        boolean("changed", "whether anything was done", get="is_changed"),
        parts(
            "outcomes",
            "all partitions that lost replicas with the brokers",
            PARTITION,
            get="partitions",
        ),
        *(field for field in PLAN.fields if field.name != "changed"),
    ),
    "With --dry-run it is a plan as well, for kafka-reassign-partitions.",
)
