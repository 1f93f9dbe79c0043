"""Task of a dump: read a split and write its part of the output."""

from __future__ import annotations

import gc
import json
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import ParquetFile, arrow_batches, arrow_schema, scan_batches
from kraftops.dump.scan.part_printer import PartPrinter
from kraftops.dump.small_files import is_small_file, small_file
from kraftops.dump.sources.parts import PartResult
from kraftops.engine.scanning import line_count
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.output import OutputError
from kraftops.fileio.writing import Chunks
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.query.row_lines import lines_of
from kraftops.spark.dump.targets import ENDINGS, Target, part_name
from kraftops.spark.jobs.planning import Split
from kraftops.spark.jobs.worker_crashes import crash_rows, is_last_reading, is_last_try

if TYPE_CHECKING:
    import pyarrow as pa

MOST_LINES = 1000
"""Limit of lines about damage in a split, and of lines about its offsets, sent to the driver."""


class WrittenPart(NamedTuple):
    """Part that was written for a split, and the findings in the split.

    *records* counts rows, in text lines.
    """

    number: int
    name: str
    records: int
    part_results: tuple[PartResult, ...]
    more_lines: int
    """Lines about damage that were not kept."""
    more_offsets: int = 0
    """Lines about offset gaps that were not kept."""
    failure: str = ""
    """The reason why it could not be written, as on a full disk."""


@dataclass(frozen=True, slots=True)
class DumpWork:
    """Task that dumps splits."""

    query: Query
    target: Target
    tries: int
    """Number of tries of a split; the last one reports instead of reading."""
    decoders: frozenset[str] = frozenset()
    """Names of the decoders of all splits, which choose the types of columns."""

    def __call__(self, splits: Iterable[Split]) -> Iterator[WrittenPart]:
        """Write the parts of splits; yield a description of each."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        gc.disable()  # nothing here makes cycles
        try:
            for split in splits:
                is_last = is_last_try(self.tries)
                try:
                    part = self._write(split, context.taskAttemptId(), is_last=is_last)
                except OutputError as error:
                    if not is_last_reading(self.tries):
                        raise
                    part = WrittenPart(
                        number=split.number,
                        name="",
                        records=0,
                        part_results=(),
                        more_lines=0,
                        failure=error.message,
                    )
                yield part
        finally:
            gc.enable()

    def _write(self, split: Split, attempt: int, *, is_last: bool) -> WrittenPart:
        ending = ENDINGS[self.query.form]
        name = self.target.attempt_name(part_name(split.number), ending, attempt)
        findings = _SplitFindings()
        with self.target.writing(name) as file:
            write = self._parquet if self.query.output_format.is_columns else self._text
            records = write(split, file, findings, is_last=is_last)
        part_results = tuple(findings.part_results)
        return WrittenPart(
            split.number, name, records, part_results, findings.more_lines, findings.more_offsets
        )

    def _text(
        self, split: Split, file: BinaryIO, findings: _SplitFindings, *, is_last: bool
    ) -> int:
        """Write text, JSON or CSV; return the number of lines."""
        lines = 0

        def sink(data: bytes) -> None:
            nonlocal lines
            file.write(data)
            lines += line_count(data)

        chunks = Chunks(sink)
        if head := self.query.output_format.head:
            chunks.add(head)
            lines -= 1
        with ExitStack() as opened:

            @cache
            def printer_of(query: Query) -> PartPrinter:
                return opened.enter_context(closing(PartPrinter(query)))

            for part, decoder, *_ in split.ranges:
                query = self.query.for_source(decoder, part.path)
                if is_last:
                    text: Iterable[str | bytes] = self._crash_chunks(part, query, findings)
                elif query.output_format.has_objects and is_small_file(part.path):
                    text = _small_text(part, findings)
                else:
                    text = printer_of(query)(part, findings.add)
                for chunk in text:
                    chunks.add(chunk)
        chunks.flush()
        return lines

    def _crash_chunks(
        self, part: ByteRange, query: Query, findings: _SplitFindings
    ) -> Iterator[str]:
        report = Report()
        rows = crash_rows(part, query, report, self.tries - 1)
        if query.output_format.is_text:
            deque(rows, 0)
            if not part.start:
                yield f"Dumping {part.path}\n"
        else:
            yield from map(lines_of(query.output_format).line, rows)
        findings.add(
            PartResult(part=part, report=report, first_offset=None, last_offset=None, size=0)
        )

    def _parquet(
        self, split: Split, file: BinaryIO, findings: _SplitFindings, *, is_last: bool
    ) -> int:
        """Write a Parquet file; return the number of rows."""
        records = 0
        with ParquetFile(file, arrow_schema(self.decoders)) as parquet:
            for batch in self._batches(split, findings, is_last=is_last):
                parquet.add(batch)
                records += batch.num_rows
        return records

    def _batches(
        self, split: Split, findings: _SplitFindings, *, is_last: bool
    ) -> Iterator[pa.RecordBatch]:
        schema = arrow_schema(self.decoders)
        for part, decoder, *_ in split.ranges:
            query = self.query.for_source(decoder, part.path)
            report = Report()
            try:
                if is_last:
                    rows = crash_rows(part, query, report, self.tries - 1)
                    yield from arrow_batches(rows, schema)
                else:
                    yield from scan_batches(part, query, report, schema)
            except (SourceError, UsageError) as error:
                report.refusal(error)
            findings.add(
                PartResult(part=part, report=report, first_offset=None, last_offset=None, size=0)
            )


def _small_text(part: ByteRange, findings: _SplitFindings) -> Iterator[str]:
    """Yield one line of JSON; a file that cannot be read goes into *findings* instead."""
    report = Report()
    try:
        content = small_file(part.path)
    except SourceError as error:
        report.refusal(error)
    else:
        yield json.dumps(content, ensure_ascii=False) + "\n"
        if content and "damage" in content:
            report.has_failed = True
            report.remark(f"{part.path}: {content['damage']}", is_damage=True)
    findings.add(PartResult(part=part, report=report, first_offset=None, last_offset=None, size=0))


class _SplitFindings:
    """Findings in a split, limited to what the driver should receive."""

    def __init__(self) -> None:
        self.part_results: list[PartResult] = []
        self.more_lines = self.more_offsets = 0
        self._left = self._left_offsets = MOST_LINES

    def add(self, part_result: PartResult) -> None:
        """Keep the findings in some more of a byte range."""
        report = part_result.report
        lines = report.take_lines()
        for line in lines[: self._left]:
            report.remark(line)
        self.more_lines += max(0, len(lines) - self._left)
        self._left -= min(len(lines), self._left)
        kept, more = report.cut_summary(self._left_offsets)
        self._left_offsets -= kept
        self.more_offsets += more
        self.part_results.append(part_result)
