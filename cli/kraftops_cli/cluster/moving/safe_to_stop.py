"""`kafka-cluster safe-to-stop`: tell whether brokers and controllers can stop without harm."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kraftops.errors import AnswerError
from kraftops.findings.finding import HAS_FINDINGS
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.min_isr import min_isr_of_topics
from kraftops.voters.access import QuorumAccess
from kraftops.voters.rules import VoterSet
from kraftops.voters.stop import Stop, StopRules, without_topics
from kraftops.wire.rpc.cluster import describe_quorum
from kraftops_cli.cluster.moving.access import Work, check_registered, check_topics, cluster_command
from kraftops_cli.cluster.moving.stop_fields import DANGER, NODE, SAFE_TO_STOP, StopAnswer
from kraftops_cli.cluster.options import (
    UNCOUNTED_TOPIC,
    AccessOptions,
    ids_option,
    min_isr_option,
    single_replica_option,
    topics_option,
)
from kraftops_terminal.console import Console
from kraftops_terminal.tables import table_of, table_text

EXAMPLES = (
    ("before a restart", "kafka-cluster safe-to-stop -b b:9092 --id 103"),
    ("all of a rack at once", "kafka-cluster safe-to-stop -b b:9092 --id 103,104,105"),
    ("which node may be restarted?", "kafka-cluster safe-to-stop -b b:9092"),
)
_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class StopOptions(AccessOptions):
    """The values of the options."""

    ids: tuple[int, ...] = ids_option()
    min_isr: int | None = min_isr_option()
    allow_single_replica: bool = single_replica_option()
    exclude_topic: tuple[str, ...] = topics_option(UNCOUNTED_TOPIC)


@cluster_command(
    StopOptions,
    needs_brokers=False,
    answer="kraftops_cli.cluster.moving.stop_fields:SAFE_TO_STOP",
    examples=EXAMPLES,
    help="""\
Tell whether brokers and controllers can be stopped, all at once: exit code 0, or 2 if a partition
would go offline or under min.insync.replicas, or the quorum would lose its majority. Without --id,
each node is listed with its answer.

What is so already does not count: partitions without a leader, nodes that are down. A controller
may stop if those that stay are a majority of the voters, and have all records of the log now.
Partitions of a single replica go offline with their broker: they are counted apart, and are no
reason to stay with --allow-single-replica, nor those of --exclude-topic.

With -b, a broker tells min.insync.replicas of each topic, with its own default. With -C alone, it
is read from the metadata log, which does not have the defaults of server.properties: --min-isr
gives them, and without it 1 is assumed, and marked. Controllers need DESCRIBE on the cluster to be
seen.""",
)
def safe_to_stop(work: Work, options: StopOptions) -> int:
    """Run the subcommand; return its exit code."""
    access, nodes = work.access, frozenset(options.ids)
    placement = access.placement()
    quorum = _quorum(access, nodes)
    if access.lists_fenced:
        check_registered(placement, nodes - (quorum.voters if quorum else frozenset()))
    access.refuse_hidden_topics()
    check_topics(placement, options.exclude_topic)
    placement = without_topics(placement, options.exclude_topic)
    min_isr_by_topic = min_isr_of_topics(access, placement, options.min_isr)
    rules = StopRules(placement, min_isr_by_topic, quorum, options.allow_single_replica)
    alone = [stop for stop in rules.stop_of_each() if not nodes or stop.nodes[0] in nodes]
    answer = StopAnswer(rules, rules.stop(nodes) if nodes else None, alone)
    work.show(SAFE_TO_STOP.fields, answer, "".join(stop_lines(answer, work.terminal.console)))
    return 0 if answer.is_safe else HAS_FINDINGS


def _quorum(access: ClusterAccess, nodes: Collection[int]) -> VoterSet | None:
    """Return the voters, those that are up and caught up; None if the user may not see them."""
    controllers = QuorumAccess(access)
    try:
        voters = frozenset(voter.node_id for voter in controllers.ask(describe_quorum).voters)
        if nodes and voters.isdisjoint(nodes):
            return VoterSet(voters, voters)
        return controllers.quorum().voter_set
    except AnswerError as error:
        if error.code != "not-permitted":
            raise
        access.note(f"the controllers are not looked at: {error.message}")
        return None


def stop_lines(answer: StopAnswer, console: Console) -> Iterator[str]:
    """Yield the answer about the nodes that are named, or a table of all."""
    if answer.asked is None:
        yield table_text(console, table_of(NODE, answer.rows())) or "no nodes\n"
    else:
        yield from _lines(answer.asked, console)


def _lines(stop: Stop, console: Console) -> Iterator[str]:
    ids = ", ".join(map(str, stop.nodes))
    reasons = "; ".join(stop.reasons())
    if stop.is_safe:
        yield f"{ids}: safe to stop{'; ' * bool(reasons)}{reasons}\n"
        return
    yield f"{ids}: not safe to stop: {reasons}\n"
    yield table_text(console, table_of(DANGER, stop.dangers[:_SHOWN]))
    if stop.dangers[_SHOWN:]:
        yield f"and {len(stop.dangers) - _SHOWN} more\n"
