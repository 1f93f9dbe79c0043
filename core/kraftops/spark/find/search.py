"""Ask a metadata log in two passes; in the second, each group of entities is one task's to replay.

The image of a group is made by the code that makes the whole one; what is asked of it is asked of
every group, and the answers are put in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kraftops.errors import SourceError, UsageError
from kraftops.image.load.prescan import Run, Stretch
from kraftops.image.replay.replay import Limits
from kraftops.image.state.findings import Finding
from kraftops.image.state.image import MetadataImage
from kraftops.log.ranges import ByteRange
from kraftops.log.streams import open_log
from kraftops.spark.find.partitioner import FIRST, Router, Share, Topics, shares
from kraftops.spark.find.prescan_job import runs_of_parts
from kraftops.spark.find.scan_job import FirstPass, make_first_pass
from kraftops.spark.find.shard_replay import Dealt, Noted, image_of, image_of_findings
from kraftops.spark.jobs.run import reading_whole_log, run, shipped
from kraftops.spark.session.session import Session
from kraftops.spark.session.status_tracker import Show, watched

if TYPE_CHECKING:
    from pyspark import Accumulator

_GROUP_BYTES = 16 << 20
_MOST_GROUPS = 4096
_RESULT_BYTES = 4 << 20  # of lines that go to the driver at a time

Line = tuple[bytes, bytes]
"""What a line is sorted by, and the line."""
Runs = Mapping[str, Sequence[tuple[ByteRange, Run | None]]]


class Ask(Protocol):
    """What is asked, in workers."""

    def of_image(self, image: MetadataImage, *, is_first: bool) -> Iterable[Line]:
        """Yield lines about the image of a group."""

    def of_findings(self, image: MetadataImage, first: int) -> Iterable[Line]:
        """Yield lines about findings alone, numbered from *first* on."""


class Answer(NamedTuple):
    """Lines in order, those of several groups as often; what is wrong with the log.

    *failed_records* counts records that could not be applied.
    """

    lines: Iterator[Line]
    findings: list[Finding]
    failed_records: int


class Failed(NamedTuple):
    """How many records of a group could not be applied."""

    total: int


Made = Line | Failed | Noted


@dataclass(frozen=True)
class FirstPassWork:
    """Makes the first pass; all of it is one task's."""

    names: tuple[str, ...]
    limits: Limits
    dialect: str
    with_past: bool = False

    def __call__(self, runs: Iterable[Runs]) -> Iterator[FirstPass | SourceError | UsageError]:
        """Yield what was found, given what is known of parts; or why nothing can be."""
        for known in runs:
            try:
                yield make_first_pass(
                    self.names, self.limits, self.dialect, known, with_past=self.with_past
                )
            except (SourceError, UsageError) as error:
                yield error


@dataclass(frozen=True)
class ShareWork:
    """Deals the records of stretches out to groups."""

    first_pass: Any  # a broadcast of what the first pass found
    count: int
    dialect: str

    def __call__(self, stretches: Iterable[Stretch]) -> Iterator[tuple[int, Dealt]]:
        """Yield the shares of all batches."""
        router = router_of(self.first_pass.value, self.count, self.dialect)
        for stretch in stretches:
            with open_log(stretch.path) as log:
                for batch in log.batches(stretch.start, stretch.stop):
                    for number, share in shares(batch, router, stretch.records):
                        yield number, Dealt(stretch.source, stretch.after, share)


@dataclass(frozen=True)
class ReplayWork:
    """Makes the image of each group, and asks it."""

    first_pass: Any
    count: int
    dialect: str
    ask: Ask
    size: Accumulator[int]
    """Counts the bytes of lines, those of repeated tries as well."""

    def __call__(self, dealt: Iterable[tuple[int, Dealt]]) -> Iterator[Made]:
        """Yield, of each group, how many findings about records there are, these, and lines."""
        for number, some in groupby(sorted(dealt, key=_place), key=itemgetter(0)):
            yield from self._answers(number, [share for _, share in some if share.share.data])

    def _answers(self, number: int, dealt: list[Dealt]) -> Iterator[Made]:
        router = router_of(self.first_pass.value, self.count, self.dialect)
        image, noted = image_of(dealt, number, router, self.first_pass.value, self.dialect)
        dealt.clear()
        yield Failed(len(noted))
        yield from noted
        size = 0
        for line in self.ask.of_image(image, is_first=number == FIRST):
            yield line
            size += len(line[0]) + len(line[1])
        self.size.add(size)


@dataclass(frozen=True)
class FindingsWork:
    """Asks of findings about records, which come in order and with their numbers."""

    ask: Ask
    first: int
    dialect: str

    def __call__(self, numbered: Iterable[tuple[Noted, int]]) -> Iterator[Line]:
        """Yield lines."""
        found = list(numbered)
        if found:
            image = image_of_findings((noted for noted, _ in found), self.dialect)
            yield from self.ask.of_findings(image, self.first + found[0][1])


def router_of(first_pass: FirstPass, count: int, dialect: str) -> Router:
    """Return what knows the groups of a log."""
    topics = Topics(first_pass.groups, first_pass.aliases, first_pass.ranges)
    return Router(count, topics, dialect)


def _place(one: tuple[int, Dealt]) -> tuple[int, int, int]:
    number, dealt = one
    return number, dealt.source, dealt.share.position


def cut_stretches(stretches: Iterable[Stretch], runs: Runs) -> Iterator[Stretch]:
    """Yield stretches in parts that are worth a task."""
    for stretch in stretches:
        start = stretch.start
        for split, _ in runs.get(stretch.path, ()):
            end = split.start + split.size
            if start < end < stretch.stop:
                yield stretch._replace(start=start, stop=end)
                start = end
        yield stretch._replace(start=start)


def ask_log(
    session: Session,
    names: Sequence[str],
    limits: Limits,
    dialect: str,
    ask: Ask,
    *,
    with_findings: bool = True,
    with_past: bool = False,
    show: Show | None = None,
) -> Answer:
    """Return what *ask* says of the state that a metadata log holds, without an image of it all.

    Args:
        session: where to run the jobs.
        names: files or directories of the log.
        limits: how far it counts.
        dialect: of its records.
        ask: is called in workers.
        with_findings: whether to ask of findings about records, too.
        with_past: whether what is asked for depends on when something was changed last.
        show: is told what is done.

    Raises:
        SourceError: the log cannot be read, or holds no metadata records.
        UsageError: it does not reach back to the limits.
        SparkError: a job failed.
    """
    runs = runs_of_parts(session, names, limits, dialect, show)
    with reading_whole_log(session, names):
        work = FirstPassWork(tuple(names), limits, dialect, with_past)
        (first_pass,) = run(session, [runs], work, show)
    if not isinstance(first_pass, FirstPass):
        raise first_pass
    size = sum(stretch.stop - stretch.start for stretch in first_pass.all_stretches)
    count = max(session.cores, min(_MOST_GROUPS, size // _GROUP_BYTES))
    count = session.settings.groups or count
    pieces = list(cut_stretches(first_pass.all_stretches, runs))
    context = session.context
    groups = _replayed(session, pieces, first_pass, count, dialect, ask)
    try:
        with reading_whole_log(session, names), watched(context, count, show):
            failed = groups.made.mapPartitions(_failed).sum()
            lines = groups.made.filter(_is_line)
            if failed and with_findings:
                work_on_findings = FindingsWork(ask, len(first_pass.findings), dialect)
                numbered = groups.made.filter(_is_noted).sortBy(itemgetter(0)).zipWithIndex()
                lines = lines.union(numbered.mapPartitions(work_on_findings))
            schema = "key binary, line binary"
            table = session.spark.createDataFrame(lines, schema, verifySchema=False)
            parts = 1 + groups.size.value // _RESULT_BYTES
            rows = table.repartitionByRange(parts, "key").sortWithinPartitions("key").rdd.map(tuple)
            parts = rows.getNumPartitions()
    except BaseException:
        groups.release()
        raise

    def read() -> Iterator[Line]:
        # What `toLocalIterator` has given stays in the JVM's memory (Spark 4.3).
        try:
            with reading_whole_log(session, names):
                for part in range(parts):
                    for key, line in context.runJob(rows, list, [part]):
                        yield bytes(key), bytes(line)
        finally:
            groups.release()

    return Answer(read(), first_pass.findings, failed)


class _Replayed(NamedTuple):
    """An RDD of what is *made* of all groups, what is broadcast for it, and how large lines are."""

    made: Any
    known: Any
    size: Accumulator[int]

    def release(self) -> None:
        """Let Spark forget all of it, if Spark is still there."""
        from py4j.protocol import Py4JError

        with suppress(Py4JError, OSError):
            self.made.unpersist()
            self.known.destroy()


def _replayed(
    session: Session,
    pieces: list[Stretch],
    first_pass: FirstPass,
    count: int,
    dialect: str,
    ask: Ask,
) -> _Replayed:
    """Have the records of *pieces* dealt out to *count* groups, and each of these replayed."""
    from pyspark import StorageLevel

    context = session.context
    known, size = context.broadcast(first_pass), context.accumulator(0)
    dealt = context.parallelize(pieces, max(1, len(pieces))).mapPartitions(
        shipped(session, ShareWork(known, count, dialect))
    )
    first = context.parallelize([(FIRST, NOTHING)], 1)  # that group is always asked
    made = (
        dealt.union(first)
        .partitionBy(count, int)
        .mapPartitions(shipped(session, ReplayWork(known, count, dialect, ask, size)))
    )
    return _Replayed(made.persist(StorageLevel.DISK_ONLY), known, size)


NOTHING = Dealt(0, -1, Share(-1, b"", b""))
"""Stands for a share of what may have none."""


def _failed(made: Iterable[Made]) -> Iterator[int]:
    """Yield how many findings about records there are in a group, which is what it begins with."""
    for first in made:
        assert isinstance(first, Failed)
        yield first.total
        return


def _is_line(made: Made) -> bool:
    return type(made) is tuple


def _is_noted(made: Made) -> bool:
    return isinstance(made, Noted)
