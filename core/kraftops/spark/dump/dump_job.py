"""Dump logs on Spark as text, JSON, CSV or Parquet, one part a split."""

import shutil
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from typing import BinaryIO, NamedTuple

from kraftops.dump.report import Report
from kraftops.dump.scan.arrow import ParquetFile
from kraftops.dump.sources.parts import ReportMerger
from kraftops.fileio.output import PLAIN, OutputError, OutputFlags, open_output
from kraftops.query.formats import FORMATS
from kraftops.query.query import Query
from kraftops.spark.dump.dump_task import DumpWork, WrittenPart
from kraftops.spark.dump.targets import (
    ENDINGS,
    Target,
    abandon,
    commit,
    part_name,
    prepared_target,
    publish_file,
)
from kraftops.spark.jobs.planning import Split
from kraftops.spark.jobs.run import run_by_range
from kraftops.spark.session.job_progress import Show
from kraftops.spark.session.session import Session

_BLOCK = 8 << 20  # bytes that are copied at once


@dataclass(frozen=True, slots=True)
class Output:
    """Output of a dump: a directory of parts, or with *single_file* one file."""

    path: str
    single_file: bool = False
    flags: OutputFlags = PLAIN


class Outcome(NamedTuple):
    """Result of a dump; *lines* are for standard error.

    *damaged* counts splits, or their byte ranges where these were read one by one.
    """

    report: Report
    lines: list[str]
    records: int
    damaged: int
    more_offsets: int
    """Number of offset gaps that the report does not list."""


def dump(
    session: Session,
    waves: Iterable[Sequence[Split]],
    query: Query,
    output: Output,
    show: Show | None = None,
) -> Outcome:
    """Write the answer to *query*; a worker reads each split and writes its part.

    Each of the *waves* is a job; the numbers of their splits go on.

    Raises:
        ExistsError: the output is there already.
        OutputError: it cannot be written.
        SparkError: the job failed.
    """
    target = prepared_target(output.path, output.flags, is_file=output.single_file)
    try:
        written = _written(session, waves, query, target, show)
        if output.single_file:
            join(target, [part.name for part in written], query.form, output)
            abandon(target)
        else:
            commit(target, _parts(written, target, query.form), query.form)
    except BaseException:
        abandon(target)
        raise
    return _outcome(written)


def _written(
    session: Session,
    waves: Iterable[Sequence[Split]],
    query: Query,
    target: Target,
    show: Show | None,
) -> list[WrittenPart]:
    written: list[WrittenPart] = []
    for splits in waves:
        decoders = query.decoders(labelled.decoder for split in splits for labelled in split.ranges)
        work = DumpWork(query, target, session.settings.tries, decoders)
        for part in run_by_range(session, splits, work, show):
            if part.failure:
                raise OutputError(part.failure)
            written.append(part)
    return written


def _parts(written: Sequence[WrittenPart], target: Target, form: str) -> list[tuple[str, str]]:
    """Return the present and final names of the parts; byte ranges of one split are joined."""
    parts = []
    splits = 1 + max((part.number for part in written), default=0)
    for number, some in groupby(written, lambda part: part.number):
        part, ending, names = part_name(number, splits), ENDINGS[form], [part.name for part in some]
        if len(names) > 1:
            name = target.attempt_name(part, ending, "joined")
            join_part(target, names, form, name)
            names = [name]
        parts.append((names[0], part + ending))
    return parts


def _outcome(written: Sequence[WrittenPart]) -> Outcome:
    report = Report()
    findings = ReportMerger(report)
    lines: list[str] = []
    damaged = 0
    for part in written:
        reports = [read.report for read in part.part_results]
        damaged += any(report.has_failed or report.has_damage for report in reports)
        for part_result in part.part_results:
            lines += findings.add(part_result)
        if part.more_lines:
            lines.append(f"split {part.number}: {part.more_lines} more lines about damage")
    lines += report.take_lines()
    return Outcome(
        report=report,
        lines=lines,
        records=sum(part.records for part in written),
        damaged=damaged,
        more_offsets=sum(part.more_offsets for part in written),
    )


def join(target: Target, names: Sequence[str], form: str, output: Output) -> None:
    """Write the parts *names* to the file of an *output*, whole or not at all.

    Raises:
        OutputError: it cannot be written, or a part cannot be read.
    """
    if target.is_remote:
        name = target.attempt_name("joined", ENDINGS[form], 0)
        join_part(target, names, form, name)
        publish_file(target, name)
        return
    with open_output(output.path, flags=output.flags) as fd, open(fd, "wb", closefd=False) as file:
        _join(target, names, form, file)


def join_part(target: Target, names: Sequence[str], form: str, name: str) -> None:
    """Write the files *names*, which together are a part, to the file *name* of the target.

    Raises:
        OutputError: it cannot be written, or one of them cannot be read.
    """
    with target.writing(name) as file:
        _join(target, names, form, file)


def _join(target: Target, names: Sequence[str], form: str, file: BinaryIO) -> None:
    if FORMATS[form].is_columns:
        _join_parquet(target, names, file)
        return
    for number, name in enumerate(names):
        with target.reading(name) as part:
            if FORMATS[form].head and number:
                _pass_line(part)
            shutil.copyfileobj(part, file, _BLOCK)


def _join_parquet(target: Target, names: Sequence[str], file: BinaryIO) -> None:
    import pyarrow.parquet as pq

    with ExitStack() as opened:
        whole = None
        for name in names:
            with target.reading(name) as part:
                table = pq.ParquetFile(part)
                whole = whole or opened.enter_context(ParquetFile(file, table.schema_arrow))
                for number in range(table.num_row_groups):
                    for batch in table.read_row_group(number).to_batches():
                        whole.add(batch)


def _pass_line(part: BinaryIO) -> None:
    """Skip the header line of CSV, which has no quoted newlines."""
    while part.read(1) not in (b"\n", b""):
        pass
