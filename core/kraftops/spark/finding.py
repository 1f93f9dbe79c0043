"""The second pass over a metadata log: each group of entities is replayed by a task of its own.

The image of a group is made by the code that makes the whole one; what is asked of it is asked of
every group, and the answers are put in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from kraftops.dump.splitting import Part, plan_parts
from kraftops.image.dialects import record_reader
from kraftops.image.findings import Finding
from kraftops.image.image import MetadataImage
from kraftops.image.replay import Limits, Replay
from kraftops.log.batch import Batch
from kraftops.log.streams import open_log
from kraftops.spark.jobs import cancelled_by_keys, equipped, run
from kraftops.spark.planning import Piece, Split
from kraftops.spark.routing import FIRST, Router, shares
from kraftops.spark.scouting import Scouted, Stretch, scout
from kraftops.spark.session import Session

_GROUP_BYTES = 16 << 20
_SPLIT_BYTES = 32 << 20
_MOST_GROUPS = 4096

Line = tuple[bytes, str]
"""What a line is sorted by, and the line."""
Ask = Callable[[MetadataImage, bool], Iterable[Line]]
"""Yields lines about an image; the second argument says that it is the first group's."""
Share = tuple[int, tuple[int, int, bytes, Limits]]
"""A group; source, position, bytes and limits of a batch of it."""


class Answer(NamedTuple):
    """Lines in order, those of several groups as often; what is wrong with the log.

    *failed_records* counts records that could not be applied.
    """

    lines: Iterator[Line]
    findings: list[Finding]
    failed_records: int


@dataclass(frozen=True)
class ScoutWork:
    """Makes the first pass; all of it is one task's."""

    names: tuple[str, ...]
    limits: Limits
    dialect: str

    def __call__(self, splits: Iterable[Split]) -> Iterator[Scouted]:
        """Yield what was found, for each split."""
        for _ in splits:
            yield scout(self.names, self.limits, self.dialect)


@dataclass(frozen=True)
class ShareWork:
    """Deals the records of stretches out to groups."""

    scouted: Any  # a broadcast of what the first pass found
    count: int
    dialect: str

    def __call__(self, stretches: Iterable[Stretch]) -> Iterator[Share]:
        """Yield the shares of all batches."""
        found: Scouted = self.scouted.value
        meaning = record_reader(self.dialect)
        router = Router(self.count, found.groups, found.aliases, meaning, self.dialect == "kafka")
        for stretch in stretches:
            yield FIRST, (stretch.source, stretch.start, b"", stretch.limits)  # it is always asked
            with open_log(stretch.path) as log:
                for batch in log.batches(stretch.start, stretch.stop):
                    for number, data in shares(batch, router):
                        yield number, (stretch.source, batch.position, data, stretch.limits)


@dataclass(frozen=True)
class ReplayWork:
    """Makes the image of each group, and asks it."""

    scouted: Any
    count: int
    dialect: str
    ask: Ask

    def __call__(self, shares_: Iterable[Share]) -> Iterator[tuple[bytes, str, int]]:
        """Yield lines, and without a line how many records could not be applied."""
        ordered = sorted(shares_, key=lambda share: (share[0], share[1][:2]))
        seen = set()
        for number, some in groupby(ordered, key=itemgetter(0)):
            seen.add(number)
            yield from self._answers(number, [share for _, share in some])
        if not seen:
            yield b"", "", 0

    def _answers(
        self, number: int, batches: list[tuple[int, int, bytes, Limits]]
    ) -> Iterator[tuple[bytes, str, int]]:
        image = MetadataImage(self.dialect)
        replay = Replay(image)
        found: Scouted = self.scouted.value
        ends = {one.source: (one.path, one.end_offset) for one in found.stretches}
        for source in range(max(ends) + 1):
            path, end_offset = ends.get(source, ("", None))
            image.store.add_source(path, None, end_offset)
        for source, position, data, limits in batches:
            if not data:
                continue
            replay.limits = limits
            replay.add(Batch(position, len(data), data), source)
        router = Router(
            self.count, found.groups, found.aliases, image.meaning, self.dialect == "kafka"
        )
        failed = 0
        for address, _ in image.record_findings:
            record = image.store.record(address)
            owner = router.of_record(record.key, record.value)
            failed += owner == number or (owner is None and number == FIRST)
        yield b"", "", failed
        for key, line in self.ask(image, number == FIRST):
            yield key, line, 0


def ask_log(
    session: Session,
    names: Sequence[str],
    limits: Limits,
    dialect: str,
    ask: Ask,
) -> Answer:
    """Return what *ask* says of the state that a metadata log holds, without an image of it all.

    Args:
        session: where to run the jobs.
        names: files or directories of the log.
        limits: how far it counts.
        dialect: of its records.
        ask: is called in workers.

    Raises:
        SourceError: the log cannot be read, or holds no metadata records.
        UsageError: it does not reach back to the limits.
        SparkError: a job failed.
    """
    from pyspark import StorageLevel

    context = session.context
    one = Split(0, (Piece(Part(names[0])),), 0)
    (scouted,) = run(session, [one], ScoutWork(tuple(names), limits, dialect))
    size = sum(stretch.stop - stretch.start for stretch in scouted.stretches)
    count = max(session.cores, min(_MOST_GROUPS, size // _GROUP_BYTES))
    count = session.settings.groups or count
    pieces = list(cut_stretches(scouted.stretches))
    known = context.broadcast(scouted)
    with cancelled_by_keys(session):
        dealt = context.parallelize(pieces, len(pieces)).mapPartitions(
            equipped(session, ShareWork(known, count, dialect))
        )
        grouped = dealt.partitionBy(count, int)
        answers = grouped.mapPartitions(
            equipped(session, ReplayWork(known, count, dialect, ask))
        ).persist(StorageLevel.DISK_ONLY)
        failed = answers.map(itemgetter(2)).sum()
        table = session.spark.createDataFrame(
            answers.filter(itemgetter(1)), "key binary, line string, failed int"
        )
        rows = table.select("key", "line").orderBy("key").toLocalIterator(prefetchPartitions=True)
    lines = ((bytes(row.key), str(row.line)) for row in rows)
    return Answer(lines, scouted.findings, failed)


def cut_stretches(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield stretches in parts that are worth a task."""
    for stretch in stretches:
        if stretch.stop - stretch.start <= _SPLIT_BYTES:
            yield stretch
            continue
        start = stretch.start
        for part in plan_parts([stretch.path], _SPLIT_BYTES, cut_remote=True):
            stop = stretch.stop if part.stop is None else min(part.stop, stretch.stop)
            if stop > start:
                yield stretch._replace(start=start, stop=stop)
                start = stop
