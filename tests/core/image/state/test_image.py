"""Partitions have the states that their records make."""

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.tree import kafka_text, leaves
from kraftops.tree.node import Leaf
from tests.helpers.image.model import model_of, partition_states, state_of
from tests.helpers.logs.random_logs import (
    MetadataRecord,
    log_batches,
    log_bytes,
    new_record,
    random_log,
    uuid,
)
from tests.helpers.tools.corpus import SHELL

TOPIC = uuid(7)
BEGIN = (
    new_record("TopicRecord", topicId=TOPIC, name="t"),
    new_record(
        "PartitionRecord",
        partitionId=0,
        topicId=TOPIC,
        replicas=[1, 2],
        isr=[1, 2],
        leader=1,
        leaderEpoch=(1 << 31) - 2,
        eligibleLeaderReplicas=[2],
    ),
)


def image_of(path: Path, *batches: Iterable[MetadataRecord]) -> MetadataImage:
    path.write_bytes(log_bytes(log_batches(*map(list, batches))))
    return load(path)


def check(image: MetadataImage) -> int:
    """Compare each partition with those of its topic, and with its leaf; return how many."""
    states = partition_states(image)
    for topic_id in image.topics:
        for number, state in image.fold.partitions(topic_id):
            assert states[topic_id, number] == state
    for (topic_id, number), state in states.items():
        leaf = Leaf(leaves.PARTITION, image, (topic_id, number))
        assert leaf.kafka_text == kafka_text.partition_text(state)
        assert leaf.json == json.dumps(leaf.data, ensure_ascii=False, separators=(",", ":"))
        newest = leaf.newest
        assert newest
        assert newest.is_certain
        assert newest.records > 0
    return len(states)


@given(st.integers(min_value=0, max_value=1 << 32))
def test_partitions_of_any_log(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    path = tmp_path_factory.getbasetemp() / "partitions.log"
    path.write_bytes(log_bytes(random_log(Random(seed))))

    check(load(path))


@pytest.mark.parametrize("node", ["n332", "n391", "n431"])
def test_partitions_of_real_logs(node: str) -> None:
    directory = SHELL / "in" / node / "__cluster_metadata-0"

    assert check(load(directory / "00000000000000000000.log")) > 0
    assert check(load(next(directory.glob("*.checkpoint")))) > 0


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("count", [0, 1, 3, 126, 127, 200])
def test_counts_and_versions_may_be_any(tmp_path: Path, version: int, count: int) -> None:
    replicas = list(range(count))
    partition = new_record(
        "PartitionRecord",
        version,
        partitionId=0,
        topicId=TOPIC,
        replicas=replicas,
        isr=replicas[:2],
        removingReplicas=[],
        addingReplicas=[],
        leader=-1,
        leaderRecoveryState=0,
        leaderEpoch=3,
        partitionEpoch=4,
        directories=[uuid(9 + one) for one in replicas],
        eligibleLeaderReplicas=None,
        lastKnownElr=None,
    )

    image = image_of(tmp_path / "00000000000000000000.log", [BEGIN[0], partition])

    assert check(image) == 1
    assert state_of(image)["topics"] == model_of(log_batches([BEGIN[0], partition]))["topics"]


def change(**data: object) -> MetadataRecord:
    absent: dict[str, Any] = dict.fromkeys(
        (
            *("isr", "replicas", "removingReplicas", "addingReplicas", "directories"),
            *("eligibleLeaderReplicas", "lastKnownElr"),
        )
    )
    given = absent | {"leader": -2, "leaderRecoveryState": -1} | data
    return new_record("PartitionChangeRecord", partitionId=0, topicId=TOPIC, **given)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            [change(isr=[1]), change(leader=2), change(isr=[2, 1], leader=1)], id="simple"
        ),
        pytest.param([change(isr=[1]), change(replicas=[1, 2]), change(leader=2)], id="replicas"),
        pytest.param([change(isr=list(range(5000))), change(leader=2)], id="long record"),
        pytest.param(
            [change(leader=2), new_record("ClearElrRecord", topicName="t"), change(leader=1)],
            id="others",
        ),
        pytest.param(
            [
                change(leader=2, leaderRecoveryState=1),
                change(eligibleLeaderReplicas=[1], lastKnownElr=[2]),
                change(leader=-1),
            ],
            id="all fields",
        ),
        pytest.param([change(leader=at % 3) for at in range(500)], id="many"),
    ],
)
@pytest.mark.parametrize("is_apart", [False, True])
def test_changes_add_up(tmp_path: Path, changes: list[MetadataRecord], is_apart: bool) -> None:
    first, last = made_fully(BEGIN[1]), changes
    batches = [[one] for one in last] if is_apart else [last]
    image = image_of(tmp_path / "00000000000000000000.log", [BEGIN[0], first], *batches)

    assert check(image) == 1
    assert state_of(image)["topics"] == model_of(log_batches([BEGIN[0], first], *batches))["topics"]
    newest = image.fold.newest(TOPIC, 0)
    assert newest
    assert newest.records == 1 + len(changes)
    assert image.record(newest.address).offset == 1 + len(changes)


def made_fully(partition: MetadataRecord) -> MetadataRecord:
    """Return a partition's record that says all that the model asks for."""
    absent = {
        "removingReplicas": [],
        "addingReplicas": [],
        "leaderRecoveryState": 0,
        "partitionEpoch": 0,
        "directories": [],
        "lastKnownElr": None,
    }
    return new_record("PartitionRecord", **absent | dict(partition.data))


def test_change_without_effect_is_not_counted(tmp_path: Path) -> None:
    clear = new_record("ClearElrRecord", topicName="t")
    image = image_of(tmp_path / "00000000000000000000.log", BEGIN, [clear], [clear])

    newest = image.fold.newest(TOPIC, 0)

    assert newest
    assert newest.records == 2
    assert image.record(newest.address).offset == 2
