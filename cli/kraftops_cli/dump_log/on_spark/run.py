"""`kafka-dump-log --spark`: plan splits, run a job, and print its result."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from kraftops.dump.report import Report
from kraftops.dump.small_files import is_small_file
from kraftops.dump.sources.names import SourcePage
from kraftops.dump.sources.parts import source_sizes
from kraftops.dump.summary.logs import Reading
from kraftops.errors import SourceError, UsageError
from kraftops.log.files import STANDARD_INPUT
from kraftops.query.row import Row
from kraftops.query.row_lines import lines_of
from kraftops.spark.dump.check_job import check
from kraftops.spark.dump.count_job import Counted, count
from kraftops.spark.dump.dump_job import Outcome, Output, dump
from kraftops.spark.jobs.planning import Split, plan_splits, planned
from kraftops.spark.jobs.topic_ids import any_has_records, topic_ids
from kraftops.spark.jobs.waves import begun_ahead
from kraftops.spark.session.session import Session, started
from kraftops.spark.session.settings import server_text
from kraftops.spark.sql.sinks import is_table_name
from kraftops.uris import is_remote
from kraftops_cli.dump_log.on_spark.job import SparkJob
from kraftops_cli.dump_log.on_spark.sql import run_partitioned, run_sink, run_sql
from kraftops_cli.dump_log.plan import DAMAGED, Plan, Run, exit_code, show_lines
from kraftops_cli.dump_log.summary import plan_readings, print_summaries
from kraftops_cli.dump_log.topics import Asked, unknown_error, unknown_names
from kraftops_cli.spark.options import SparkRequest, refuse_local, warn_if_slow, warn_if_small
from kraftops_cli.spark.progress import SparkProgress
from kraftops_cli.terminal.streams import Terminal

_REFUSED = ("limit", "tail", "follow", "jobs")


def run_spark(
    plan: Plan,
    request: SparkRequest,
    terminal: Terminal,
    more: Iterator[SourcePage] | None = None,
) -> int:
    """Run a dump on Spark, also of *more* sources than the plan has; return its exit code."""
    _refuse(plan, request)
    refuse_local(request, _paths(plan, request))
    settings = request.settings()
    if request.explain and settings.is_local:
        size = settings.split_bytes
        splits = plan_splits(
            plan.sources, settings.cores or 1, max_bytes=plan.query.max_bytes, size=size
        )
        return _explain(plan, request, splits, terminal)
    if more is None:
        warn_if_small(settings, sum(source_sizes(plan.sources)), terminal)
    with running(plan, request, terminal, more) as job:
        return _run(job)


def _run(job: SparkJob) -> int:
    """Do what the options ask for; return the exit code."""
    if job.request.explain:
        return _explain(job.plan, job.request, job.splits, job.terminal)
    if job.plan.summary:
        return _summary(job)
    if job.request.sink is not None:
        return run_sink(job, job.request.sink)
    if job.request.sql is not None:
        return run_sql(job, job.request.sql)
    if job.plan.output is None:
        return _check(job)
    return run_partitioned(job) if job.request.partition_by else _dump(job)


def _paths(plan: Plan, request: SparkRequest) -> list[str]:
    paths = [source.path for source in plan.sources]
    is_path = not (request.sink and plan.output and is_table_name(request.sink, plan.output))
    if plan.output is not None and not plan.summary and is_path:
        paths.append(plan.output)
    return paths


def _explain(plan: Plan, request: SparkRequest, splits: list[Split], terminal: Terminal) -> int:
    terminal.write(plan_text(plan, request, splits))
    return 0


def _refuse(plan: Plan, request: SparkRequest) -> None:
    """Refuse options that make no sense on Spark.

    Raises:
        UsageError: one is given.
    """
    for name in _REFUSED:
        if getattr(plan, name):
            raise UsageError(f"--{name} and --spark do not go together")
    if any(source.path == STANDARD_INPUT for source in plan.sources):
        raise UsageError("Spark cannot read standard input", hint="leave out --spark")
    needs_output = not (plan.summary or plan.query.check or request.sql or request.explain)
    if plan.output is None and needs_output:
        raise UsageError("--spark needs --output DIR", hint="a directory for the parts")
    if request.sink:
        _refuse_sink(plan, request)
    elif request.partition_by and request.sql:
        raise UsageError("--partition-by and --sql go together only with --sink")
    elif request.partition_by and plan.query.output_format.is_text:
        raise UsageError("--partition-by needs --format json, csv or parquet")
    if plan.query.output_format.has_objects:
        _refuse_small_files(plan, request)


def _refuse_sink(plan: Plan, request: SparkRequest) -> None:
    """Refuse what a table of Delta or Iceberg cannot be.

    Raises:
        UsageError: it is asked for.
    """
    form = plan.query.output_format
    if not (form.is_text or form.is_columns):
        raise UsageError(f"--sink {request.sink} and --format {form.name} do not go together")


def _refuse_small_files(plan: Plan, request: SparkRequest) -> None:
    """Refuse the small files of a log directory if rows are wanted, or among logs.

    Raises:
        UsageError: there is one.
    """
    small = [source.path for source in plan.sources if is_small_file(source.path)]
    if small and (plan.output is None or request.sql or request.partition_by):
        raise UsageError(f"{small[0]} is not a log", hint="--output DIR writes its content")
    if small and len(small) < len(plan.sources):
        raise UsageError(
            "logs and small files do not go together", hint="dump them by commands of their own"
        )


@contextmanager
def running(
    plan: Plan,
    request: SparkRequest,
    terminal: Terminal,
    more: Iterator[SourcePage] | None = None,
) -> Iterator[SparkJob]:
    """Start Spark and plan the splits; *more* sources are asked for meanwhile."""
    start = time.monotonic()
    more = begun_ahead(more or iter(()))
    with SparkProgress(terminal.status) as progress, started(request.settings()) as session:
        splits = planned(session, plan.sources, plan.query.max_bytes)
        if plan.query.filter.topics and not request.explain:
            filter_ = topic_ids(session, splits, plan.query)
            plan = replace(plan, query=replace(plan.query, filter=filter_))
        if (plan.query.filter.topics or plan.groups) and not request.explain:
            _refuse_unknown(plan, session, splits, terminal)
        sources = [*plan.sources]
        yield SparkJob(plan, more, sources, request, session, splits, progress, terminal, start)
        warn_if_slow(session, terminal)


def _refuse_unknown(plan: Plan, session: Session, splits: list[Split], terminal: Terminal) -> None:
    """Refuse topics and groups that no log knows.

    Raises:
        KraftopsError: there are some.
        SparkError: the job failed.
    """

    def any_has(asked: Asked) -> bool:
        queries = {source.path: query for source, query in asked}
        return any_has_records(session, splits, queries)

    if unknown := unknown_names(plan, any_has):
        unknown_error(unknown, plan, terminal)


def _dump(job: SparkJob) -> int:
    assert job.plan.output is not None
    output = Output(job.plan.output, job.request.single_file, job.plan.output_flags)
    outcome = dump(job.session, job.waves(), job.plan.query, output, job.progress.show)
    show_lines(job.terminal, _lines(job.plan, outcome))
    noun = "lines" if job.plan.query.output_format.is_text else "records"
    job.report(f"{outcome.records:,} {noun}", outcome.damaged, outcome.more_offsets)
    return exit_code(replace(job.plan, sources=tuple(job.sources)), outcome.report)


def _lines(plan: Plan, outcome: Outcome) -> Iterator[str]:
    yield from outcome.lines
    if plan.query.output_format.is_text:
        yield from outcome.report.summary()


def _summary(job: SparkJob) -> int:
    files = plan_readings(job.plan)
    counts = counted(job, files)
    run = Run(job.plan, job.terminal, Report())
    for reason in counts.refusals:
        run.report.refusal(SourceError(reason))
    code = print_summaries(run, files, counts.summaries)
    records = sum(summary.records.count for summary in counts.summaries.values())
    job.report(f"{records:,} records")
    return code


def counted(job: SparkJob, files: Sequence[Reading]) -> Counted:
    """Count files on Spark; return the summaries of their logs.

    Raises:
        SparkError: the job failed.
    """
    paths = {file.path for file in files}
    splits = [
        split._replace(
            ranges=tuple(ranged for ranged in split.ranges if ranged.range.path in paths)
        )
        for split in job.splits
    ]
    detailed = frozenset(file.log for file in files if file.details)
    splits = [split for split in splits if split.ranges]
    return count(job.session, splits, job.plan.query, detailed, job.progress.show)


def _check(job: SparkJob) -> int:
    """Print a row for each damage."""
    damage = check(job.session, job.waves(), job.plan.query, job.progress.show)
    form = job.plan.query.output_format
    job.terminal.write(form.head)
    line = _damage_line if form.is_text else lines_of(form).line
    for row in damage.rows:
        job.terminal.write(line(row))
    for reason in damage.refusals:
        job.terminal.error(reason)
    if damage.more:
        job.terminal.line(f"{damage.more:,} more of the same splits are not shown")
    job.report(f"{len(damage.rows) + damage.more:,} damaged places")
    if damage.refusals and len(damage.refusals) >= len(job.sources):
        return 1
    return DAMAGED if damage.rows or damage.refusals else 0


def _damage_line(row: Row) -> str:
    return f"{row.file}: {row.error}\n"


def plan_text(plan: Plan, request: SparkRequest, splits: list[Split]) -> str:
    """Return the plan: master, sources, decoder, filter, output and splits."""
    return "".join(f"{line}\n" for line in _plan_lines(plan, request, splits))


def _plan_lines(plan: Plan, request: SparkRequest, splits: list[Split]) -> Iterator[str]:
    settings = request.settings()
    settings = replace(settings, master=settings.full_master)
    size = sum(source_sizes(plan.sources))
    yield f"master    {server_text(settings.master)}, {settings.tries} tries a task"
    yield f"sources   {len(plan.sources)} files, {size:,} bytes"
    yield f"decoder   {plan.query.decoder or 'by directory'}"
    if not plan.query.filter.is_empty:
        yield f"filter    {_filter_text(plan)}"
    yield f"output    {_output_text(plan, request)}"
    yield f"splits    {len(splits)}"
    for split in splits:
        for number, labelled in enumerate(split.ranges):
            part = labelled.range
            stop = "end" if part.stop is None else part.stop
            head = split.number if not number else ""
            yield f"{head:>8}  {part.path} {part.start}..{stop}"


def _filter_text(plan: Plan) -> str:
    filter_ = plan.query.filter
    default = type(filter_)()
    changed = {
        name: getattr(filter_, name)
        for name in filter_.__slots__
        if getattr(filter_, name) != getattr(default, name)
    }
    return ", ".join(
        f"{name}={','.join(map(str, sorted(value))) if isinstance(value, frozenset) else value}"
        for name, value in changed.items()
    )


def _output_text(plan: Plan, request: SparkRequest) -> str:
    if plan.summary:
        return "a summary"
    if request.sql:
        what = f"the answer to {request.sql!r}"
        where = f" in a table of {request.sink}:" if request.sink else " in"
        return f"{what}{where} {plan.output}" if plan.output else what
    if plan.output is None:
        return "a row for each damage" if plan.query.check else "none: --output DIR is missing"
    if request.sink:
        by = f" by {request.partition_by}" if request.partition_by else ""
        return f"a table of {request.sink}{by}, written by Spark: {plan.output}"
    if request.partition_by:
        who = "the workers" if is_remote(plan.output) else "Spark"
        return f"{plan.query.form} by {request.partition_by}, written by {who}: {plan.output}"
    kind = "one file, joined" if request.single_file else "a part a split, written by the workers"
    return f"{plan.query.form}, {kind}: {plan.output}"
