"""Leaders moved away from brokers, or back, by the order of replica lists and elections."""

import time
from collections.abc import Sequence

from kraftops.errors import AnswerError, KraftopsError
from kraftops.placement.leaders import misled
from kraftops.placement.placement import Placement, TopicPartition, shown
from kraftops.placement.plan import Move
from kraftops.reassign.access import ClusterAccess, in_parts
from kraftops.wire.admin.configs import UNKNOWN_TOPIC_OR_PARTITION
from kraftops.wire.admin.replicas import Election, alter_reassignments, elect_leaders
from kraftops.wire.net.deadline import PAUSE, Deadline

_SECONDS = 30.0
"""Time in which elections show in the answers of a broker."""


def change_leaders(access: ClusterAccess, moves: Sequence[Move]) -> list[TopicPartition]:
    """Give replica lists another order, and have the first replicas lead.

    Return the partitions that are led as before: their first replica is no longer in sync.

    Raises:
        AnswerError: Kafka refuses an order.
        KraftopsError: it does not happen in time.
    """
    for part in in_parts(moves):
        replicas_by_partition = {move.partition: move.after for move in part}
        refused = access.patiently(access.ask, alter_reassignments, replicas_by_partition)
        for partition, (code, message) in sorted(refused.items()):
            if code != UNKNOWN_TOPIC_OR_PARTITION:  # deleted meanwhile
                raise AnswerError(f"{partition}: {message}", error_code=code)
    return _elect(access, moves)


def elect_unclean(access: ClusterAccess, partitions: Sequence[TopicPartition]) -> None:
    """Have replicas lead that lack records, and wait until they do.

    Raises:
        AnswerError: the controllers refuse one.
        KraftopsError: it does not happen in time.
    """
    if not partitions:
        return
    refused = access.patiently(access.ask, elect_leaders, Election.UNCLEAN, partitions)
    for partition, (code, message) in sorted(refused.items()):
        raise AnswerError(f"{partition}: {message}", error_code=code)
    for _ in Deadline(_SECONDS).attempts():
        now = access.patiently(access.placement).partitions
        waiting = [
            partition for partition in partitions if partition in now and now[partition].leader < 0
        ]
        if not waiting:
            return
    raise KraftopsError(f"no leader yet: {shown(waiting)}", code="not-in-time")


def _elect(access: ClusterAccess, moves: Sequence[Move]) -> list[TopicPartition]:
    """Have the first replicas lead, until all do that can."""
    limit = Deadline(_SECONDS) if access.deadline is None else access.deadline.within(_SECONDS)
    leader_by_partition = {move.partition: move.after[0] for move in moves}
    while True:
        placement = access.patiently(access.placement)
        unseen = [move for move in moves if not _has_order(placement, move)]
        waiting = misled(
            placement, leader_by_partition.keys() - {move.partition for move in unseen}
        )
        if not unseen and not waiting:
            break
        if limit.is_over:
            raise KraftopsError(
                f"{len(unseen) + len(waiting)} partitions have not changed their leader yet",
                hint="run it again",
                code="not-in-time",
            )
        for partitions in in_parts(waiting):
            access.patiently(access.ask, elect_leaders, Election.PREFERRED, partitions)
        time.sleep(PAUSE)
    return [
        partition
        for partition, leader in leader_by_partition.items()
        if (replicas := placement.partitions.get(partition)) and replicas.leader != leader
    ]


def _has_order(placement: Placement, move: Move) -> bool:
    replicas = placement.partitions.get(move.partition)
    return replicas is None or replicas.target == move.after
