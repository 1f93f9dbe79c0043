"""The state of a partition follows from its record and each change."""

from typing import Any

import pytest

from kraftops.engine.metadata_state import PartitionCondition, PartitionState
from kraftops.engine.reference.folding.partitions import (
    changed,
    conditions_of,
    outside_isr,
    registered,
    without_elr,
)
from kraftops.records.kip_631 import record_reader
from tests.helpers.engine.fold_records import D1, D2, ELR, change, partition
from tests.helpers.logs.random_logs import MetadataRecord

ZERO = bytes(16)
WRONG_COUNT = "its directories are not as many as its replicas"


def data_of(record: MetadataRecord) -> Any:
    found = record_reader("kafka")(record.value)
    assert isinstance(found, tuple)
    return found[1]


def state(**fields: Any) -> PartitionState:
    found = registered(data_of(partition(**fields)))
    assert isinstance(found, PartitionState)
    return found


def after(before: PartitionState, **fields: Any) -> PartitionState | str:
    return changed(before, data_of(change(**fields)))


def test_partition_without_directories_is_migrating() -> None:
    assert state().directories == [ZERO, ZERO]
    assert state(directories=[D1, D2]).directories == [D1, D2]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"directories": [D1]}, WRONG_COUNT),
        ({"leaderRecoveryState": 7}, "there is no leader recovery state 7"),
    ],
)
def test_record_that_makes_no_state_is_refused(fields: dict[str, Any], reason: str) -> None:
    assert registered(data_of(partition(**fields))) == reason
    assert after(state(), **fields) == reason


def test_change_leaves_what_it_does_not_have() -> None:
    before = state(leaderEpoch=5, partitionEpoch=9, directories=[D1, D2])

    assert after(before, isr=[1]) == before._replace(isr=[1], partition_epoch=10)


def test_new_leader_begins_an_epoch_that_wraps_as_javas_int() -> None:
    before = state(leaderEpoch=0x7FFFFFFF, partitionEpoch=0x7FFFFFFF)

    expected = before._replace(leader=2, leader_epoch=-0x80000000, partition_epoch=-0x80000000)
    assert after(before, leader=2) == expected


def test_other_number_of_replicas_needs_other_directories() -> None:
    before = state(directories=[D1, D2])

    assert after(before, replicas=[1]) == WRONG_COUNT
    assert after(before, replicas=[1], directories=[D1]) != WRONG_COUNT


def test_elr_is_cleared_and_brokers_leave_the_isr() -> None:
    before = state(partitionEpoch=3, **ELR)

    cleared = before._replace(eligible_leader_replicas=[], last_known_elr=[], partition_epoch=4)
    assert without_elr(before) == cleared
    assert outside_isr(before, 2) == before._replace(isr=[1])


def test_conditions_are_those_of_the_state() -> None:
    assert conditions_of(state()) == PartitionCondition(0)
    moving = state(
        leader=-1, replicas=[1, 2, 3], isr=[1], addingReplicas=[3], directories=[D1, D2, D1]
    )
    assert conditions_of(moving) == (
        PartitionCondition.LEADERLESS
        | PartitionCondition.UNDER_REPLICATED
        | PartitionCondition.REASSIGNING
        | PartitionCondition.WITH_DIRECTORIES
    )
