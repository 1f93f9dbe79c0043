"""The state of a partition: from its record, and after each change.

The rules are those of Kafka's `PartitionRegistration` and `TopicDelta`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from kraftops.engine.metadata_state import (
    KEPT_LEADER,
    LOST_DIRECTORY,
    RECOVERY_STATES,
    PartitionCondition,
    PartitionState,
    is_under_replicated,
)
from kraftops.java.numbers import to_int32
from kraftops.records.kip_631 import UNCHANGED_RECOVERY
from kraftops.uuids import ZERO, is_reserved

if TYPE_CHECKING:
    from kraftops.records.kip_631_types import AnyPartitionChangeRecord
    from kraftops.records.metadata_types import PartitionRecord

T = TypeVar("T")
_WRONG_COUNT = "its directories are not as many as its replicas"


def registered(record: PartitionRecord) -> PartitionState | str:
    """Return the state that a PartitionRecord makes, or why it makes none.

    Fields that its version lacks have their defaults.
    """
    replicas, directory_ids = record["replicas"], record.get("directories", [])
    directories = _directories(directory_ids, len(replicas))
    if directories is None or (directory_ids and len(directory_ids) != len(replicas)):
        return _WRONG_COUNT
    recovery = record["leaderRecoveryState"]
    if recovery not in RECOVERY_STATES:
        return _wrong_recovery(recovery)
    return PartitionState(
        replicas=replicas,
        directories=directories,
        isr=record["isr"],
        removing_replicas=record["removingReplicas"],
        adding_replicas=record["addingReplicas"],
        eligible_leader_replicas=record.get("eligibleLeaderReplicas") or [],
        last_known_elr=record.get("lastKnownElr") or [],
        leader=record["leader"],
        leader_recovery_state=recovery,
        leader_epoch=record["leaderEpoch"],
        partition_epoch=record["partitionEpoch"],
    )


def changed(state: PartitionState, change: AnyPartitionChangeRecord) -> PartitionState | str:
    """Apply a PartitionChangeRecord: return the new state, or, in words, why it cannot apply."""
    replicas = _or_old(change["replicas"], state.replicas)
    directory_ids = change.get("directories")
    if directory_ids and change["replicas"] is not None and len(directory_ids) != len(replicas):
        return _WRONG_COUNT
    directories = _directories(_or_old(directory_ids, state.directories), len(replicas))
    if directories is None:
        return _WRONG_COUNT
    leader, epoch = state.leader, state.leader_epoch
    if change["leader"] != KEPT_LEADER:
        leader, epoch = change["leader"], to_int32(epoch + 1)
    recovery = change["leaderRecoveryState"]
    if recovery == UNCHANGED_RECOVERY:
        recovery = state.leader_recovery_state
    elif recovery not in RECOVERY_STATES:
        return _wrong_recovery(recovery)
    elr = _or_old(change.get("eligibleLeaderReplicas"), state.eligible_leader_replicas)
    return PartitionState(
        replicas=replicas,
        directories=directories,
        isr=_or_old(change["isr"], state.isr),
        removing_replicas=_or_old(change["removingReplicas"], state.removing_replicas),
        adding_replicas=_or_old(change["addingReplicas"], state.adding_replicas),
        eligible_leader_replicas=elr,
        last_known_elr=_or_old(change.get("lastKnownElr"), state.last_known_elr),
        leader=leader,
        leader_recovery_state=recovery,
        leader_epoch=change.get("leaderEpoch", epoch),  # a draft's change has it
        partition_epoch=to_int32(state.partition_epoch + 1),
    )


def without_elr(state: PartitionState) -> PartitionState:
    """Return the state after a ClearElrRecord, if there was something to clear."""
    epoch = to_int32(state.partition_epoch + 1)
    return state._replace(eligible_leader_replicas=[], last_known_elr=[], partition_epoch=epoch)


def outside_isr(state: PartitionState, broker: int) -> PartitionState:
    """Return the state without a broker in the ISR, as drafts of KIP-631 have it."""
    return state._replace(isr=[replica for replica in state.isr if replica != broker])


def conditions_of(state: PartitionState) -> PartitionCondition:
    conditions = PartitionCondition(0)
    if state.leader < 0:
        conditions |= PartitionCondition.LEADERLESS
    if is_under_replicated(len(state.isr), len(state.replicas), len(state.adding_replicas)):
        conditions |= PartitionCondition.UNDER_REPLICATED
    if state.adding_replicas or state.removing_replicas:
        conditions |= PartitionCondition.REASSIGNING
    if state.eligible_leader_replicas:
        conditions |= PartitionCondition.WITH_ELR
    if any(directory != ZERO for directory in state.directories):
        conditions |= PartitionCondition.WITH_DIRECTORIES
    return conditions


def is_suspect(state: PartitionState, directories: Mapping[int, frozenset[bytes]]) -> bool:
    """Tell whether no server makes this state; *directories* are the brokers' own."""
    replicas, isr, leader = state.replicas, state.isr, state.leader
    subsets = isr, state.eligible_leader_replicas, state.adding_replicas, state.removing_replicas
    among, in_sync = set(replicas), set(isr)
    return (
        not replicas
        or len(among) < len(replicas)
        or any(replica not in directories for replica in replicas)
        or any(replica not in among for subset in subsets for replica in subset)
        or leader < -1
        or (leader >= 0 and leader not in in_sync)
        or any(
            (directory == LOST_DIRECTORY and broker in in_sync)
            or _is_elsewhere(directory, directories[broker])
            for broker, directory in zip(replicas, state.directories, strict=True)
        )
    )


def _is_elsewhere(directory: bytes, registered_ids: frozenset[bytes]) -> bool:
    return bool(registered_ids) and directory not in registered_ids and not is_reserved(directory)


def _or_old(new: T | None, old: T) -> T:
    """Return the new value of a field; None leaves the old one."""
    return old if new is None else new


def _wrong_recovery(state: int) -> str:
    return f"there is no leader recovery state {state}"


def _directories(directory_ids: list[bytes], count: int) -> list[bytes] | None:
    """Return one directory a replica: `MIGRATING` without others; None for a wrong count."""
    if all(directory == ZERO for directory in directory_ids):
        return [ZERO] * count
    return directory_ids if len(directory_ids) == count else None
