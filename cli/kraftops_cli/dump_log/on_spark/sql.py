"""SQL over the table `log`, and output by partitions, which Spark writes itself."""

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from numbers import Number
from typing import Any, TypeVar

from kraftops.display.columns import folded, number
from kraftops.errors import UsageError
from kraftops.query.formats import CSV_SAFE, JSON, Format
from kraftops.query.row_lines import csv_line
from kraftops.spark.dump.targets import Target, abandon, finish, prepared_target
from kraftops.spark.sql.sinks import explained, write_sink
from kraftops.spark.sql.tables import (
    MOST_SHOWN,
    RowCounts,
    answer,
    json_lines,
    log_table,
    observed,
    rows_of,
    write_log,
    write_table,
)
from kraftops_cli.dump_log.on_spark.job import SparkJob
from kraftops_cli.dump_log.plan import DAMAGED
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import Table, print_table

R = TypeVar("R")
_WIDEST = 80  # characters of a column


def run_sql(job: SparkJob, sql: str) -> int:
    """Answer SQL: a table on the screen, rows in a form on standard output, or a directory."""
    plan, terminal = job.plan, job.terminal
    table = answer(job.session, plan.sources, plan.query, sql)
    if plan.output is not None:
        form = JSON.name if plan.query.output_format.is_text else plan.query.form
        start = time.monotonic()
        _write(job, lambda target: write_table(table, target, form))
        terminal.line(f"written in {time.monotonic() - start:.1f} s: {plan.output}")
        return 0
    output_format = plan.query.output_format
    if output_format.has_objects:
        _refuse_equal_names(table.columns)
        for line in json_lines(table):
            terminal.write(f"{line}\n")
        return 0
    rows = rows_of(table, times_as_text=output_format.is_text)
    if output_format.is_text:
        some = list(islice(rows, MOST_SHOWN + 1))
        print_table(terminal.console, _table_of(table.columns, some[:MOST_SHOWN]))
        if len(some) > MOST_SHOWN:
            terminal.line(f"the first {MOST_SHOWN:,} rows; --format or --output has all")
        return 0
    first = list(islice(rows, 1))
    _print_rows(table.columns, chain(first, rows), output_format, terminal)
    return 0


def run_sink(job: SparkJob, sink: str) -> int:
    """Write rows, or the answer to SQL, as a table of Delta or Iceberg."""
    plan, request, start = job.plan, job.request, time.monotonic()
    with explained(sink):
        if request.sql is None:
            table, counts = observed(log_table(job.session, plan.sources, plan.query))
        else:
            table, counts = answer(job.session, plan.sources, plan.query, request.sql), None
        write_sink(
            table,
            sink,
            str(plan.output),
            overwrite=plan.overwrite,
            partition_by=request.partition_by,
        )
    if counts is not None:
        return _counted(job, counts(), start)
    job.terminal.line(f"written in {time.monotonic() - start:.1f} s: {plan.output}")
    return 0


def run_partitioned(job: SparkJob) -> int:
    """Write rows into a directory for each type, date or topic."""
    plan, start = job.plan, time.monotonic()
    table = log_table(job.session, plan.sources, plan.query)
    by = str(job.request.partition_by)
    counts = _write(job, lambda target: write_log(table, target, plan.query.form, by))
    return _counted(job, counts, start)


def _counted(job: SparkJob, counts: RowCounts, start: float) -> int:
    """Print the numbers of rows that were written; return the exit code."""
    plan = job.plan
    damaged = f", {counts.errors:,} of them damaged," if counts.errors else ""
    seconds = time.monotonic() - start
    job.terminal.line(f"{counts.records:,} records{damaged} in {seconds:.1f} s: {plan.output}")
    damaged_rows = counts.errors if plan.query.check else counts.damaged
    return DAMAGED if damaged_rows else 0


def _write(job: SparkJob, write: Callable[[Target], R]) -> R:
    """Write a directory, whole or not at all; to an object store, the writer of tables does."""
    assert job.plan.output is not None
    target = prepared_target(job.plan.output, job.plan.output_flags)
    try:
        written = write(target)
        if not target.is_remote:
            finish(target)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            job.session.jobs.cancel()
        elif isinstance(error, SystemExit):
            job.session.jobs.cancel_on_server()
        abandon(target)
        raise
    return written


def _refuse_equal_names(columns: list[str]) -> None:
    """Refuse columns of the same name, which a JSON object cannot have.

    Raises:
        UsageError: there are some.
    """
    for name in columns:
        if columns.count(name) > 1:
            raise UsageError(f"several columns are called {name!r}", hint="rename them by AS")


def _print_rows(
    columns: list[str], rows: Iterable[Sequence[Any]], form: Format, terminal: Terminal
) -> None:
    if form.is_columns:
        raise UsageError(f"--format {form.name} needs --output DIR")
    is_safe = form is CSV_SAFE
    terminal.write(csv_line(columns, is_safe=is_safe))
    for row in rows:
        terminal.write(terminal.shown(csv_line(map(_field, row), is_safe=is_safe)[:-1]) + "\n")


def _table_of(columns: list[str], rows: list[list[Any]]) -> Table:
    """Return rows as a table; long texts are cut to a limit."""
    numeric = [
        all(isinstance(row[position], int | float) or row[position] is None for row in rows)
        for position in range(len(columns))
    ]
    headings = [
        number(escaped(name)[:_WIDEST]) if is_number else folded(escaped(name)[:_WIDEST])
        for name, is_number in zip(columns, numeric, strict=True)
    ]
    return Table(headings, [[_cell(value)[:_WIDEST] for value in row] for row in rows])


def _field(value: object) -> object:
    is_number = isinstance(value, Number) and not isinstance(value, bool)
    return value if is_number else _cell(value)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
