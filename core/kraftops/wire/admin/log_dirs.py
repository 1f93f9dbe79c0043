"""Log directories of a broker: sizes of its replicas, and the room that is left (KIP-827)."""

from __future__ import annotations

from typing import NamedTuple

from kraftops.placement.placement import TopicPartition
from kraftops.wire.rpc.answer_errors import answer_error
from kraftops.wire.rpc.connection import Connection

_WITH_ROOM = 4  # the version of DescribeLogDirs that has it


class Disks(NamedTuple):
    """Bytes of the replicas of a broker, and usable bytes of all its directories."""

    sizes: dict[TopicPartition, int]
    usable: int


def ask_disks(connection: Connection) -> Disks:
    """Ask a broker for its log directories; failed ones are left out.

    Raises:
        WireError: the request fails, or the broker does not know how much room there is.
        AnswerError: it is not permitted.
    """
    answer = connection.ask("DescribeLogDirs", lowest=_WITH_ROOM, topics=None)
    if answer.error_code:
        raise answer_error(connection, answer.error_code, None, "DESCRIBE")
    sizes: dict[TopicPartition, int] = {}
    usable = 0
    for directory in answer.results:
        if directory.error_code:
            continue
        usable += max(directory.usable_bytes, 0)
        for topic in directory.topics:
            for each in topic.partitions:
                if not each.is_future_key:
                    sizes[TopicPartition(topic.name, each.partition_index)] = each.partition_size
    return Disks(sizes, usable)
