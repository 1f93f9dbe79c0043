"""Partitions looked at without being decoded: what is said of them is what the rules say."""

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.image.image import MetadataImage
from kraftops.image.loading import load
from kraftops.image.plain import is_healthy, plain_partition, plain_partitions, replicas_and_isr
from kraftops.tree import kafkatext, leaves
from kraftops.tree.node import Leaf
from tests.corpus import SHELL
from tests.replays import log_bytes, lots, made, random_log, uuid

TOPIC = made("TopicRecord", topicId=uuid(7), name="t")


def image_of(path: Path, data: bytes) -> MetadataImage:
    path.write_bytes(data)
    return load(path)


def check(image: MetadataImage) -> int:
    """Compare plain partitions with their decoded states; return how many there were."""
    count = 0
    for topic in image.topics.values():
        for number, plain in plain_partitions(image, topic):
            state = image.partition(topic, number)
            assert plain == plain_partition(image, topic, number)
            assert state is not None
            leaf = Leaf(leaves.PARTITION, image, (topic, number))
            assert leaf.text == kafkatext.partition_text(state)
            assert leaf.json == json.dumps(leaf.data, ensure_ascii=False, separators=(",", ":"))
            assert leaf.newest == leaf.addresses[-1]
            if plain is None:
                continue
            count += 1
            assert replicas_and_isr(plain[0]) == (state["replicas"], state["isr"])
            isr, replicas, leader = state["isr"], state["replicas"], state["leader"]
            assert isinstance(isr, list)
            assert isinstance(replicas, list)
            assert isinstance(leader, int)
            assert is_healthy(plain) == (leader >= 0 and len(isr) >= len(replicas))
    return count


@given(st.integers(min_value=0, max_value=1 << 32))
def test_plain_partitions_say_what_their_records_say(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "plain.log"

    check(image_of(path, log_bytes(random_log(Random(seed)))))


@pytest.mark.parametrize("node", ["n332", "n391", "n431"])
def test_partitions_of_real_snapshots_are_plain(node: str) -> None:
    snapshot = next((SHELL / "in" / node / "__cluster_metadata-0").glob("*.checkpoint"))

    assert check(load(snapshot)) > 0


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("count", [0, 1, 3, 126, 127, 200])
def test_counts_and_versions_may_be_any(tmp_path: Path, version: int, count: int) -> None:
    replicas = list(range(count))
    partition = made(
        "PartitionRecord",
        version,
        partitionId=0,
        topicId=uuid(7),
        replicas=replicas,
        isr=replicas[:2],
        leader=-1,
        directories=[uuid(9 + one) for one in replicas],
    )

    image = image_of(tmp_path / "00000000000000000000.log", log_bytes(lots([TOPIC, partition])))

    assert check(image) == (count < 127)


@pytest.mark.parametrize(
    "field", ["removingReplicas", "addingReplicas", "eligibleLeaderReplicas", "lastKnownElr"]
)
def test_what_has_more_to_say_is_not_plain(tmp_path: Path, field: str) -> None:
    partition = made(
        "PartitionRecord",
        partitionId=0,
        topicId=uuid(7),
        replicas=[1],
        isr=[1],
        leader=1,
        directories=[uuid(9)],
        **{field: [1]},
    )

    image = image_of(tmp_path / "00000000000000000000.log", log_bytes(lots([TOPIC, partition])))

    assert check(image) == 0
