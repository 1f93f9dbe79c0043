"""Dump logs on Spark: text, JSON, CSV or Parquet, one part a split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.dump.query import Query
from kraftops.dump.report import Report
from kraftops.dump.splitting import Findings
from kraftops.spark.dumping import ENDINGS, Counters, DumpWork, Written, part_name
from kraftops.spark.jobs import run
from kraftops.spark.joining import join
from kraftops.spark.planning import Split
from kraftops.spark.session import Session
from kraftops.spark.targets import Target, abandon, commit, prepared
from kraftops.spark.watching import Show


@dataclass(frozen=True, slots=True)
class Output:
    """Where a dump goes: a directory of parts, or with *single_file* one file."""

    path: str
    single_file: bool = False
    overwrite: bool = False


class Outcome(NamedTuple):
    """What a dump has written and found; *lines* are for standard error."""

    report: Report
    lines: list[str]
    records: int
    size: int
    damaged: int


def dump(
    session: Session,
    splits: Sequence[Split],
    query: Query,
    output: Output,
    show: Show | None = None,
) -> Outcome:
    """Write what *query* asks for of all splits; each is read by a worker, which writes its part.

    Raises:
        UsageError: the output is there already.
        OutputError: it cannot be written.
        SparkError: the job failed.
    """
    target = prepared(output.path, overwrite=output.overwrite, is_file=output.single_file)
    try:
        written = _written(session, splits, query, target, show)
        if output.single_file:
            join(target, [one.name for one in written], query.form, output.path)
            abandon(target)
        else:
            ending = ENDINGS[query.form]
            names = [(one.name, part_name(one.number, len(splits)) + ending) for one in written]
            commit(target, names, query.form)
    except BaseException:
        abandon(target)
        raise
    return _outcome(written)


def _written(
    session: Session, splits: Sequence[Split], query: Query, target: Target, show: Show | None
) -> list[Written]:
    context = session.context
    counters = Counters(context.accumulator(0), context.accumulator(0))
    work = DumpWork(query, target, len(splits), session.settings.tries, counters)
    return run(session, splits, work, show, lambda: (counters[0].value, counters[1].value))


def _outcome(written: Sequence[Written]) -> Outcome:
    report = Report()
    findings = Findings(report)
    lines: list[str] = []
    damaged = 0
    for one in written:
        damaged += any(found.report.has_failed or found.report.has_damage for found in one.found)
        for found in one.found:
            lines += findings.add(found)
        if one.more_lines:
            lines.append(f"split {one.number}: {one.more_lines} more lines about damage")
    lines += report.take_lines()
    return Outcome(
        report,
        lines,
        sum(one.records for one in written),
        sum(one.size for one in written),
        damaged,
    )
