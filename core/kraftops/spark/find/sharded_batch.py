"""Batches with the records of one shard, cut from the batches of a metadata log."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

from kraftops.engine.choice import index_records
from kraftops.image.load.prescan import CountedRange
from kraftops.image.state.store import inflated_batch
from kraftops.log.batch import CODEC_MASK, HEADER, HEADER_SIZE, LOG_OVERHEAD, Batch, read_record
from kraftops.spark.find.partitioner import FIRST_SHARD, Partitioner


class ShardedBatch(NamedTuple):
    """Records of a batch that are of one shard, as a batch; they keep offsets and times.

    *source* is the number of the file, *position* the place of the original batch in it. Control
    records are counted after the offset *after*. *numbers* has pairs of uint32 for records that
    follow one another: the number of the first one in the original batch, and their count.
    """

    source: int
    after: int
    position: int
    data: bytes
    numbers: bytes

    @property
    def batch(self) -> Batch:
        """The batch."""
        return Batch(self.position, len(self.data), self.data)


EMPTY_BATCH = ShardedBatch(0, -1, -1, b"", b"")
"""Makes sure that a shard without records is asked too."""


class _ShardBuilder:
    """Records of a shard while a batch is cut: their places, and their numbers."""

    __slots__ = ("count", "numbers", "places")

    def __init__(self) -> None:
        self.places: list[tuple[int, int]] = []
        self.numbers = array("I")
        self.count = 0

    def add(self, number: int, count: int, start: int, end: int) -> None:
        """Add records that follow one another."""
        if self.numbers and self.numbers[-2] + self.numbers[-1] == number:
            self.numbers[-1] += count
            self.places[-1] = self.places[-1][0], end
        else:
            self.numbers.extend((number, count))
            self.places.append((start, end))
        self.count += count


def sharded(
    batch: Batch, counted: CountedRange, partitioner: Partitioner
) -> Iterator[tuple[int, ShardedBatch]]:
    """Yield shards and their batches, cut from a batch of the range *counted*.

    The first shard has all control batches. Of a batch that is damaged inside, only the records
    before the damage are used.

    Args:
        batch: a batch with a right checksum.
        counted: says which records count.
        partitioner: assigns records to shards.
    """
    header = batch.header
    inflated = inflated_batch(batch)
    first, stop = counted.records or (0, header.record_count)
    builders: dict[int, _ShardBuilder] = {}
    pos = inflated.start
    for _ in range(first):
        _, pos = read_record(inflated.data, pos, 0, 0)
    for group in index_records(partitioner.dialect, inflated.data, pos, first, stop):
        is_control = header.is_control
        for shard in (FIRST_SHARD,) if is_control else partitioner.of_group(group, inflated.data):
            if shard not in builders:
                builders[shard] = _ShardBuilder()
            builders[shard].add(group.number, group.total, group.start, group.end)
    for shard, builder in builders.items():
        records = b"".join([inflated.data[start:end] for start, end in builder.places])
        head = header._replace(
            length=HEADER_SIZE - LOG_OVERHEAD + len(records),
            attributes=header.attributes & ~CODEC_MASK,
            record_count=builder.count,
        )
        data = HEADER.pack(*head) + records
        numbers = builder.numbers.tobytes()
        yield shard, ShardedBatch(counted.source, counted.after, batch.position, data, numbers)
