"""`kafka-cluster repair`: replace the replicas of brokers or log directories that are gone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraftops.display.sizes import many
from kraftops.errors import KraftopsError, RefusedError
from kraftops.placement.disks import Disks
from kraftops.placement.metadata_facts import MetadataFacts, facts_of
from kraftops.placement.placement import Placement, TopicPartition, shown
from kraftops.placement.plan import Limits
from kraftops.placement.problems import Evidence, lost_replicas
from kraftops.placement.repair import Repair, plan_repair
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.disks import disks_of
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
from kraftops_cli.cluster.moving.new_plan import shown_plan
from kraftops_cli.cluster.moving.repair_fields import (
    PARTITION,
    REPAIR,
    RepairAnswer,
    outcomes_of,
    stake_text,
    what_can_be_had,
)
from kraftops_cli.cluster.options import NewPlanOptions, ids_option
from kraftops_cli.syntax.option_fields import option
from kraftops_terminal.escaping import escaped

if TYPE_CHECKING:
    from kraftops.recovery.partitions.comparison import ComparedCopy  # imports a reader of disks

EXAMPLES = (
    ("broker 105 is gone for good", "kafka-cluster repair -b b:9092 -C c:9093 --id 105"),
    (
        "also let a replica lead that lacks records",
        "kafka-cluster repair -b b:9092 --id 105 --elect-unclean orders-3",
    ),
)


@dataclass(frozen=True, kw_only=True)
class RepairOptions(NewPlanOptions):
    """The values of the options."""

    ids: tuple[int, ...] = ids_option(is_required=True)
    elect_unclean: tuple[str, ...] = option(
        "--elect-unclean",
        metavar="TOPIC-N,...",
        multiple=True,
        help="Partitions without a leader for which a replica may lead that lacks records.",
    )
    disks: tuple[str, ...] = option(
        "--from",
        metavar="DIR|ARCHIVE",
        multiple=True,
        help="The disk of a broker, of those that are gone and those that run, which tells the"
        " records at stake, as for kafka-storage compare; may be given more than once.",
    )


@cluster_command(
    RepairOptions,
    answer="kraftops_cli.cluster.moving.repair_fields:REPAIR",
    examples=EXAMPLES,
    help="""\
Give others the replicas of brokers that are down for good; of a broker that runs, those in its
failed log directories.

The plan is shown and must be confirmed. A partition with a leader gets a copy of it. One without a
leader is listed with what can still be had: the brokers that had all acknowledged records, as the
metadata log tells with -C, and replicas that run but lack records. One of these leads only if the
partition is named by --elect-unclean: records that it lacks are lost. How many these are, the disks
of the brokers tell (--from): no server does.

Each partition has an outcome; the exit code is 2 if some cannot be repaired. Nobody is
unregistered: decommission does that. If it is killed, run it again.""",
)
def repair(work: Work, options: RepairOptions) -> int:
    """Run the subcommand; return its exit code."""
    access = work.access
    access.refuse_hidden_topics()
    placement = access.patiently(access.placement_for_plan)
    image = access.metadata()
    facts = MetadataFacts() if image is None else facts_of(image, placement)
    log_dirs = disks_of(access, placement)
    lost = _lost(placement, options.ids, log_dirs, facts)
    limits = limits_of(placement, options, log_dirs)
    task = _Task(work, lost, limits, facts, _copies(access, options.disks))
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
        """Return what is left to do."""
        leaderships = self.facts.leaderships
        return plan_repair(placement, self.lost, self.limits, leaderships, self.copies)

    def answer(
        self, placement: Placement, elected: Collection[TopicPartition] | None = None
    ) -> RepairAnswer:
        """Return what has become of the partitions; before anything was done, what is planned."""
        outcomes = outcomes_of(self.plan(placement), placement, self.partitions, elected)
        return RepairAnswer(outcomes, is_changed=False)


def _copies(access: ClusterAccess, names: Sequence[str]) -> Sequence[ComparedCopy]:
    """Return the copies of partitions on disks.

    Raises:
        KraftopsError: a disk cannot be read, or is of another cluster.
    """
    from kraftops.recovery.archives import unpacked
    from kraftops.recovery.partitions.comparison import compare
    from kraftops.recovery.partitions.disk import read_disks

    if not names:
        return ()
    cluster_id = access.patiently(lambda: access.ask(describe_cluster)).cluster_id
    with unpacked(names) as sources:
        disks = read_disks(sources)
        for disk in disks:
            if disk.cluster_id not in (None, cluster_id):
                raise RefusedError(f"{disk.name} is of another cluster: {disk.cluster_id}")
        return compare(copy for disk in disks for copy in disk.copies).copies


def _lost(
    placement: Placement, brokers: Collection[int], disks: Disks, facts: MetadataFacts
) -> dict[int, frozenset[TopicPartition]]:
    """Return the partitions whose replicas are lost, by broker.

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
    """Return the partitions that options name for an unclean election.

    Raises:
        KraftopsError: a partition does not exist.
        RefusedError: it needs no unclean election, or no replica runs.
    """
    by_name = {str(partition): partition for partition in placement.partitions}
    leaderless = {partition_lost.partition: partition_lost for partition_lost in plan.leaderless}
    partitions = []
    for name in (name for text in texts for name in text.split(",")):
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
    if not work.is_json and plan.leaderless:
        _print(work, task.answer(placement), only_leaderless=True)
    if elected:
        word = ",".join(map(str, elected))
        stakes = stake_text([lost for lost in plan.leaderless if lost.partition in elected])
        action = f"lose records of {shown(elected)}: {stakes}"
        work.confirm(word, action)
    if plan.plan.moves:
        word = ",".join(map(str, sorted(task.lost)))
        action = f"give others the replicas of {many(len(plan.plan.moves), 'partition')}"
        work.confirm(word, action)
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
