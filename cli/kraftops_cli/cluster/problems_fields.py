"""What `kafka-cluster problems` answers: causes, what they affect, and commands that cure them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kraftops.answers.fields import Answer, boolean, number, numbers, part, parts, text, texts, time
from kraftops.display.columns import Column, Styled
from kraftops.display.columns import number as number_column
from kraftops.display.sizes import many, size_text
from kraftops.display.times import iso_time
from kraftops.findings.finding import HAS_FINDINGS, Cure
from kraftops.placement.answer import PARTITION_FIELDS
from kraftops.placement.problems import HARMLESS, Affected, Cause, Problem, State, topics_of

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
    """Return a sentence about a cause."""
    since = ""
    if problem.change:
        before = "before " if problem.change.is_upper_bound else ""
        since = f" since {before}{iso_time(problem.change.time)}"
    broker = f"broker {problem.broker}"
    return {
        Cause.BROKER_DOWN: f"{broker} is down{since}",
        Cause.DIRECTORY_FAILED: (
            f"{broker}: log directory {', '.join(problem.directories) or 'unknown'}"
            f" has failed{since}"
        ),
        Cause.CORDONED: f"{broker}: all log directories are cordoned, and take no replica",
        Cause.FOLLOWER_BEHIND: f"{broker} is behind: {_behind_text(problem.affected)}",
        Cause.MIN_ISR: "min.insync.replicas is larger than the number of replicas",
        Cause.REASSIGNMENT: "a reassignment is in flight",
        Cause.OTHER_LEADER: "another replica than the preferred one leads",
    }[problem.cause]


def _behind_text(affected: Sequence[Affected]) -> str:
    sizes = [partition.behind for partition in affected if partition.behind is not None]
    if not sizes:
        return "it is not known by how much"
    slow = sum(partition.is_catching_up is False for partition in affected)
    state = f"{many(slow, 'replica')} not catching up" if slow else "catching up"
    return f"{size_text(sum(sizes))}, {state}"


def cure_of(problem: Problem, brokers: str) -> Cure:
    """Return what to do about a cause."""
    server, broker = shlex.quote(brokers), problem.broker
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
        f"kafka-cluster replication -b {server} --topic {shlex.quote(topic)} --factor N"
        for topic in topics_of(problem.affected)
    )
    if any(affected.is_catching_up is False for affected in problem.affected):
        return Cure("look into the broker's log; a restart begins its fetches anew")
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
        column=Column("STATE"),
        cell=lambda affected: Styled(
            affected.state.replace("-", " "), _STYLES.get(affected.state, "")
        ),
    ),
    number(
        "leader",
        "broker id; null without a leader",
        may_be_null=True,
        get=lambda affected: affected.replicas.leader if affected.replicas.leader >= 0 else None,
        column=number_column("LEADER", 2),
    ),
    numbers("replicas", "broker ids", get="replicas.replicas", column=Column("REPLICAS", 3)),
    numbers("isr", "broker ids in sync", get="replicas.isr", column=Column("IN SYNC", 1)),
    number(
        "behindBytes",
        "that the replica has less than the leader",
        numeral="size",
        may_be_null=True,
        get="behind",
        column=number_column("BEHIND", 4),
    ),
    boolean("isCatchingUp", "whether these become fewer, between two looks", may_be_null=True),
    part(
        "lastChange",
        "of the partition, in the metadata log",
        _CHANGE,
        may_be_null=True,
        get="change",
        column=Column("CHANGED", 5),
        cell=lambda affected: affected.change and iso_time(affected.change.time),
    ),
)
_PROBLEM = (
    text("cause", "cause", values=Cause, get=lambda pair: pair[0].cause),
    text("text", "the cause in a sentence", get=lambda pair: cause_text(pair[0])),
    number("brokerId", "broker", may_be_null=True, get=lambda pair: pair[0].broker),
    texts(
        "directories",
        "log directories that have failed: paths, or ids of the metadata log",
        get=lambda pair: [*pair[0].directories],
    ),
    part(
        "since",
        "the change in the metadata log",
        _CHANGE,
        may_be_null=True,
        get=lambda pair: pair[0].change,
    ),
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
