"""`kafka-cluster problems`: partitions that are offline or lack replicas, by their causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import sleep
from typing import NamedTuple

from kraftops.answers.fields import (
    Answer,
    boolean,
    number,
    numbers,
    part,
    parts,
    size,
    text,
    texts,
    time,
)
from kraftops.display import quoting
from kraftops.display.columns import Styled
from kraftops.display.sizes import many, size_text
from kraftops.display.times import iso_time
from kraftops.findings.finding import HAS_FINDINGS, Cure
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.memory import Budget
from kraftops.placement.answer import PARTITION_FIELDS
from kraftops.placement.metadata_facts import facts_of
from kraftops.placement.placement import Placement, placement_of
from kraftops.placement.problems import (
    HARMLESS,
    Affected,
    Cause,
    Evidence,
    Problem,
    State,
    find_problems,
    topics_of,
)
from kraftops.placement.safety import MinIsr
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.disks import disks_of
from kraftops.reassign.min_isr import logged_min_isr, min_isr_of_topics
from kraftops_cli.cluster.moving.access import Work, cluster_command
from kraftops_cli.cluster.options import AccessOptions, min_isr_option, refuse_together
from kraftops_cli.syntax.option_fields import option
from kraftops_terminal.escaping import escaped

_LOOK_SECONDS = 2.0
"""Between two looks at followers: they fetch every 0.5 s at least (replica.fetch.wait.max.ms)."""


@dataclass(frozen=True, kw_only=True)
class ProblemsOptions(AccessOptions):
    """The values of the options."""

    snapshot: str | None = option(
        "--snapshot",
        "-s SOURCE",
        help="Instead of a cluster: a directory with the metadata log, a snapshot or a segment.",
    )
    min_isr: int | None = min_isr_option()

    def __post_init__(self) -> None:
        """Refuse a cluster beside a source."""
        refuse_together({"--snapshot": self.snapshot, "--bootstrap-server": self.bootstrap_server})
        refuse_together({"--snapshot": self.snapshot, "-C": self.bootstrap_controller})


@cluster_command(ProblemsOptions, needs_brokers=False, answer="PROBLEMS")
def problems(work: Work, options: ProblemsOptions) -> int:
    """Run the subcommand; return its exit code."""
    if options.snapshot is not None:
        facts = _in_log(options.snapshot, options.min_isr, work.terminal.budget)
    else:
        facts = _in_cluster(work.access, options.min_isr)
    answer = Problems(find_problems(*facts), options.bootstrap_server or "HOST:PORT")
    work.show(PROBLEMS.fields, answer, "".join(_lines(work, answer)))
    return answer.exit_code


def _in_log(
    source: str, default: int | None, budget: Budget
) -> tuple[Placement, dict[str, MinIsr], Evidence]:
    image = load(source, new_image=partial(MetadataImage, budget=budget))
    placement = placement_of(image)
    needed = logged_min_isr(image, image.sorted_topics, default)
    return placement, needed, Evidence(log=facts_of(image, placement))


def _in_cluster(
    access: ClusterAccess, default: int | None
) -> tuple[Placement, dict[str, MinIsr], Evidence]:
    placement = access.placement()
    if not access.sees_all():
        access.note("topics may be hidden: the user may not do everything on the cluster")
    needed = min_isr_of_topics(access, placement, default)
    facts = facts_of(access.metadata(), placement)
    if access.brokers is None:
        return placement, needed, Evidence(log=facts)
    disks = disks_of(access, placement)
    later = disks
    if disks and any(
        len(replicas.isr) < len(replicas.replicas) for replicas in placement.partitions.values()
    ):
        sleep(_LOOK_SECONDS)
        later = disks_of(access, placement)
    return placement, needed, Evidence(disks, later, facts)


def _lines(work: Work, answer: Problems) -> Iterator[str]:
    counts = answer.counts
    yield (
        f"offline: {counts[State.OFFLINE]}, under min ISR: {counts[State.UNDER_MIN_ISR]},"
        f" under-replicated: {counts[State.UNDER_REPLICATED]}, not led by the preferred replica:"
        f" {counts[State.OTHER_LEADER]}\n"
    )
    for problem in answer.causes:
        yield f"\n{escaped(cause_text(problem))}\n"
        if problem.change:
            change = problem.change
            yield f"by {change.record} at offset {change.offset} of the metadata log\n"
        yield work.first_of(AFFECTED, problem.affected)
        cure = cure_of(problem, answer.brokers)
        yield f"cure: {escaped(': '.join(filter(None, (cure.text, '; '.join(cure.commands)))))}\n"


_STYLES = {State.OFFLINE: "bad", State.UNDER_MIN_ISR: "bad", State.UNDER_REPLICATED: "warning"}


class Problems(NamedTuple):
    """The problems of a cluster; *brokers* are the addresses for commands."""

    causes: Sequence[Problem]
    brokers: str

    @property
    def counts(self) -> Counter[State]:
        """The partitions by state; each counts in one."""
        states = {
            affected.partition: affected.state
            for problem in reversed(self.causes)
            for affected in problem.affected
        }
        return Counter(states.values())

    @property
    def exit_code(self) -> int:
        """The exit code: moves and other leaders alone are not findings."""
        return HAS_FINDINGS if any(problem.cause not in HARMLESS for problem in self.causes) else 0


def cause_text(problem: Problem) -> str:
    since = ""
    if problem.change:
        before = "before " if problem.change.is_upper_bound else ""
        since = f" since {before}{iso_time(problem.change.time)}"
    broker = f"broker {problem.broker}"
    return {
        Cause.BROKER_DOWN: f"{broker} {'has been' if since else 'is'} down{since}",
        Cause.DIRECTORY_FAILED: (
            f"{broker}: log directory {', '.join(problem.directories) or 'unknown'}"
            f" has failed{since}"
        ),
        Cause.CORDONED: f"{broker}: all log directories are cordoned, and take no replica",
        Cause.FOLLOWER_BEHIND: f"{broker} is behind: {_behind_text(problem.affected)}",
        Cause.MIN_ISR: "min.insync.replicas is larger than the number of replicas",
        Cause.REASSIGNMENT: "a reassignment is in flight",
        Cause.OTHER_LEADER: "a replica other than the preferred one leads",
    }[problem.cause]


def _behind_text(affected: Sequence[Affected]) -> str:
    sizes = [partition.behind for partition in affected if partition.behind is not None]
    if not sizes:
        return "it is not known by how much"
    slow = sum(partition.is_catching_up is False for partition in affected)
    state = f"{many(slow, 'replica')} not catching up" if slow else "catching up"
    return f"{size_text(sum(sizes))}, {state}"


def cure_of(problem: Problem, brokers: str) -> Cure:
    server, broker = quoting.quote(brokers), problem.broker
    uncordon = (
        f"kafka-configs --bootstrap-server {server} --alter --entity-type brokers"
        f" --entity-name {broker} --delete-config cordoned.log.dirs"
    )
    elect = (
        f"kafka-leader-election --bootstrap-server {server} --election-type preferred"
        " --all-topic-partitions"
    )
    repair = f"kafka-cluster repair -b {server} --id {broker}"
    wait = f"kafka-cluster wait -b {server} --for"
    factors = (
        f"kafka-cluster replication -b {server} --topic {quoting.quote(topic)} --factor N"
        for topic in topics_of(problem.affected)
    )
    if any(affected.is_catching_up is False for affected in problem.affected):
        return Cure("look into the broker's log; a restart starts its fetches again")
    return {
        Cause.BROKER_DOWN: Cure(
            "start it; if it is gone for good, give its replicas to others", (repair,)
        ),
        Cause.DIRECTORY_FAILED: Cure(
            "replace the disk and restart the broker, or give its replicas to others", (repair,)
        ),
        Cause.CORDONED: Cure("remove the cordon", (uncordon,)),
        Cause.FOLLOWER_BEHIND: Cure("wait", (f"{wait} no-under-replicated",)),
        Cause.REASSIGNMENT: Cure("wait", (f"{wait} no-reassignments",)),
        Cause.OTHER_LEADER: Cure("have the preferred replicas lead", (elect,)),
        Cause.MIN_ISR: Cure(
            "give the topics more replicas, or a smaller min.insync.replicas", tuple(factors)
        ),
    }[problem.cause]


_CHANGE = (
    number("offset", "offset in the metadata log"),
    time("time", "time of the record"),
    text("record", "type of the record"),
    boolean("isUpperBound", "whether only a snapshot has it, so that it came before"),
)
AFFECTED = (
    *PARTITION_FIELDS,
    text(
        "state",
        "its state",
        values=State,
        column="STATE",
        cell=lambda affected: Styled(
            affected.state.replace("-", " "), _STYLES.get(affected.state, "")
        ),
    ),
    number(
        "leader?",
        "broker id; null without a leader",
        get=lambda affected: affected.replicas.leader if affected.replicas.leader >= 0 else None,
        column=("LEADER", 2),
    ),
    numbers("replicas", "broker ids", get="replicas.replicas", column=("REPLICAS", 3)),
    numbers("isr", "broker ids in sync", get="replicas.isr", column=("IN SYNC", 1)),
    size(
        "behindBytes?",
        "that the replica has less than the leader",
        get="behind",
        column=("BEHIND", 4),
    ),
    boolean("isCatchingUp?", "whether these become fewer, between two looks"),
    part(
        "lastChange?",
        "of the partition, in the metadata log",
        _CHANGE,
        get="change",
        column=("CHANGED", 5),
        cell=lambda affected: affected.change and iso_time(affected.change.time),
    ),
)
_PROBLEM = (
    text("cause", "cause", values=Cause, get=lambda pair: pair[0].cause),
    text("text", "the cause in a sentence", get=lambda pair: cause_text(pair[0])),
    number("brokerId?", "broker", get=lambda pair: pair[0].broker),
    texts(
        "directories",
        "log directories that have failed: paths, or ids of the metadata log",
        get=lambda pair: [*pair[0].directories],
    ),
    part("since?", "the change in the metadata log", _CHANGE, get=lambda pair: pair[0].change),
    text("cure", "what to do", get=lambda pair: cure_of(*pair).text),
    texts("commands", "commands for it", get=lambda pair: [*cure_of(*pair).commands]),
    parts("partitions", "what it affects", AFFECTED, get=lambda pair: pair[0].affected),
)


def _count_of(state: State) -> Callable[[Problems], int]:
    return lambda problems: problems.counts[state]


PROBLEMS = Answer(
    (
        number("offline", "partitions without a leader", get=_count_of(State.OFFLINE)),
        number("underMinIsr", "others under their min ISR", get=_count_of(State.UNDER_MIN_ISR)),
        number(
            "underReplicated",
            "others with too few replicas in sync",
            get=_count_of(State.UNDER_REPLICATED),
        ),
        number(
            "otherLeader",
            "others that are not led by their preferred replica",
            get=_count_of(State.OTHER_LEADER),
        ),
        parts(
            "problems",
            "causes, the worst first",
            _PROBLEM,
            get=lambda problems: [(problem, problems.brokers) for problem in problems.causes],
        ),
    ),
    "A partition with several causes is in each of them, and counts once, in its worst state.",
)
