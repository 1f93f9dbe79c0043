"""Partitions in need of a look: those that are passed over are healthy, and no others."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.image.image import MetadataImage
from kraftops.image.loading import load
from kraftops.image.needy import needy_partitions
from kraftops.image.plain import is_healthy, plain_partition
from tests.corpus import SHELL
from tests.replays import Made, log_bytes, lots, made, random_log, uuid

TOPICS = 3


def partition(
    number: int, topic: int = 0, version: int = 2, count: int = 3, **data: object
) -> Made:
    replicas = list(range(count))
    fields: dict[str, Any] = {"replicas": replicas, "isr": replicas, "leader": 1}
    return made(
        "PartitionRecord",
        version,
        partitionId=number,
        topicId=uuid(7 + topic),
        directories=[uuid(9 + one) for one in replicas],
        **fields | data,
    )


def image_of(path: Path, *batches: list[Made]) -> MetadataImage:
    topics = [made("TopicRecord", topicId=uuid(7 + n), name=f"t{n}") for n in range(TOPICS)]
    path.write_bytes(log_bytes(lots(topics, *batches)))
    return load(path)


def check(image: MetadataImage) -> set[tuple[str, int]]:
    """Compare with a look at each partition; return who is in need."""
    found = [(topic.name, number) for topic, number, _ in needy_partitions(image)]
    expected = {
        (topic.name, number)
        for topic in image.topics.values()
        for number in topic.numbers()
        if (plain := plain_partition(image, topic, number)) is None or not is_healthy(plain)
    }
    assert set(found) == expected
    assert len(found) == len(expected)
    for topic, number, plain in needy_partitions(image):
        assert plain == plain_partition(image, topic, number)
    return expected


@given(st.integers(min_value=0, max_value=1 << 32))
def test_those_of_any_log_are_found(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    path = tmp_path_factory.getbasetemp() / "needy.log"
    path.write_bytes(log_bytes(random_log(Random(seed))))

    check(load(path))


@given(st.integers(min_value=0, max_value=1 << 32))
def test_those_among_many_healthy_ones_are_found(
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

    assert len(found) == (1 if count < 127 else 200)


def test_changes_removals_and_holes_are_seen(tmp_path: Path) -> None:
    records = [partition(number, topic) for topic in range(TOPICS) for number in range(10)]
    later = [
        made("PartitionChangeRecord", partitionId=3, topicId=uuid(7), isr=[1]),
        made("RemoveTopicRecord", topicId=uuid(8)),
        partition(5_000, 2, leader=-1),
    ]

    found = check(image_of(tmp_path / "00000000000000000000.log", records, later))

    assert found == {("t0", 3), ("t2", 5_000)}


@pytest.mark.parametrize("node", ["n332", "n391", "n431"])
def test_real_logs(node: str) -> None:
    assert check(load(SHELL / "in" / node))


def test_healthy_partitions_are_passed_over_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [partition(number) for number in range(1_000)]
    image = image_of(tmp_path / "00000000000000000000.log", records)
    monkeypatch.setattr("kraftops.image.needy.plain_partition", None)

    assert list(needy_partitions(image)) == []


def test_records_whose_sizes_lie_end_a_run(tmp_path: Path) -> None:
    """A run goes on only where the next record begins, so that nothing between is passed over."""
    image = image_of(tmp_path / "00000000000000000000.log", [partition(n) for n in range(3)])
    topic = image.topics[uuid(7)]
    first, second, _ = topic.places
    held = image.store.batch(first >> 28)
    at = first & (1 << 28) - 1
    data = bytearray(held.data)
    data[at] ^= 2
    image.store._kept[first >> 28] = held._replace(data=bytes(data))

    assert [number for _, number, plain in needy_partitions(image)] == [0]
    assert second > first
