"""`kafka-cluster safe-to-stop`: tell whether brokers and controllers can stop without harm."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.answers.fields import Answer, boolean, number, numbers, parts, text, texts
from kraftops.display import columns
from kraftops.display.columns import Cell, Styled
from kraftops.errors import AnswerError
from kraftops.findings.finding import HAS_FINDINGS
from kraftops.placement.answer import PARTITION_FIELDS
from kraftops.placement.safety import Danger
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.min_isr import min_isr_of_topics
from kraftops.voters.access import QuorumAccess, require_leader
from kraftops.voters.rules import VoterSet
from kraftops.voters.stop import Stop, StopRules, without_topics
from kraftops.wire.rpc.cluster import describe_quorum
from kraftops_cli.cluster.moving.access import Work, check_registered, check_topics, cluster_command
from kraftops_cli.cluster.options import (
    UNCOUNTED_TOPIC,
    AccessOptions,
    ids_option,
    min_isr_option,
    names_option,
    single_replica_option,
)


@dataclass(frozen=True, kw_only=True)
class StopOptions(AccessOptions):
    """The values of the options."""

    ids: tuple[int, ...] = ids_option()
    min_isr: int | None = min_isr_option()
    allow_single_replica: bool = single_replica_option()
    exclude_topic: tuple[str, ...] = names_option("--exclude-topic", UNCOUNTED_TOPIC)


@cluster_command(StopOptions, needs_brokers=False, answer="SAFE_TO_STOP")
def safe_to_stop(work: Work, options: StopOptions) -> int:
    access, nodes = work.access, frozenset(options.ids)
    quorum = _quorum(access, nodes)  # first: without a leader, brokers answer nothing below
    placement = access.placement()
    unknown = nodes - placement.brokers.keys() - (quorum.voters if quorum else frozenset())
    # Brokers before Kafka 4.0 do not list fenced ones (KIP-1073): the metadata log does.
    if unknown and (access.lists_fenced or access.find_controllers()):
        check_registered(access.placement(), unknown)
    access.refuse_hidden_topics()
    check_topics(placement, options.exclude_topic)
    placement = without_topics(placement, options.exclude_topic)
    min_isr_by_topic = min_isr_of_topics(access, placement, options.min_isr)
    rules = StopRules(placement, min_isr_by_topic, quorum, options.allow_single_replica)
    alone = [stop for stop in rules.stop_of_each() if not nodes or stop.nodes[0] in nodes]
    answer = StopAnswer(rules, rules.stop(nodes) if nodes else None, alone)
    work.show(SAFE_TO_STOP.fields, answer, stop_text(work, answer))
    return 0 if answer.is_safe else HAS_FINDINGS


def _quorum(access: ClusterAccess, nodes: Collection[int]) -> VoterSet | None:
    """Ask who votes and is caught up; without a voter among *nodes*, all count as caught up."""
    controllers = QuorumAccess(access)
    try:
        require_leader(access)
        voters = frozenset(voter.node_id for voter in controllers.ask(describe_quorum).voters)
        if nodes and voters.isdisjoint(nodes):
            return VoterSet(voters, voters)
        return controllers.quorum().voter_set
    except AnswerError as error:
        if error.code != "not-permitted":
            raise
        access.note(f"the controllers are not looked at: {error.message}")
        return None


def stop_text(work: Work, answer: StopAnswer) -> str:
    """Answer for the nodes that were named, else with a table of all."""
    stop = answer.asked
    if stop is None:
        return work.table(NODE, answer.rows()) or "no nodes\n"
    ids = ", ".join(map(str, stop.nodes))
    reasons = "; ".join(stop.reasons())
    if stop.is_safe:
        return f"{ids}: safe to stop{'; ' * bool(reasons)}{reasons}\n"
    return f"{ids}: not safe to stop: {reasons}\n{work.first_of(DANGER, stop.dangers)}"


class StopAnswer(NamedTuple):
    """The stop of the nodes that are named, if any, and that of each node alone."""

    rules: StopRules
    asked: Stop | None
    alone: Sequence[Stop]

    @property
    def is_safe(self) -> bool:
        """Whether the nodes that are named may stop, or else each one alone."""
        if self.asked is None:
            return all(stop.is_safe for stop in self.alone)
        return self.asked.is_safe

    @property
    def dangers(self) -> list[Danger]:
        """The partitions in danger by the nodes that are named."""
        if self.asked is None:
            return []
        return sorted([*self.asked.dangers, *self.asked.single_replicas])

    def rows(self) -> list[NodeStop]:
        voters = self.rules.quorum.voters if self.rules.quorum else frozenset()
        rows = []
        for stop in self.alone:
            node = stop.nodes[0]
            roles = ["broker"] if node in self.rules.placement.brokers else []
            rows.append(NodeStop(node, roles + ["controller"] * (node in voters), stop))
        return rows


class NodeStop(NamedTuple):
    """A node, its roles, and its stop."""

    node: int
    roles: Sequence[str]
    stop: Stop


def _answer_cell(row: NodeStop) -> Cell:
    return Styled("safe", "good") if row.stop.is_safe else Styled("not safe", "bad")


DANGER = (
    *PARTITION_FIELDS,
    boolean(
        "isOffline",
        "whether no replica stays in sync",
        column="STATE",
        cell=lambda danger: Styled("offline" if danger.is_offline else "under min ISR", "bad"),
    ),
    numbers(
        "isr",
        "The replicas that stay in sync",
        get="left",
        column=columns.folded("IN SYNC"),
        cell=lambda danger: ",".join(map(str, danger.left)) or None,
    ),
    number(
        "minIsr",
        "its min.insync.replicas",
        get="min_isr.value",
        column=columns.Column("MIN ISR"),
        cell=lambda danger: f"{danger.min_isr.value}{' (assumed)' * danger.min_isr.is_assumed}",
    ),
    boolean(
        "isMinIsrAssumed",
        "whether it is unknown, and assumed to be 1",
        get="min_isr.is_assumed",
    ),
    boolean("isSingleReplica", "whether it has only one replica"),
)
"""The fields of a partition that is in danger."""
NODE = (
    number("id", "node id", column="NODE", get="node"),
    texts(
        "roles",
        "broker, controller or both; of controllers, those that vote",
        column=("ROLES", 1),
        cell=lambda row: ", ".join(row.roles) or None,
    ),
    boolean(
        "isSafe", "whether it may stop alone", column="STOP", get="stop.is_safe", cell=_answer_cell
    ),
    number("offline", "partitions with several replicas that would be offline", get="stop.offline"),
    number(
        "underMinIsr",
        "partitions that would be under min.insync.replicas",
        get=lambda row: len(row.stop.dangers) - row.stop.offline,
    ),
    number(
        "singleReplicas",
        "partitions whose only replica it has",
        get=lambda row: len(row.stop.single_replicas),
    ),
    texts(
        "reasons",
        "what would be lost",
        column=columns.folded("REASON"),
        get=lambda row: row.stop.reasons(),
        cell=lambda row: "; ".join(row.stop.reasons()) or None,
    ),
)
SAFE_TO_STOP = Answer(
    (
        boolean("isSafe", "whether all that are named may stop at once; without names, each alone"),
        numbers(
            "brokers",
            "the nodes that are named; all brokers without names",
            get=lambda answer: (
                sorted(answer.rules.placement.brokers)
                if answer.asked is None
                else [*answer.asked.nodes]
            ),
        ),
        parts(
            "partitions",
            "partitions that those which are named take offline, or under min.insync.replicas",
            DANGER,
            get="dangers",
        ),
        text(
            "quorumReason?",
            "why the controllers that are named must not stop",
            get="asked.quorum_reason",
        ),
        boolean(
            "isQuorumSeen",
            "whether the user may see the controllers",
            get=lambda answer: answer.rules.quorum is not None,
        ),
        parts("nodes", "each node alone", NODE, get=lambda answer: answer.rows()),
    )
)
