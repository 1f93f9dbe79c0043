"""Changes of partitions that are taken together make the states that they make one by one."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.image import image as images
from kraftops.image.image import MetadataImage
from kraftops.image.loading import load
from kraftops.schema.read import Data
from tests.corpus import SHELL
from tests.replays import Made, log_bytes, lots, made, random_log, uuid

TOPIC = uuid(7)


def states(image: MetadataImage) -> dict[tuple[bytes, int], Data | None]:
    return {
        (topic.id, number): image.partition(topic, number)
        for topic in image.topics.values()
        for number in topic.numbers()
    }


def check(path: Path) -> None:
    one_by_one = states(load(path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(images, "_MANY_CHANGES", -1)

        assert states(load(path)) == one_by_one


@given(st.integers(min_value=0, max_value=1 << 32))
def test_together_they_make_the_same_states(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "folds.log"
    path.write_bytes(log_bytes(random_log(Random(seed))))

    check(path)


@pytest.mark.parametrize("node", ["n332", "n391", "n431"])
def test_real_logs_make_the_same_states(node: str) -> None:
    check(SHELL / "in" / node / "__cluster_metadata-0/00000000000000000000.log")


def change(**data: object) -> Made:
    return made("PartitionChangeRecord", partitionId=0, topicId=TOPIC, **data)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            [change(isr=[1]), change(leader=2), change(isr=[2, 1], leader=1)], id="simple"
        ),
        pytest.param([change(isr=[1]), change(replicas=[1, 2]), change(leader=2)], id="stops"),
        pytest.param([change(isr=list(range(5000))), change(leader=2)], id="long record"),
        pytest.param(
            [change(leader=2), made("ClearElrRecord", topicName="t"), change(leader=1)], id="others"
        ),
        pytest.param(
            [
                change(leader=2, leaderRecoveryState=1),
                change(eligibleLeaderReplicas=[1], lastKnownElr=[2]),
                change(leader=-1),
            ],
            id="all fields",
        ),
    ],
)
def test_changes_of_all_sorts_are_taken_together(tmp_path: Path, changes: list[Made]) -> None:
    begin = [
        made("TopicRecord", topicId=TOPIC, name="t"),
        made(
            "PartitionRecord",
            partitionId=0,
            topicId=TOPIC,
            replicas=[1, 2],
            isr=[1, 2],
            leader=1,
            leaderEpoch=(1 << 31) - 2,
            eligibleLeaderReplicas=[2],
        ),
    ]
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log_bytes(lots(begin, changes)))

    check(path)


def test_many_changes_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "_MANY_CHANGES", 4)
    partitions = [
        made("PartitionRecord", partitionId=number, topicId=TOPIC, replicas=[1], isr=[1], leader=1)
        for number in range(9)
    ]
    changes = [
        made("PartitionChangeRecord", partitionId=number, topicId=TOPIC, leader=1)
        for number in range(9)
        for _ in range(3)
    ]
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(
        log_bytes(lots([made("TopicRecord", topicId=TOPIC, name="t"), *partitions], changes))
    )
    image = load(path)
    calls = []
    real = image.changed_partition
    monkeypatch.setattr(image, "changed_partition", lambda *args: calls.append(1) or real(*args))

    found = states(image)

    assert len(calls) == 6
    assert {state["partitionEpoch"] for state in found.values() if state} == {2}
