"""Tasks of a search on Spark: scan a log, cut it into shards, replay and search each shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, Protocol

from kraftops.errors import SourceError, UsageError
from kraftops.image.load.prescan import CountedRange
from kraftops.image.state.image import MetadataImage
from kraftops.log.streams import open_log
from kraftops.spark.find.partitioner import FIRST_SHARD, Partitioner, Topics
from kraftops.spark.find.scan_job import LogScan, PrescannedRanges, ScanFile, SearchedLog, scan_log
from kraftops.spark.find.shard_replay import RecordFinding, findings_image, shard_image
from kraftops.spark.find.sharded_batch import ShardedBatch, sharded

Line = tuple[bytes, bytes]
"""Sort key of a line, and the line."""


class Search(Protocol):
    """Search of the image of a shard, in workers."""

    def of_image(self, image: MetadataImage, *, is_first: bool) -> Iterable[Line]:
        """Yield lines about the image of a shard."""

    def of_findings(self, image: MetadataImage, first: int) -> Iterable[Line]:
        """Yield lines about findings alone, numbered from *first* on."""


class FailedRecords(NamedTuple):
    """Number of records in a shard that could not be applied."""

    total: int


ShardResult = Line | FailedRecords | RecordFinding


@dataclass(frozen=True)
class ScanWork:
    """Task that scans the log; there is only one."""

    log: SearchedLog

    def __call__(
        self, prescans: Iterable[PrescannedRanges]
    ) -> Iterator[LogScan | SourceError | UsageError]:
        """Yield the result of the scan, or the reason why there is none."""
        for scanned in prescans:
            try:
                yield scan_log(self.log, scanned)
            except (SourceError, UsageError) as error:
                yield error


@dataclass(frozen=True)
class Sharding:
    """Number of shards of a log, and the result of its scan, as workers have it."""

    scan: ScanFile
    count: int
    dialect: str

    def partitioner(self) -> Partitioner:
        """Return the partitioner of the log."""
        scan = self.scan.value
        topics = Topics(scan.hashes, scan.aliases, scan.ranges)
        return Partitioner(self.count, topics, self.dialect)


@dataclass(frozen=True)
class ShardWork:
    """Task that cuts the batches of counted ranges into shards."""

    sharding: Sharding

    def __call__(
        self, counted_ranges: Iterable[CountedRange]
    ) -> Iterator[tuple[int, ShardedBatch]]:
        """Yield shards and their batches."""
        partitioner = self.sharding.partitioner()
        for counted in counted_ranges:
            with open_log(counted.path) as log:
                for batch in log.batches(counted.start, counted.stop):
                    yield from sharded(batch, counted, partitioner)


@dataclass(frozen=True)
class ReplayWork:
    """Task that replays shards and searches their images."""

    sharding: Sharding
    search: Search

    def __call__(self, batches: Iterable[tuple[int, ShardedBatch]]) -> Iterator[ShardResult]:
        """Yield of each shard the number of failed records, findings about them, and lines."""
        for shard, some in groupby(sorted(batches, key=_log_order), key=itemgetter(0)):
            yield from self._results(shard, [batch for _, batch in some if batch.data])

    def _results(self, shard: int, batches: list[ShardedBatch]) -> Iterator[ShardResult]:
        partitioner, scan = self.sharding.partitioner(), self.sharding.scan.value
        image, findings = shard_image(batches, shard, partitioner, scan)
        batches.clear()
        yield FailedRecords(len(findings))
        yield from findings
        yield from self.search.of_image(image, is_first=shard == FIRST_SHARD)


@dataclass(frozen=True)
class FindingsWork:
    """Task that searches findings about records, which come in order and numbered."""

    search: Search
    first: int
    dialect: str

    def __call__(self, numbered: Iterable[tuple[RecordFinding, int]]) -> Iterator[Line]:
        """Yield lines."""
        findings = list(numbered)
        if findings:
            image = findings_image((finding for finding, _ in findings), self.dialect)
            yield from self.search.of_findings(image, self.first + findings[0][1])


def _log_order(sharded: tuple[int, ShardedBatch]) -> tuple[int, int, int]:
    shard, batch = sharded
    return shard, batch.source, batch.position
