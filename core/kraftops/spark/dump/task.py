"""What a task of a dump does: it reads a split and writes its part of the output itself."""

from __future__ import annotations

import gc
import json
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from kraftops.dump.report import Report
from kraftops.dump.scan.part_scan import PartMaker, row_text
from kraftops.dump.small_files import is_small_file, small_file
from kraftops.dump.sources.parts import Found
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.writing import Chunks
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.spark.dump.targets import ENDINGS, Target, part_name
from kraftops.spark.jobs.lost import is_last_try, lost_rows
from kraftops.spark.jobs.planning import Split, query_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import Accumulator

MOST_LINES = 1000
"""Lines about what is damaged in a split, and as many about its offsets, that go to the driver."""


class Written(NamedTuple):
    """What became of a split: the name of its part, and what was found besides.

    *records* counts rows, of text lines.
    """

    number: int
    name: str
    records: int
    found: tuple[Found, ...]
    more_lines: int
    """About damage, that were not kept."""
    more_offsets: int = 0
    """That are not where they should be, as gaps, and were not kept."""


class Counters(NamedTuple):
    """What the driver sees while tasks run: records, and splits with damage in them."""

    records: Accumulator[int]
    damaged: Accumulator[int]


@dataclass(frozen=True, slots=True)
class DumpWork:
    """Dumps splits, one a call, in a worker."""

    query: Query
    target: Target
    splits: int
    tries: int
    """How often a split is tried; the last time, it is not read any more."""
    counters: Counters

    def __call__(self, splits: Iterable[Split]) -> Iterator[Written]:
        """Write the parts of splits; yield what became of them."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        gc.disable()  # nothing here makes cycles
        try:
            for split in splits:
                is_lost = is_last_try(self.tries)
                yield self._write(split, context.taskAttemptId(), is_lost=is_lost)
        finally:
            gc.enable()

    def _write(self, split: Split, attempt: int, *, is_lost: bool) -> Written:
        ending = ENDINGS[self.query.form]
        name = self.target.attempt_name(part_name(split.number, self.splits), ending, attempt)
        told = _Told()
        with self.target.writing(name) as file:
            write = self._parquet if self.query.form == "parquet" else self._text
            records = write(split, file, told, is_lost=is_lost)
        self.counters.records.add(records)
        if told.has_damage:
            self.counters.damaged.add(1)
        found = tuple(told.found)
        return Written(split.number, name, records, found, told.more_lines, told.more_offsets)

    def _text(self, split: Split, file: BinaryIO, told: _Told, *, is_lost: bool) -> int:
        """Write text, JSON or CSV; return how many lines."""
        lines = 0

        def sink(data: bytes) -> None:
            nonlocal lines
            file.write(data)
            lines += data.count(b"\n")

        chunks = Chunks(sink)
        if self.query.form == "csv":
            from kraftops.query.csv_rows import csv_header

            chunks.add(csv_header())
            lines -= 1
        makers: dict[str | None, PartMaker] = {}
        with ExitStack() as opened:
            for part, decoder, *_ in split.pieces:
                query = query_of(self.query, decoder)
                if is_lost:
                    made: Iterable[str | bytes] = self._lost_text(part, query, told)
                elif query.form == "json" and is_small_file(part.path):
                    made = _small_text(part, told)
                else:
                    maker = makers.get(decoder)
                    if maker is None:
                        maker = makers[decoder] = opened.enter_context(closing(PartMaker(query)))
                    made = maker(part, told.add)
                for chunk in made:
                    chunks.add(chunk)
        chunks.flush()
        return lines

    def _lost_text(self, part: ByteRange, query: Query, told: _Told) -> Iterator[str]:
        report = Report()
        rows = lost_rows(part, query, report, self.tries - 1)
        if query.form == "text":
            deque(rows, 0)
            if not part.start:
                yield f"Dumping {part.path}\n"
        else:
            for row in rows:
                yield row_text(row, query.form)
        told.add(Found(part, report, None, None, 0))

    def _parquet(self, split: Split, file: BinaryIO, told: _Told, *, is_lost: bool) -> int:
        """Write a Parquet file; return how many rows."""
        from kraftops.dump.scan.arrow import ParquetFile

        records = 0
        with ParquetFile(file) as parquet:
            for batch in self._batches(split, told, is_lost=is_lost):
                parquet.add(batch)
                records += batch.num_rows
        return records

    def _batches(self, split: Split, told: _Told, *, is_lost: bool) -> Iterator[pa.RecordBatch]:
        from kraftops.dump.scan.arrow import arrow_batches, arrow_schema, scan_batches

        schema = arrow_schema()
        for part, decoder, *_ in split.pieces:
            query, report = query_of(self.query, decoder), Report()
            try:
                if is_lost:
                    rows = lost_rows(part, query, report, self.tries - 1)
                    yield from arrow_batches(rows, schema)
                else:
                    yield from scan_batches(part, query, report, schema)
            except (SourceError, UsageError) as error:
                report.refusal(error.message)
            told.add(Found(part, report, None, None, 0))


def _small_text(part: ByteRange, told: _Told) -> Iterator[str]:
    """Yield the line of a small file, as the local tool writes it."""
    report = Report()
    try:
        found = small_file(part.path)
    except SourceError as error:
        report.refusal(error.message)
    else:
        yield json.dumps(found, ensure_ascii=False) + "\n"
        if found and "damage" in found:
            report.has_failed = True
            report.remark(f"{part.path}: {found['damage']}", is_damage=True)
    told.add(Found(part, report, None, None, 0))


class _Told:
    """Keeps what is found in a split, as much as the driver should have."""

    def __init__(self) -> None:
        self.found: list[Found] = []
        self.has_damage = False
        self.more_lines = self.more_offsets = 0
        self._left = self._left_offsets = MOST_LINES

    def add(self, found: Found) -> None:
        """Keep what was found in some more of a part."""
        report = found.report
        self.has_damage |= report.has_failed or report.has_damage
        lines = report.take_lines()
        for line in lines[: self._left]:
            report.remark(line)
        self.more_lines += max(0, len(lines) - self._left)
        self._left -= min(len(lines), self._left)
        kept, more = report.cut_summary(self._left_offsets)
        self._left_offsets -= kept
        self.more_offsets += more
        self.found.append(found)
