"""Both engines fold any log to the same state, also a damaged one."""

import os
from random import Random

import pytest

from tests.helpers.logs.random_logs import (
    MetadataRecord,
    RandomLog,
    log_batches,
    log_bytes,
    new_record,
    uuid,
)
from tests.helpers.logs.segments import batches_of
from tests.helpers.tools.distribution import long_after

pytest.importorskip("kraftops.engine._native", reason="there is no compiled engine")

from tests.helpers.engine.fold_pair import TABLES, FoldPair, inside

SEED = int(os.environ.get("KRAFTOPS_FUZZ_SEED", "23"))
LOGS = int(os.environ.get("KRAFTOPS_FUZZ_FOLDS", "200"))


@pytest.mark.parametrize("part", long_after(4, range(8)))
def test_folds_agree(part: int) -> None:
    for at in range(part, LOGS, 8):
        random = Random(SEED * 1_000_003 + at)
        log = RandomLog(random).log(most_batches=12, most_records=12)
        pair = FoldPair()
        if at % 3 == 0:
            pair.watch(random.sample(TABLES, 4))
        if at % 5 == 0:
            for fold in pair.folds:
                fold.seed(is_seeded=True)
        for batch in batches_of(b"".join(map(bytes, log))):
            records, count = inside(batch)
            pair.add(records, count, random)
        pair.compare()


@pytest.mark.parametrize("part", long_after(4, range(8)))
def test_folds_of_damaged_records_agree(part: int) -> None:
    for at in range(part, LOGS, 8):
        random = Random(SEED * 2_000_003 + at)
        log = RandomLog(random).log(most_batches=8, most_records=8)
        pair = FoldPair()
        for batch in batches_of(b"".join(map(bytes, log))):
            records, count = inside(batch)
            damaged = bytearray(records)
            for _ in range(random.choice((0, 1, 2))):
                if damaged:
                    damaged[random.randrange(len(damaged))] = random.choice((0, 1, 2, 127, 255))
            pair.add(bytes(damaged), count, random)
        pair.compare()


def _partition(count: int, in_sync: int, number: int = 0) -> MetadataRecord:
    return new_record(
        "PartitionRecord",
        partitionId=number,
        topicId=uuid(1),
        replicas=list(range(count)),
        isr=list(range(in_sync)),
        leader=0,
        directories=[uuid(200)] * count,
    )


@pytest.mark.parametrize(
    ("count", "in_sync"), [(65_534, 65_534), (65_535, 65_534), (70_000, 65_536)]
)
def test_folds_agree_on_very_many_replicas(count: int, in_sync: int) -> None:
    pair = FoldPair()
    changes = [
        new_record("PartitionChangeRecord", partitionId=0, topicId=uuid(1), **change)
        for change in (
            {"directories": [uuid(201)] * count},
            {"replicas": list(range(65_535))},
            {"isr": list(range(count))},
        )
    ]
    topic = new_record("TopicRecord", topicId=uuid(1), name="a")
    for one in (topic, _partition(count, in_sync), *changes):
        records, total = inside(next(iter(batches_of(log_bytes(log_batches([one]))))))
        pair.add(records, total, Random(0))
        pair.compare()


def test_partitions_with_numbers_far_apart_take_little_memory() -> None:
    pair = FoldPair()
    partitions = [_partition(1, 1, number * 1023) for number in range(300)]
    topic = new_record("TopicRecord", topicId=uuid(1), name="a")
    random = Random(1)
    random.shuffle(partitions)
    records, total = inside(next(iter(batches_of(log_bytes(log_batches([topic, *partitions]))))))
    pair.add(records, total, random)
    pair.compare()
