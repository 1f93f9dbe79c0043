"""Replay of one shard: its image, and findings about its records in the order of the whole log."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kraftops.engine.fold_contract import POSITION_BITS
from kraftops.findings.finding import Finding
from kraftops.image.replay.events import TransactionEnded
from kraftops.image.replay.limits import Limits
from kraftops.image.replay.replay import Replay
from kraftops.image.state.findings import OPEN_TRANSACTION
from kraftops.image.state.image import MetadataImage, PriorState
from kraftops.image.state.store import InflatedBatch, LoggedRecord
from kraftops.log.batch import (
    HEADER,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    Batch,
    Header,
    read_record,
)
from kraftops.spark.find.partitioner import FIRST_SHARD, Partitioner
from kraftops.spark.find.scan_job import LogScan, PriorLog
from kraftops.spark.find.sharded_batch import ShardedBatch

_POSITION_MASK = (1 << POSITION_BITS) - 1

Source = tuple[str, int | None]
"""Path of a file, and end offset of a snapshot."""
Order = tuple[int, int, int, int]
"""Sort key of findings about records, in the order of a replay of the whole log.

Number of ended transactions, the record's own included; number of the source, position of the
batch, and number of the record in the batch.
"""


class RecordFinding(NamedTuple):
    """Finding about a record; *data* is a batch of this record alone."""

    order: Order
    reason: str
    path: str
    end_offset: int | None
    position: int
    data: bytes


class ShardReplay:
    """Replay of the batches of a shard, in the order of the log, into an image."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image
        self._replay = Replay(image)
        self._batches: list[
            tuple[bytes, bool]
        ] = []  # record numbers; whether it is a control batch
        self._ends: list[int] = []  # count of findings before the end of each transaction

    def replay(self, batches: Iterable[ShardedBatch]) -> None:
        """Apply the batches."""
        for sharded in batches:
            batch = sharded.batch
            self._replay.limits = Limits(sharded.after)
            for event in self._replay.add(batch, sharded.source):
                if isinstance(event, TransactionEnded):
                    self._ends.append(len(self._image.record_findings) - event.dropped)
            if len(self._image.store.numbers()) > len(self._batches):
                self._batches.append((sharded.numbers, batch.header.is_control))

    def with_address(self, finding: Finding) -> Finding:
        """Return a finding about the log with the address of its record, if this image has one."""
        began = self._replay.open_transaction
        is_here = finding.code == OPEN_TRANSACTION and began is not None
        return finding.moved(address=began) if is_here else finding

    def findings(
        self, sources: Sequence[Source]
    ) -> Iterator[tuple[LoggedRecord | None, RecordFinding]]:
        """Yield findings and their records, None for control records.

        *sources* has all files, by number.
        """
        store, batch, numbers = self._image.store, -1, {}
        for number, (address, reason) in enumerate(self._image.record_findings):
            if address >> POSITION_BITS != batch:
                batch = address >> POSITION_BITS
                numbers = _record_numbers(store.batch(batch), self._batches[batch][0])
            source, position = store.source_of(address)
            ended = bisect_right(self._ends, number)
            order = (ended, source, position, numbers[address & _POSITION_MASK])
            data = _batch_of_one(store.batch(batch), address & _POSITION_MASK)
            record = None if self._batches[batch][1] else store.record(address)
            yield record, RecordFinding(order, reason, *sources[source], position, data)


def shard_image(
    batches: Sequence[ShardedBatch], shard: int, partitioner: Partitioner, scan: LogScan
) -> tuple[MetadataImage, list[RecordFinding]]:
    """Return the image of a shard, and the findings about records that this shard reports.

    The first shard has the findings about the log.
    """
    counted_ranges = scan.all_counted
    sources: list[Source] = [("", None)] * (1 + max(counted.source for counted in counted_ranges))
    for counted in counted_ranges:
        sources[counted.source] = counted.path, counted.end_offset
    image = _image_of(sources, partitioner.dialect)
    replay = ShardReplay(image)
    prior = scan.prior
    if prior:
        old = [batch for batch in batches if batch.source >= prior.source]
        batches = [batch for batch in batches if batch.source < prior.source]
        past = _prior_state(old, prior, _image_of(sources, partitioner.dialect))
        image.offer_prior_state(lambda: past)
    replay.replay(batches)
    reported = []
    for record, finding in replay.findings(sources):
        shards = () if record is None else partitioner.of_record(record.key, record.value)
        if (shards or (FIRST_SHARD,))[0] == shard:
            reported.append(finding)
    image.provenance = scan.provenance
    if scan.offset != scan.provenance.offset:
        image.note_end_of_snapshot(scan.offset + 1)
    image.fold.forget_dropped()
    if shard == FIRST_SHARD:
        image.log_findings += map(replay.with_address, scan.findings)
    return image, reported


def _image_of(sources: Iterable[Source], dialect: str) -> MetadataImage:
    """Return an empty image with these sources, which are read once."""
    image = MetadataImage(dialect)
    for path, end_offset in sources:
        image.store.add_source(path, None, end_offset)
    return image


def _prior_state(
    batches: Iterable[ShardedBatch], prior: PriorLog, image: MetadataImage
) -> PriorState:
    """Return the state before a snapshot, loaded into *image*."""
    loads = [{counted.source for counted in load} for load in prior.loads]
    for number, sources in enumerate(loads):
        replay = Replay(image)
        # An older snapshot comes first, if there is one, then the log before the end of this one.
        image.fold.seed(is_seeded=number == 1)
        for sharded in batches:
            if sharded.source in sources:
                replay.limits = Limits(sharded.after)
                for _ in replay.add(sharded.batch, sharded.source):
                    pass
    return PriorState(image, prior.unchanged)


def findings_image(findings: Iterable[RecordFinding], dialect: str) -> MetadataImage:
    """Return an image that has only findings about records, in this order."""
    image = MetadataImage(dialect)
    for finding in findings:
        source = image.store.add_source(finding.path, None, finding.end_offset)
        address = image.store.add(source, Batch(finding.position, len(finding.data), finding.data))
        image.fold.drop(address + HEADER_SIZE, finding.reason)
    return image


def _record_numbers(batch: InflatedBatch, numbers: bytes) -> dict[int, int]:
    """Return the numbers of records in their original batch, by position in this one."""
    by_position, pos = {}, batch.start
    pairs = memoryview(numbers).cast("I")
    for first, count in zip(pairs[::2], pairs[1::2], strict=True):
        for number in range(first, first + count):
            by_position[pos] = number
            _, pos = read_record(batch.data, pos, batch.base_offset, batch.base_timestamp)
    return by_position


def _batch_of_one(batch: InflatedBatch, position: int) -> bytes:
    """Return a batch that has only the record at *position*."""
    _, end = read_record(batch.data, position, batch.base_offset, batch.base_timestamp)
    raw, time = batch.data[position:end], batch.append_time
    head = Header(
        base_offset=batch.base_offset,
        length=HEADER_SIZE - LOG_OVERHEAD + len(raw),
        leader_epoch=batch.epoch,
        magic=2,
        crc=0,
        attributes=0 if time is None else LOG_APPEND_TIME,
        last_offset_delta=0,
        base_timestamp=batch.base_timestamp,
        max_timestamp=time or 0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        record_count=1,
    )
    return HEADER.pack(*head) + raw
