"""Batches of one shard, cut from batches of a metadata log."""

import pytest

from kraftops.image.load.prescan import CountedRange
from kraftops.log.batch import CONTROL, Batch, Record, batch_bytes, records
from kraftops.spark.find.partitioner import FIRST_SHARD, Partitioner, Topics
from kraftops.spark.find.scan_job import TopicHashes
from kraftops.spark.find.sharded_batch import ShardedBatch, sharded
from tests.helpers.logs.random_logs import new_record, uuid

PARTITIONER = Partitioner(40, Topics(TopicHashes(b"", b""), {}, {}), "kafka")
VALUES = [
    new_record("TopicRecord", name="t", topicId=uuid(1)).value,
    new_record("FeatureLevelRecord", name="f").value,
    new_record("PartitionRecord", topicId=uuid(1), partitionId=0).value,
    new_record("PartitionRecord", topicId=uuid(1), partitionId=1).value,
]


def shards_of(
    *, attributes: int = 0, counted: tuple[int, int] | None = None
) -> dict[int, ShardedBatch]:
    """Return the batches by shard, cut from one that has four records."""
    written = [Record(5 + at, 1000 + at, None, value) for at, value in enumerate(VALUES)]
    data = batch_bytes(written, attributes=attributes)
    counted_range = CountedRange(3, "a.log", None, 0, len(data), 4, counted)
    return dict(sharded(Batch(70, len(data), data), counted_range, PARTITIONER))


def offsets(batch: ShardedBatch) -> list[int]:
    return [record.offset for record in records(batch.batch)]


@pytest.mark.parametrize("codec", [0, 1, 4])
def test_records_keep_offsets_times_and_numbers(codec: int) -> None:
    found = shards_of(attributes=codec)

    topic = PARTITIONER.of_record(None, VALUES[0])[0]
    assert set(found) == {FIRST_SHARD, topic}
    assert offsets(found[FIRST_SHARD]) == [6]
    assert offsets(found[topic]) == [5, 7, 8]
    assert [one.timestamp for one in records(found[topic].batch)] == [1000, 1002, 1003]
    assert list(memoryview(found[topic].numbers).cast("I")) == [0, 1, 2, 2]


def test_batch_keeps_its_place() -> None:
    batch = shards_of()[FIRST_SHARD]

    assert (batch.source, batch.after, batch.position) == (3, 4, 70)


def test_only_counted_records_are_used() -> None:
    found = shards_of(counted=(1, 3))

    assert sorted(map(offsets, found.values())) == [[6], [7]]


def test_control_batches_go_to_the_first_shard() -> None:
    found = shards_of(attributes=CONTROL)

    assert {shard: offsets(batch) for shard, batch in found.items()} == {FIRST_SHARD: [5, 6, 7, 8]}
