"""What Spark writes or answers itself: SQL over the table `log`, and output by partitions."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

from kraftops.display.text_table import aligned
from kraftops.errors import UsageError
from kraftops.query.formats import JSON, Format
from kraftops.spark.session.session import Session
from kraftops_cli.dump_log.plan import DAMAGED, Plan
from kraftops_cli.spark.options import SparkRequest
from kraftops_cli.spark.progress import SparkProgress
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from kraftops.spark.dump.targets import Target

R = TypeVar("R")
_WIDEST = 80  # characters of a column


def run_sql(
    session: Session,
    asked: Plan,
    request: SparkRequest,
    progress: SparkProgress,
    terminal: Terminal,
) -> int:
    """Answer SQL: a table on the screen, rows in a form on standard output, or a directory."""
    from kraftops.spark.sql.tables import MOST_SHOWN, answer, log_table, rows_of, write_table

    assert request.sql is not None
    log_table(session, asked.sources, asked.query)
    table = answer(session, request.sql)
    if asked.output is not None:
        form = JSON.name if asked.query.format.is_text else asked.query.form
        start = time.monotonic()
        _write(session, asked, request, lambda target: write_table(table, target, form))
        progress.erase()
        terminal.line(f"written in {time.monotonic() - start:.1f} s: {asked.output}")
        return 0
    if asked.query.format.has_objects:
        _refuse_equal_names(table.columns)
    rows = rows_of(table)
    if asked.query.format.is_text:
        some = list(islice(rows, MOST_SHOWN + 1))
        progress.erase()
        terminal.write(_table_text(table.columns, some[:MOST_SHOWN]))
        if len(some) > MOST_SHOWN:
            terminal.line(f"the first {MOST_SHOWN:,} rows; --format or --output has all")
        return 0
    first = list(islice(rows, 1))
    progress.erase()
    _print_rows(table.columns, chain(first, rows), asked.query.format, terminal)
    return 0


def run_partitioned(
    session: Session,
    asked: Plan,
    request: SparkRequest,
    progress: SparkProgress,
    terminal: Terminal,
) -> int:
    """Write rows into a directory for each type, date or topic."""
    from kraftops.spark.sql.tables import log_table, write_log

    start = time.monotonic()
    table = log_table(session, asked.sources, asked.query)
    by = str(request.partition_by)
    counts = _write(
        session, asked, request, lambda target: write_log(table, target, asked.query.form, by)
    )
    progress.erase()
    damaged = f", {counts.damaged:,} of them damaged," if counts.damaged else ""
    seconds = time.monotonic() - start
    terminal.line(f"{counts.records:,} records{damaged} in {seconds:.1f} s: {asked.output}")
    if asked.query.check:
        return DAMAGED if counts.damaged else 0
    return 1 if counts.fatal else 0


def _write(session: Session, asked: Plan, request: SparkRequest, write: Callable[[Target], R]) -> R:
    """Have a directory written, which is there whole or not at all; of a store, `_SUCCESS` is."""
    from kraftops.spark.dump.targets import abandon, finish, prepared_target
    from kraftops.spark.jobs.run import cancel

    assert asked.output is not None
    target = prepared_target(asked.output, overwrite=request.overwrite)
    try:
        made = write(target)
        if not target.is_remote:
            finish(target)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            cancel(session)
        abandon(target)
        raise
    return made


def _refuse_equal_names(columns: list[str]) -> None:
    """Refuse columns that an object of JSON cannot tell apart.

    Raises:
        UsageError: there are such.
    """
    for name in columns:
        if columns.count(name) > 1:
            raise UsageError(f"several columns are called {name!r}", hint="rename them by AS")


def _print_rows(
    columns: list[str], rows: Iterable[Sequence[Any]], form: Format, terminal: Terminal
) -> None:
    if form.has_objects:
        for row in rows:
            told = dict(zip(columns, row, strict=True))
            terminal.write(json.dumps(told, ensure_ascii=False, default=_plain) + "\n")
        return
    if form.is_columns:
        raise UsageError(f"--format {form.name} needs --output DIR")
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(list(map(_cell, row)))
        terminal.write(out.getvalue())
        out.seek(0)
        out.truncate()
    terminal.write(out.getvalue())


def _table_text(columns: list[str], rows: list[list[Any]]) -> str:
    """Return rows as a table: columns as wide as what is in them, up to a limit."""
    texts = [columns, *([_shown(value) for value in row] for row in rows)]
    numeric = [
        all(isinstance(row[at], int | float) or row[at] is None for row in rows)
        for at in range(len(columns))
    ]
    lines = aligned([[text[:_WIDEST] for text in row] for row in texts], numeric)
    return "".join(f"{line}\n" for line in lines)


def _shown(value: object) -> str:
    text = _cell(value)
    return "".join(one if one.isprintable() else "." for one in text)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=_plain)
    return str(_plain(value)) if isinstance(value, bytes | bytearray) else str(value)


def _plain(value: object) -> object:
    if isinstance(value, bytes | bytearray):
        from base64 import b64encode

        return b64encode(value).decode()
    return str(value)
