"""Placement of replicas as a broker tells it, and reassignments."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from kraftops.errors import AnswerError
from kraftops.placement.placement import BrokerPlace, Placement, Replicas, TopicPartition
from kraftops.wire.rpc.cluster import describe_cluster, lists_fenced
from kraftops.wire.rpc.connection import Connection, refuse_error

NO_REASSIGNMENT_IN_PROGRESS = 85  # `Errors` of Kafka
# For the controller to answer, so that the answer comes before our own timeout.
_TIMEOUT_MS = 10_000
_COUNTS_SINCE = 1  # the version of AlterPartitionReassignments that can refuse other counts


class Refusal(NamedTuple):
    """Kafka's error for one of several items."""

    code: int
    message: str


def ask_placement(connection: Connection) -> Placement:
    """Ask a broker for all brokers and replicas; releases before 4.0 list no fenced brokers.

    The replicas are those that the broker knows, the reassignments those of the controllers. Just
    after a reassignment, a partition may still have the replicas to remove as well.

    Raises:
        WireError: a request fails.
        AnswerError: it is not permitted.
    """
    nodes = describe_cluster(connection, with_fenced=lists_fenced(connection)).nodes
    brokers = {
        node.node_id: BrokerPlace(node.rack, bool(node.is_fenced), not node.is_fenced)
        for node in sorted(nodes)
    }
    moving = list_reassignments(connection)
    answer = connection.ask("Metadata", topics=None, allow_auto_topic_creation=False)
    partitions = {}
    for topic in sorted(answer.topics, key=lambda described: described.name):
        if topic.error_code:
            raise connection.error_of(topic.error_code, f"topic {topic.name}")
        for described in sorted(topic.partitions, key=lambda described: described.partition_index):
            partition = TopicPartition(topic.name, described.partition_index)
            replicas = Replicas(
                tuple(described.replica_nodes), tuple(described.isr_nodes), described.leader_id
            )
            if partition in moving:
                replicas = moving[partition]._replace(isr=replicas.isr, leader=replicas.leader)
            partitions[partition] = replicas
    return Placement(brokers, partitions)


def list_reassignments(connection: Connection) -> dict[TopicPartition, Replicas]:
    """Ask for partitions in flight; the answer has replica lists, no ISR and no leader.

    Raises:
        WireError: the request fails.
    """
    answer = connection.ask("ListPartitionReassignments", timeout_ms=_TIMEOUT_MS, topics=None)
    refuse_error(connection, answer, "DESCRIBE")
    return {
        TopicPartition(topic.name, partition.partition_index): Replicas(
            replicas=tuple(partition.replicas),
            isr=(),
            leader=-1,
            adding=tuple(partition.adding_replicas),
            removing=tuple(partition.removing_replicas),
        )
        for topic in answer.topics
        for partition in topic.partitions
    }


def refuses_other_counts(connection: Connection) -> bool:
    """Tell whether the broker can refuse another number of replicas (KIP-860)."""
    versions = connection.versions_of("AlterPartitionReassignments")
    return versions is not None and versions.last >= _COUNTS_SINCE


def alter_reassignments(
    connection: Connection,
    replicas_by_partition: Mapping[TopicPartition, Sequence[int] | None],
    *,
    changes_counts: bool = False,
) -> dict[TopicPartition, Refusal]:
    """Begin reassignments, or cancel those of None; return the refused ones.

    Unless it *changes_counts*, Kafka 4.1 and later refuse another number of replicas, as from a
    placement that is behind.

    Raises:
        UnknownOutcomeError: there is no answer: it is unknown whether they have begun.
        WireError: the request fails: none has begun.
    """
    topics: dict[str, list[dict[str, object]]] = defaultdict(list)
    for (topic, number), replicas in sorted(replicas_by_partition.items()):
        listed = None if replicas is None else [*replicas]
        topics[topic].append({"partition_index": number, "replicas": listed})
    answer = connection.change(
        "AlterPartitionReassignments",
        timeout_ms=_TIMEOUT_MS,
        allow_replication_factor_change=changes_counts,
        topics=[{"name": name, "partitions": partitions} for name, partitions in topics.items()],
    )
    refuse_error(connection, answer, "ALTER")
    return {
        TopicPartition(topic.name, partition.partition_index): refusal(
            connection, partition.error_code, partition.error_message
        )
        for topic in answer.responses
        for partition in topic.partitions
        if partition.error_code
    }


class Election(IntEnum):
    """Kinds of elections: of the first replica in sync, or of a live one that lacks records."""

    PREFERRED = 0
    UNCLEAN = 1


_ELECTION_NOT_NEEDED = 84  # `Errors` of Kafka


def elect_leaders(
    connection: Connection, election: Election, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, Refusal]:
    """Have the controllers elect leaders of partitions; return the partitions that refuse.

    Raises:
        WireError: the request fails.
    """
    topics: dict[str, list[int]] = defaultdict(list)
    for topic, number in sorted(partitions):
        topics[topic].append(number)
    answer = connection.change(
        "ElectLeaders",
        election_type=int(election),
        topic_partitions=[
            {"topic": name, "partitions": numbers} for name, numbers in topics.items()
        ],
        timeout_ms=_TIMEOUT_MS,
    )
    refuse_error(connection, answer, "ALTER")
    return {
        TopicPartition(topic.topic, partition.partition_id): refusal(
            connection, partition.error_code, partition.error_message
        )
        for topic in answer.replica_election_results
        for partition in topic.partition_result
        if partition.error_code not in (0, _ELECTION_NOT_NEEDED)
    }


def refusal(connection: Connection, code: int, message: str | None) -> Refusal:
    """Make the refusal of one item of an answer, with Kafka's error name and message."""
    error: AnswerError = connection.error_of(code, message)
    return Refusal(code, error.message.removeprefix(f"{connection.address}: "))
