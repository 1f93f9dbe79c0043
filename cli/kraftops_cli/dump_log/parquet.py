"""Dumps into a Parquet file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

from kraftops.dump.report import Report
from kraftops.dump.scan import arrow
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.output import open_output
from kraftops.log.ranges import ByteRange
from kraftops.memory import Turn
from kraftops.query.query import Query
from kraftops_cli.dump_log.parts import run_parts
from kraftops_cli.dump_log.plan import Plan, Run, open_target

if TYPE_CHECKING:
    import pyarrow as pa


def run_parquet(run: Run) -> int:
    """Write a Parquet file; return the exit code."""
    if run.plan.has_limit:
        write_parquet_file(run.plan, _limited_batches(run))
    else:
        plan, schema = run.plan, arrow.arrow_schema(run.plan.decoders)

        def open_reader(turn: Turn) -> nullcontext[arrow.ArrowReader]:
            return nullcontext(arrow.ArrowReader(plan.query_of, schema, turn))

        with open_target(plan, run.terminal) as fd, arrow.ParquetFile(fd, schema) as file:
            run_parts(run, fd, open_reader, file.add)
    run.flush_report()
    return run.exit_code()


def write_parquet_file(plan: Plan, batches: Iterable[pa.RecordBatch]) -> None:
    """Write *batches*, or with `--tail` their last rows, to the output file."""
    if plan.limit is None and plan.tail is not None:
        batches = arrow.last_rows(batches, plan.tail)
    assert plan.output is not None
    with open_output(plan.output, plan.files, plan.output_flags) as fd:
        arrow.write_parquet(batches, fd, arrow.arrow_schema(plan.decoders))


def _limited_batches(run: Run) -> Iterator[pa.RecordBatch]:
    limited = LimitedBatches(run.plan)
    for path in run.plan.paths:
        try:
            yield from limited.batches(ByteRange(path), run.plan.query_of(path), run.report)
        except (SourceError, UsageError) as error:
            run.report.refusal(error)
        run.flush_report()
        if limited.is_done:
            return


class LimitedBatches:
    """Record batches of byte ranges, up to the limit of rows."""

    def __init__(self, plan: Plan) -> None:
        self._remaining = plan.limit
        self._schema = arrow.arrow_schema(plan.decoders)

    @property
    def is_done(self) -> bool:
        return self._remaining == 0

    def batches(self, part: ByteRange, query: Query, report: Report) -> Iterator[pa.RecordBatch]:
        if self._remaining is None:
            yield from arrow.scan_batches(part, query, report, self._schema)
            return
        for batch in arrow.first_batches(part, query, report, self._remaining, self._schema):
            self._remaining -= batch.num_rows
            yield batch
