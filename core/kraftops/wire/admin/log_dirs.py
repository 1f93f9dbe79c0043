"""Log directories of a broker: what lies in them, their room (KIP-827), and moves between them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kraftops.placement.disks import DiskReplica, LogDirectory
from kraftops.placement.placement import TopicPartition
from kraftops.wire.admin.replicas import Refusal, refusal
from kraftops.wire.net.codec import Answer
from kraftops.wire.rpc.connection import Connection, refuse_error

REPLICA_NOT_AVAILABLE = 9  # `Errors` of Kafka


def ask_log_dirs(
    connection: Connection, partitions: Iterable[TopicPartition] | None = None
) -> list[LogDirectory]:
    """Ask a broker for its log directories, also the failed ones, with replicas of *partitions*.

    Without them it tells all its replicas.

    Raises:
        WireError: the request fails.
        AnswerError: it is not permitted.
    """
    asked: dict[str, list[int]] = defaultdict(list)
    for topic, number in sorted(partitions or ()):
        asked[topic].append(number)
    topics = [{"topic": topic, "partitions": numbers} for topic, numbers in asked.items()]
    answer = connection.ask("DescribeLogDirs", topics=None if partitions is None else topics)
    # Before version 3 a user who may not see them gets an empty list.
    refuse_error(connection, answer, "DESCRIBE")
    return [
        LogDirectory(
            path=directory.log_dir,
            replicas=_replicas(directory.topics, is_future=False),
            coming=_replicas(directory.topics, is_future=True),
            # Before Kafka 3.3 they are -1.
            total=directory.total_bytes if directory.total_bytes >= 0 else None,
            usable=directory.usable_bytes if directory.usable_bytes >= 0 else None,
            is_failed=bool(directory.error_code),
            is_cordoned=bool(directory.is_cordoned),
        )
        for directory in answer.results
    ]


def _replicas(topics: Iterable[Answer], *, is_future: bool) -> dict[TopicPartition, DiskReplica]:
    return {
        TopicPartition(topic.name, replica.partition_index): DiskReplica(
            replica.partition_size, replica.offset_lag
        )
        for topic in topics
        for replica in topic.partitions
        if bool(replica.is_future_key) is is_future
    }


def alter_log_dirs(
    connection: Connection, paths: Mapping[TopicPartition, str]
) -> dict[TopicPartition, Refusal]:
    """Have a broker move its replicas to other directories; return the refused ones.

    Of a partition that it does not have, the broker keeps the directory in mind until it gets one,
    or until it restarts; it answers REPLICA_NOT_AVAILABLE then (ReplicaManager, 4.3.1).

    Raises:
        UnknownOutcomeError: there is no answer: it is unknown whether they have begun.
        WireError: the request cannot be sent.
    """
    by_path: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for (topic, number), path in sorted(paths.items()):
        by_path[path][topic].append(number)
    answer = connection.change(
        "AlterReplicaLogDirs",
        dirs=[
            {
                "path": path,
                "topics": [
                    {"name": name, "partitions": numbers} for name, numbers in topics.items()
                ],
            }
            for path, topics in by_path.items()
        ],
    )
    return {
        TopicPartition(topic.topic_name, partition.partition_index): refusal(
            connection, partition.error_code, None
        )
        for topic in answer.results
        for partition in topic.partitions
        if partition.error_code
    }
