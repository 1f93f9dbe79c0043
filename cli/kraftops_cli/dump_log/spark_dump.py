"""`kafka-dump-log --spark`: plan splits, run the job, and tell what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kraftops.dump.sources.parts import total_size
from kraftops.errors import UsageError
from kraftops.log.files import STANDARD_INPUT
from kraftops.query.row import Row
from kraftops.query.row_lines import lines_of
from kraftops.spark.jobs.cutting import planned
from kraftops.spark.jobs.planning import Split, plan
from kraftops.spark.session.session import Session, started
from kraftops_cli.dump_log.plan import DAMAGED, Plan, exit_code
from kraftops_cli.spark.options import SparkRequest, refuse_local, warn_if_slow, warn_if_small
from kraftops_cli.spark.progress import SparkProgress
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.spark.dump.dump_job import Outcome

_REFUSED = ("limit", "tail", "follow", "jobs")


@dataclass(frozen=True, slots=True)
class _Job:
    """A dump on a Spark that runs."""

    asked: Plan
    request: SparkRequest
    session: Session
    splits: list[Split]
    progress: SparkProgress
    terminal: Terminal
    start: float

    def end(self, what: str, damaged: int = 0, more_offsets: int = 0) -> None:
        """Tell what was done, how long it took, and how many offsets are not listed."""
        self.progress.erase()
        note = f", {damaged} of them damaged" if damaged else ""
        note += f", {more_offsets:,} more offsets not listed" if more_offsets else ""
        seconds = time.monotonic() - self.start
        place = f": {self.asked.output}" if self.asked.output else ""
        self.terminal.line(f"{what} of {len(self.splits)} splits{note} in {seconds:.1f} s{place}")


def run_spark(asked: Plan, request: SparkRequest, terminal: Terminal) -> int:
    """Run a dump on Spark; return its exit code."""
    _refuse(asked, request)
    refuse_local(request, _paths(asked))
    settings = request.settings()
    if request.explain and settings.is_local:
        size = settings.split_bytes
        splits = plan(
            asked.sources, settings.cores or 1, max_bytes=asked.query.max_bytes, size=size
        )
        return _explain(asked, request, splits, terminal)
    warn_if_small(settings, total_size(source.path for source in asked.sources), terminal)
    with _running(asked, request, terminal) as job:
        if request.explain:
            return _explain(asked, request, job.splits, terminal)
        if asked.summary:
            return _summary(job)
        if request.sql is not None:
            from kraftops_cli.dump_log.spark_sql import run_sql

            return run_sql(job.session, asked, request, job.progress, terminal)
        if asked.output is None:
            return _check(job)
        if request.partition_by:
            from kraftops_cli.dump_log.spark_sql import run_partitioned

            return run_partitioned(job.session, asked, request, job.progress, terminal)
        return _dump(job)


def _paths(asked: Plan) -> list[str]:
    """Return what workers read and write."""
    paths = [source.path for source in asked.sources]
    if asked.output is not None and not asked.summary:
        paths.append(asked.output)
    return paths


def _explain(asked: Plan, request: SparkRequest, splits: list[Split], terminal: Terminal) -> int:
    from kraftops_cli.dump_log.spark_plan import plan_text

    terminal.write(plan_text(asked, request, splits))
    return 0


def _refuse(asked: Plan, request: SparkRequest) -> None:
    """Refuse what makes no sense on Spark.

    Raises:
        UsageError: there is such.
    """
    for name in _REFUSED:
        if getattr(asked, name):
            raise UsageError(f"--{name} and --spark do not go together")
    if any(source.path == STANDARD_INPUT for source in asked.sources):
        raise UsageError("Spark cannot read standard input", hint="leave out --spark")
    needs_output = not (asked.summary or asked.query.check or request.sql or request.explain)
    if asked.output is None and needs_output:
        raise UsageError("--spark needs --output DIR", hint="a directory for the parts")
    if asked.query.format.is_text and request.partition_by:
        raise UsageError("--partition-by needs --format json, csv or parquet")
    if request.partition_by and request.single_file:
        raise UsageError("--partition-by and --single-file do not go together")
    if asked.query.format.has_objects:
        _refuse_small_files(asked, request)


def _refuse_small_files(asked: Plan, request: SparkRequest) -> None:
    """Refuse the small files of a log directory where rows are asked for, and among logs.

    Raises:
        UsageError: there is one.
    """
    from kraftops.dump.small_files import is_small_file

    small = [source.path for source in asked.sources if is_small_file(source.path)]
    if small and (asked.output is None or request.sql or request.partition_by):
        raise UsageError(f"{small[0]} is no log", hint="--output DIR has what it says")
    if small and len(small) < len(asked.sources):
        raise UsageError(
            "logs and small files do not go together", hint="dump them by commands of their own"
        )


@contextmanager
def _running(asked: Plan, request: SparkRequest, terminal: Terminal) -> Iterator[_Job]:
    """Start Spark, plan, and give what can be run."""
    start = time.monotonic()
    with SparkProgress() as progress, started(request.settings()) as session:
        splits = planned(session, asked.sources, asked.query.max_bytes)
        if asked.query.filter.topics and not request.explain:
            from kraftops.spark.jobs.topic_ids import topic_ids

            found = topic_ids(session, splits, asked.query)
            asked = replace(asked, query=replace(asked.query, filter=found))
        yield _Job(asked, request, session, splits, progress, terminal, start)
        progress.erase()
        warn_if_slow(session, terminal)


def _dump(job: _Job) -> int:
    from kraftops.spark.dump.dump_job import Output, dump

    assert job.asked.output is not None
    output = Output(job.asked.output, job.request.single_file, job.request.overwrite)
    outcome = dump(job.session, job.splits, job.asked.query, output, job.progress.show)
    job.progress.erase()
    for line in _lines(job.asked, outcome):
        job.terminal.line(line)
    noun = "lines" if job.asked.query.format.is_text else "records"
    job.end(f"{outcome.records:,} {noun}", outcome.damaged, outcome.more_offsets)
    return exit_code(job.asked, outcome.report)


def _lines(asked: Plan, outcome: Outcome) -> Iterator[str]:
    yield from outcome.lines
    if asked.query.format.is_text:
        yield from outcome.report.summary()


def _summary(job: _Job) -> int:
    from kraftops.spark.dump.count_job import count
    from kraftops_cli.dump_log.summary import print_summaries

    found = count(job.session, job.splits, job.asked.query, job.progress.show)
    job.progress.erase()
    for reason in found.refusals:
        job.terminal.error(reason)
    shown = [summary.as_dict() for summary in found.summaries.values()]
    print_summaries(job.asked, job.terminal, shown)
    records = sum(summary.records.count for summary in found.summaries.values())
    job.end(f"{records:,} records")
    return 1 if found.refusals else 0


def _check(job: _Job) -> int:
    """Print a row for each damage."""
    from kraftops.spark.dump.check_job import check

    found = check(job.session, job.splits, job.asked.query, job.progress.show)
    job.progress.erase()
    form = job.asked.query.format
    job.terminal.write(form.head)
    line = _damage_line if form.is_text else lines_of(form).line
    for row in found.rows:
        job.terminal.write(line(row))
    for reason in found.refusals:
        job.terminal.error(reason)
    if found.more:
        job.terminal.line(f"{found.more:,} more of the same splits are not shown")
    job.end(f"{len(found.rows) + found.more:,} damaged places")
    if found.refusals and len(found.refusals) >= len(job.asked.sources):
        return 1
    return DAMAGED if found.rows or found.refusals else 0


def _damage_line(row: Row) -> str:
    return f"{row.file}: {row.error}\n"
