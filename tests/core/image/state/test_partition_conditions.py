"""Partitions that need attention are found among many healthy ones."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.engine.metadata_state import PartitionCondition, PartitionState
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from tests.helpers.image.model import partition_states
from tests.helpers.logs.random_logs import (
    ZERO,
    MetadataRecord,
    log_batches,
    log_bytes,
    new_record,
    random_log,
    uuid,
)
from tests.helpers.tools.corpus import SHELL

TOPICS = 3


def partition(
    number: int, topic: int = 0, version: int = 2, count: int = 3, **data: object
) -> MetadataRecord:
    replicas = list(range(count))
    fields: dict[str, Any] = {"replicas": replicas, "isr": replicas, "leader": 1}
    return new_record(
        "PartitionRecord",
        version,
        partitionId=number,
        topicId=uuid(7 + topic),
        directories=[uuid(9 + one) for one in replicas],
        **fields | data,
    )


def image_of(path: Path, *batches: list[MetadataRecord]) -> MetadataImage:
    topics = [new_record("TopicRecord", topicId=uuid(7 + n), name=f"t{n}") for n in range(TOPICS)]
    path.write_bytes(log_bytes(log_batches(topics, *batches)))
    return load(path)


def looks_of(state: PartitionState) -> PartitionCondition:
    """Return what is so of a partition."""
    told = {
        PartitionCondition.LEADERLESS: state.leader < 0,
        PartitionCondition.UNDER_REPLICATED: (
            len(state.isr) < len(state.replicas) - len(state.adding_replicas)
        ),
        PartitionCondition.REASSIGNING: bool(state.adding_replicas or state.removing_replicas),
        PartitionCondition.WITH_ELR: bool(state.eligible_leader_replicas),
        PartitionCondition.WITH_DIRECTORIES: any(one != ZERO for one in state.directories),
    }
    return PartitionCondition(sum(look for look, is_so in told.items() if is_so))


def check(image: MetadataImage) -> set[tuple[str, int]]:
    """Compare with a look at each partition; return who is in need."""
    states = partition_states(image)
    for look in (
        *PartitionCondition,
        PartitionCondition.LEADERLESS | PartitionCondition.UNDER_REPLICATED,
    ):
        expected: dict[bytes, list[int]] = {}
        for (topic_id, number), state in states.items():
            if looks_of(state) & look:
                expected.setdefault(topic_id, []).append(number)
        found = image.fold.partitions_with(look)
        assert list(found.items()) == list(expected.items())
        assert image.fold.count_with(look) == sum(map(len, expected.values()))
    conditions = ~PartitionCondition.WITH_DIRECTORIES
    return {
        (image.topics[topic_id].name, number)
        for topic_id, numbers in image.fold.partitions_with(conditions).items()
        for number in numbers
    }


@given(st.integers(min_value=0, max_value=1 << 32))
def test_conditions_of_any_log_match_the_states(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "having.log"
    path.write_bytes(log_bytes(random_log(Random(seed))))

    check(load(path))


@given(st.integers(min_value=0, max_value=1 << 32))
def test_few_partitions_among_many_healthy_ones_are_found(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    random = Random(seed)
    odd: list[dict[str, Any]] = [
        {"isr": [1]},
        {"leader": -1},
        {"addingReplicas": [2]},
        {"eligibleLeaderReplicas": [2]},
        {"leaderRecoveryState": 1},
        {"isr": [0, 1, 2, 3, 4, 5]},
    ]
    records = [
        partition(
            number,
            topic,
            random.choice((0, 1, 2)),
            random.choice((1, 2, 3)),
            **(random.choice(odd) if random.random() < 0.1 else {}),
        )
        for topic in range(TOPICS)
        for number in range(random.choice((1, 100)))
    ]
    if random.random() < 0.5:
        random.shuffle(records)
    size = random.choice((1, 10, 1000))
    batches = [records[at : at + size] for at in range(0, len(records), size)]

    check(image_of(tmp_path_factory.getbasetemp() / "many.log", *batches))


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("count", [1, 3, 60, 126, 127])
def test_counts_and_versions_may_be_any(tmp_path: Path, version: int, count: int) -> None:
    records = [partition(number, 0, version, count) for number in range(200)]
    records[150] = partition(150, 0, version, count, leader=-1)

    found = check(image_of(tmp_path / "00000000000000000000.log", records))

    assert found == {("t0", 150)}


def test_conditions_follow_changes_and_removals(tmp_path: Path) -> None:
    records = [partition(number, topic) for topic in range(TOPICS) for number in range(10)]
    later = [
        new_record("PartitionChangeRecord", partitionId=3, topicId=uuid(7), isr=[1]),
        new_record("RemoveTopicRecord", topicId=uuid(8)),
        partition(5_000, 2, leader=-1),
    ]

    found = check(image_of(tmp_path / "00000000000000000000.log", records, later))

    assert found == {("t0", 3), ("t2", 5_000)}


def test_healed_partition_is_not_found(tmp_path: Path) -> None:
    out = new_record("PartitionChangeRecord", partitionId=3, topicId=uuid(7), isr=[1], leader=-1)
    back = new_record(
        "PartitionChangeRecord", partitionId=3, topicId=uuid(7), isr=[0, 1, 2], leader=0
    )
    records = [partition(number) for number in range(10)]

    assert check(image_of(tmp_path / "00000000000000000000.log", records, [out, back])) == set()


@pytest.mark.parametrize("node", ["n332", "n391", "n431"])
def test_real_logs(node: str) -> None:
    assert check(load(SHELL / "in" / node))
