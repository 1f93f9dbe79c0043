"""`kafka-cluster repair`: replace the replicas of brokers or log directories that are gone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kraftops.answers.fields import Answer, boolean, number, numbers, parts, text
from kraftops.display.columns import Styled
from kraftops.display.sizes import many
from kraftops.errors import KraftopsError, RefusedError
from kraftops.findings.finding import HAS_FINDINGS
from kraftops.outcomes import RepairOutcome
from kraftops.placement.answer import PARTITION_FIELDS
from kraftops.placement.disks import Disks
from kraftops.placement.metadata_facts import MetadataFacts, facts_of
from kraftops.placement.placement import Placement, TopicPartition, shown
from kraftops.placement.plan import Limits
from kraftops.placement.problems import Evidence, lost_replicas
from kraftops.placement.repair import Leaderless, Repair, plan_repair
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.leadership import elect_unclean
from kraftops.reassign.marks import REPAIR as REPAIR_KIND
from kraftops.reassign.moves import refuse_others, run_moves
from kraftops.wire.rpc.cluster import describe_cluster
from kraftops_cli.cluster.moving.access import (
    Work,
    check_registered,
    cluster_command,
    limits_of,
    move_options,
)
from kraftops_cli.cluster.moving.plans import PLAN, shown_plan
from kraftops_cli.cluster.options import NewPlanOptions, ids_option
from kraftops_cli.syntax.option_fields import option
from kraftops_terminal.escaping import escaped

if TYPE_CHECKING:
    from kraftops.recovery.partitions.comparison import ComparedCopy


@dataclass(frozen=True, kw_only=True)
class RepairOptions(NewPlanOptions):
    """The values of the options."""

    ids: tuple[int, ...] = ids_option(is_required=True)
    elect_unclean: tuple[str, ...] = option(
        "--elect-unclean TOPIC-N,...",
        multiple=True,
        help="Leaderless partitions that a replica which lacks records may lead.",
    )
    disks: tuple[str, ...] = option(
        "--from DIR|ARCHIVE",
        multiple=True,
        help="The disk of a broker, of those that are gone and those that run, which tells the"
        " records at stake, as for kafka-storage compare; may be given more than once.",
    )


@cluster_command(RepairOptions, answer="REPAIR")
def repair(work: Work, options: RepairOptions) -> int:
    access = work.access
    access.refuse_hidden_topics()
    placement, log_dirs = work.look()
    facts = facts_of(access.metadata(), placement)
    lost = _lost(placement, options.ids, log_dirs, facts)
    limits = limits_of(placement, options, log_dirs)
    task = _Task(
        work=work, lost=lost, limits=limits, facts=facts, copies=_copies(access, options.disks)
    )
    elected = _electable(task.plan(placement), placement, options.elect_unclean)
    return _run(task, placement, elected, log_dirs, options)


@dataclass(frozen=True, slots=True)
class _Task:
    work: Work
    lost: dict[int, frozenset[TopicPartition]]
    limits: Limits
    facts: MetadataFacts
    copies: Sequence[ComparedCopy]

    @property
    def partitions(self) -> set[TopicPartition]:
        return {name for partitions in self.lost.values() for name in partitions}

    def plan(self, placement: Placement) -> Repair:
        leaderships = self.facts.leaderships
        return plan_repair(placement, self.lost, self.limits, leaderships, self.copies)

    def answer(
        self, placement: Placement, elected: Collection[TopicPartition] | None = None
    ) -> RepairAnswer:
        """Return what has become of the partitions; before anything was done, what is planned."""
        outcomes = outcomes_of(self.plan(placement), placement, self.partitions, elected)
        return RepairAnswer(outcomes, is_changed=False)


def _copies(access: ClusterAccess, names: Sequence[str]) -> Sequence[ComparedCopy]:
    """Compare the copies on disks, in archives or in directories, which stay as they are.

    Raises:
        KraftopsError: a disk cannot be read, or is of another cluster.
    """
    from kraftops.recovery.node_copies import opened_sources
    from kraftops.recovery.partitions.comparison import compare
    from kraftops.recovery.partitions.disk import read_disks

    if not names:
        return ()
    cluster_id = access.patiently(lambda: access.ask(describe_cluster)).cluster_id
    with opened_sources(names, lambda error: access.note(error.message)) as sources:
        disks = read_disks(sources)
        for disk in disks:
            if disk.cluster_id not in (None, cluster_id):
                raise RefusedError(f"{disk.name} is of another cluster: {disk.cluster_id}")
        return compare(copy for disk in disks for copy in disk.copies).copies


def _lost(
    placement: Placement, brokers: Collection[int], disks: Disks, facts: MetadataFacts
) -> dict[int, frozenset[TopicPartition]]:
    """List what each broker lost: all with the broker, else what lay in a failed directory.

    Raises:
        KraftopsError: a broker never was, as far as the cluster knows.
        RefusedError: a broker runs, and has all its replicas.
    """
    # Without a registration a broker may still have replicas: unregister --force leaves them.
    unregistered = {broker for broker in brokers if any(placement.on(frozenset({broker})))}
    check_registered(placement, {*brokers} - unregistered)
    evidence = Evidence(disks, log=facts)
    lost = {broker: frozenset(lost_replicas(placement, broker, evidence)) for broker in brokers}
    for broker in sorted(brokers):
        place = placement.brokers.get(broker)
        if place is not None and not place.is_fenced and not lost[broker]:
            raise RefusedError(
                f"broker {broker} runs, and none of its replicas is lost",
                hint="decommission takes it out of the cluster",
                code="broker-running",
                brokers=[broker],
            )
    return lost


def _electable(plan: Repair, placement: Placement, texts: Sequence[str]) -> list[TopicPartition]:
    """Check that only an unclean election can give the named partitions a leader.

    Raises:
        KraftopsError: a partition does not exist.
        RefusedError: it needs no unclean election, or no replica runs.
    """
    by_name = {str(partition): partition for partition in placement.partitions}
    leaderless = {partition_lost.partition: partition_lost for partition_lost in plan.leaderless}
    partitions = []
    for name in ",".join(texts).split(",") if texts else ():
        if name not in by_name:
            raise KraftopsError(f"partition {name!r} does not exist", code="not-found")
        partition = by_name[name]
        if partition not in leaderless:
            raise RefusedError(
                f"{name} needs no unclean election: it has a leader, or other brokers"
            )
        if not leaderless[partition].live:
            raise RefusedError(f"{name}: no broker that runs has a replica")
        partitions.append(partition)
    return partitions


def _run(
    task: _Task,
    placement: Placement,
    elected: Sequence[TopicPartition],
    disks: Disks,
    options: NewPlanOptions,
) -> int:
    work, access = task.work, task.work.access
    plan = task.plan(placement)
    shown_plan(work, placement, plan.plan.moves, disks, options)
    if options.dry_run:
        answer = task.answer(placement)
        _print(work, answer)
        return answer.exit_code
    refuse_others(placement.moving.keys() - task.partitions)
    if not work.terminal.is_json and plan.leaderless:
        _print(work, task.answer(placement), only_leaderless=True)
    if elected:
        stakes = stake_text([lost for lost in plan.leaderless if lost.partition in elected])
        action = f"lose records of {shown(elected)}: {stakes}"
        work.confirm(",".join(map(str, elected)), action)
    if plan.plan.moves:
        count = many(len(plan.plan.moves), "partition")
        work.confirm_for(task.lost, f"give others the replicas of {count}")
    printer = work.printer()
    elect_unclean(access, elected)
    run_moves(
        access, move_options(options), printer, lambda now: task.plan(now).plan.moves, REPAIR_KIND
    )
    now = access.patiently(access.settled)
    answer = task.answer(now, elected)._replace(is_changed=bool(elected or plan.plan.moves))
    _print(work, answer)
    return answer.exit_code


def _print(work: Work, answer: RepairAnswer, *, only_leaderless: bool = False) -> None:
    rows = [
        repaired for repaired in answer.partitions if repaired.leaderless or not only_leaderless
    ]
    text = work.table(PARTITION, rows)
    for name, _, leaderless in rows if only_leaderless else ():
        if leaderless:
            text += f"{escaped(f'{name}: {what_can_be_had(leaderless)}')}\n"
    work.show(REPAIR.fields[:2], answer, text)


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
    """Tell what a repair did to each partition that had *lost* replicas and still exists.

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
    """Sum the records that elections may lose; `unknown` if one of them is."""
    stakes = [partition.at_stake for partition in leaderless]
    return "unknown" if None in stakes else f"{sum(filter(None, stakes)):,}"


def what_can_be_had(leaderless: Leaderless) -> str:
    """Return the ways out of a partition without a leader, the lossless ones first."""
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
        column="OUTCOME",
        cell=lambda repaired: Styled(
            repaired.outcome, "good" if repaired.outcome in _GOOD else "bad"
        ),
    ),
    numbers(
        "lastInSync?",
        "brokers that had all acknowledged records, or led last, of a partition without a leader",
        get="leaderless.last_in_sync",
        column=("LAST IN SYNC", 1),
        cell=lambda repaired: repaired.leaderless and _ids(repaired.leaderless.last_in_sync),
    ),
    numbers(
        "liveReplicas?",
        "brokers with a replica that lacks records, of a partition without a leader",
        get="leaderless.live",
        column=("LIVE", 1),
        cell=lambda repaired: repaired.leaderless and _ids(repaired.leaderless.live),
    ),
    number(
        "recordsAtStake?",
        "that an unclean election may lose, by the disks of --from; null: unknown",
        get="leaderless.at_stake",
        column=("AT STAKE", 2),
        cell=lambda repaired: repaired.leaderless and stake_text([repaired.leaderless]),
    ),
    text(
        "remedy?",
        "what can still be had of a partition without a leader",
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
