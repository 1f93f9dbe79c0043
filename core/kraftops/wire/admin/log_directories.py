"""Log directories of a broker, one by one, with the sizes of chosen replicas (KIP-113, KIP-827)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from kraftops.placement.placement import TopicPartition
from kraftops.wire.rpc.answer_errors import answer_error
from kraftops.wire.rpc.connection import Connection


class LogDirectory(NamedTuple):
    """A directory of a broker; *usable* bytes are None if the release does not tell them."""

    path: str
    has_failed: bool
    usable: int | None
    sizes: dict[TopicPartition, int]


def ask_log_directories(
    connection: Connection, partitions: Iterable[TopicPartition] | None
) -> list[LogDirectory]:
    """Ask a broker for its log directories, with its replicas of *partitions*, or with all.

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
    if getattr(answer, "error_code", 0):
        raise answer_error(connection, answer.error_code, None, "DESCRIBE")
    return [
        LogDirectory(
            directory.log_dir,
            bool(directory.error_code),
            usable if (usable := getattr(directory, "usable_bytes", -1)) >= 0 else None,
            {
                TopicPartition(topic.name, replica.partition_index): replica.partition_size
                for topic in directory.topics
                for replica in topic.partitions
                if not replica.is_future_key
            },
        )
        for directory in answer.results
    ]
