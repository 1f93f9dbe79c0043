"""The texts of plain partitions, made from the bytes of their records.

They are what `kraftops.tree.kafkatext.partition_text`, and JSON of `leaves.partition_data`, would
be; lists of brokers and directories repeat from partition to partition, so they are kept.
"""

from __future__ import annotations

from kraftops.image.plain import PlainPartition, replicas_and_isr
from kraftops.memo import Memo
from kraftops.uuids import to_text

_UUID = 16


def plain_kafka_text(plain: PlainPartition) -> str:
    """Return a partition as Kafka's shell prints it."""
    arrays, leader, leader_epoch, partition_epoch, directories = plain
    head, tail = _KAFKA_ARRAYS[arrays]
    return (
        f"{head}{_KAFKA_IDS[directories]}{tail}{leader}, leaderRecoveryState=RECOVERED, "
        f"leaderEpoch={leader_epoch}, partitionEpoch={partition_epoch})"
    )


def plain_json(plain: PlainPartition, number: int, topic_id: bytes) -> str:
    """Return a partition as JSON without blanks."""
    arrays, leader, leader_epoch, partition_epoch, directories = plain
    head, tail = _JSON_ARRAYS[arrays]
    return (
        f'{{"partitionId":{number},"topicId":"{_UUIDS[topic_id]}",{head}'
        f'{_JSON_IDS[directories]}{tail}{leader},"leaderRecoveryState":"RECOVERED",'
        f'"leaderEpoch":{leader_epoch},"partitionEpoch":{partition_epoch}}}'
    )


def _ids(directories: bytes) -> list[str]:
    return [to_text(directories[at : at + _UUID]) for at in range(0, len(directories), _UUID)]


def _kafka_ids(directories: bytes) -> str:
    return ", ".join(_ids(directories))


def _json_ids(directories: bytes) -> str:
    return ",".join(f'"{one}"' for one in _ids(directories))


def _kafka_arrays(arrays: bytes) -> tuple[str, str]:
    replicas, isr = replicas_and_isr(arrays)
    return (
        f"PartitionRegistration(replicas={replicas}, directories=[",
        f"], isr={isr}, removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=",
    )


def _json_arrays(arrays: bytes) -> tuple[str, str]:
    replicas, isr = (str(one).replace(" ", "") for one in replicas_and_isr(arrays))
    tail = (
        f'],"isr":{isr},"removingReplicas":[],"addingReplicas":[],"eligibleLeaderReplicas":[],'
        '"lastKnownElr":[],"leader":'
    )
    return f'"replicas":{replicas},"directories":[', tail


_KAFKA_ARRAYS: Memo[tuple[str, str]] = Memo(_kafka_arrays)
_KAFKA_IDS: Memo[str] = Memo(_kafka_ids)
_JSON_ARRAYS: Memo[tuple[str, str]] = Memo(_json_arrays)
_JSON_IDS: Memo[str] = Memo(_json_ids)
_UUIDS: Memo[str] = Memo(to_text)
