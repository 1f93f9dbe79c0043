"""Shards of metadata records."""

import pytest

from kraftops.engine.index_contract import RANGE_BITS
from kraftops.spark.find.partitioner import FIRST_SHARD, Partitioner, Topics
from kraftops.spark.find.scan_job import TopicHashes, hash_of
from tests.helpers.logs.random_logs import new_record, uuid

COUNT = 50
NO_HASHES = TopicHashes(b"", b"")


def partitioner(dialect: str = "kafka", **ranges: int) -> Partitioner:
    """Return a partitioner of a log with topics *t* and, by another id, *u*."""
    hashes = TopicHashes(uuid(1) + uuid(2), hash_of("t").to_bytes(4) + hash_of("u").to_bytes(4))
    masks = {hash_of(name): mask for name, mask in ranges.items()}
    return Partitioner(COUNT, Topics(hashes, {}, masks), dialect)


def shards_of(found: Partitioner, record: str, /, **data: object) -> tuple[int, ...]:
    return found.of_record(None, new_record(record, **data).value)


def test_records_about_a_topic_share_a_shard() -> None:
    found = partitioner()
    topic = shards_of(found, "TopicRecord", name="t", topicId=uuid(1))

    assert shards_of(found, "PartitionRecord", topicId=uuid(1), partitionId=9) == topic
    assert shards_of(found, "RemoveTopicRecord", topicId=uuid(1)) == topic
    assert shards_of(found, "ConfigRecord", resourceType=2, resourceName="t") == topic
    assert shards_of(found, "TopicRecord", name="u", topicId=uuid(2)) != topic


def test_partitions_of_a_large_topic_are_spread() -> None:
    """Records about the whole topic go to all of its shards."""
    found = partitioner(t=0b110)
    first, second = (
        shards_of(found, "PartitionRecord", topicId=uuid(1), partitionId=number << RANGE_BITS)
        for number in (0, 1)
    )

    assert len({first, second}) == 2
    assert {*first, *second} < set(shards_of(found, "TopicRecord", name="t", topicId=uuid(1)))


@pytest.mark.parametrize(
    ("name", "shards"),
    [
        ("NoOpRecord", ()),
        ("BeginTransactionRecord", tuple(range(COUNT))),
        ("RegisterBrokerRecord", (FIRST_SHARD,)),
        ("FeatureLevelRecord", (FIRST_SHARD,)),
    ],
)
def test_shards_by_type(name: str, shards: tuple[int, ...]) -> None:
    assert shards_of(partitioner(), name) == shards


def test_unknown_records_go_to_the_first_shard() -> None:
    assert partitioner().of_record(None, b"\xff") == (FIRST_SHARD,)


def test_hash_of_an_unknown_id_is_none() -> None:
    assert NO_HASHES.get(uuid(1)) is None
