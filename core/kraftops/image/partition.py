"""The state of one partition: what its record says, and what changes make of it.

The rules are those of Kafka's `PartitionRegistration` and `TopicDelta`.
"""

from __future__ import annotations

from kraftops.schema.read import Data
from kraftops.uuids import ZERO

KEPT_LEADER = -2
"""A change's leader that leaves leader and epoch as they are."""
_RECOVERY = range(2)  # recovered, recovering

_WRONG_COUNT = "its directories are not as many as its replicas"


def registered(record: Data) -> Data | str:
    """Return the state that a PartitionRecord makes, or why it makes none.

    Fields that its version lacks have their defaults; *directories* has one id a replica.
    """
    replicas, given = _ids(record["replicas"]), _uuids(record.get("directories", []))
    if given and len(given) != len(replicas):
        return _WRONG_COUNT
    directories = _directories(given, len(replicas))
    recovery = record.get("leaderRecoveryState", 0)
    if recovery not in _RECOVERY:
        return f"there is no leader recovery state {recovery}"
    return {
        "partitionId": record["partitionId"],
        "topicId": record["topicId"],
        "replicas": replicas,
        "directories": directories,
        "isr": record["isr"],
        "removingReplicas": record["removingReplicas"],
        "addingReplicas": record["addingReplicas"],
        "eligibleLeaderReplicas": record.get("eligibleLeaderReplicas") or [],
        "lastKnownElr": record.get("lastKnownElr") or [],
        "leader": record["leader"],
        "leaderRecoveryState": recovery,
        "leaderEpoch": record["leaderEpoch"],
        "partitionEpoch": record.get("partitionEpoch", 0),
    }


def changed(state: Data, change: Data) -> Data | str:
    """Return the state after a PartitionChangeRecord, or why that cannot apply."""
    new = dict(state)
    for field in (
        "isr",
        "replicas",
        "removingReplicas",
        "addingReplicas",
        "eligibleLeaderReplicas",
        "lastKnownElr",
    ):
        if change.get(field) is not None:
            new[field] = change[field]
    count = len(_ids(new["replicas"]))
    directories = _uuids(state["directories"])
    if change.get("directories") is not None:
        directories = _uuids(change["directories"])
        if directories and change["replicas"] is not None and len(directories) != count:
            return _WRONG_COUNT
    new["directories"] = _directories(directories, count)
    if new["directories"] is None:
        return _WRONG_COUNT
    leader = change.get("leader", KEPT_LEADER)
    if leader != KEPT_LEADER:
        new["leader"] = leader
        new["leaderEpoch"] = int32(state["leaderEpoch"], 1)
    if "leaderEpoch" in change:  # a draft's change says it
        new["leaderEpoch"] = change["leaderEpoch"]
    recovery = change.get("leaderRecoveryState", -1)
    if recovery != -1:
        if recovery not in _RECOVERY:
            return f"there is no leader recovery state {recovery}"
        new["leaderRecoveryState"] = recovery
    new["partitionEpoch"] = int32(state["partitionEpoch"], 1)
    return new


def without_elr(state: Data) -> Data:
    """Return the state after a ClearElrRecord: the same one where there was nothing to clear."""
    if not state["eligibleLeaderReplicas"] and not state["lastKnownElr"]:
        return state
    epoch = int32(state["partitionEpoch"], 1)
    return state | {"eligibleLeaderReplicas": [], "lastKnownElr": [], "partitionEpoch": epoch}


def outside_isr(state: Data, broker: object) -> Data:
    """Return the state after a broker's leaving, in the dialects where that changes the ISRs."""
    isr = _ids(state["isr"])
    return state | {"isr": [one for one in isr if one != broker]} if broker in isr else state


def int32(value: object, more: int) -> int:
    """Return the sum as Java's int keeps it."""
    assert isinstance(value, int)
    return (value + more + 0x80000000 & 0xFFFFFFFF) - 0x80000000


def _directories(given: list[bytes], count: int) -> list[bytes] | None:
    """Return one directory a replica; all are migrating where none is said to be anything else."""
    if all(one == ZERO for one in given):
        return [ZERO] * count
    return given if len(given) == count else None


def _ids(value: object) -> list[int]:
    assert isinstance(value, list)
    return value


def _uuids(value: object) -> list[bytes]:
    assert isinstance(value, list)
    return value
