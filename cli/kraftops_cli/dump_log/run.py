"""Run of a dump: from sources to text or rows, in one thread or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from kraftops.dump.report import Report
from kraftops.dump.scan.part_scan import PartMaker, Unit, file_head, units
from kraftops.dump.sources.parts import (
    Findings,
    Found,
    job_count,
    plan_parts,
    total_size,
    whole_files,
)
from kraftops.engine.choice import engine_name
from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.log.files import STANDARD_INPUT, FileKind, file_name
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops_cli.dump_log.output import (
    LimitedBatches,
    open_target,
    print_report,
    write_head,
    write_limited,
    write_parquet_file,
)
from kraftops_cli.dump_log.plan import Plan, exit_code
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    import pyarrow as pa

    from kraftops.parallel.ordered import OpenProducer

_POLL_SECONDS = 0.2


def run(plan: Plan, terminal: Terminal) -> int:
    """Run the dump; return its exit code.

    Raises:
        UsageError: the chosen engine is missing, or the sources do not fit together.
    """
    engine_name()
    if plan.summary:
        from kraftops_cli.dump_log.summary import run_summary

        return run_summary(plan, terminal)
    report = Report()
    plan = _with_topics(plan)
    if plan.follow:
        _refuse_to_follow(plan)
    if small := _small_files(plan):
        return _run_small_files(plan, small, report, terminal)
    if plan.query.format.is_columns:
        return _run_parquet(plan, report, terminal)
    with open_target(plan, terminal) as fd:
        write_head(plan, fd)
        if plan.follow:
            _run_follow(plan, fd, report, terminal)
        elif plan.limit is not None or plan.tail is not None:
            write_limited(plan, fd, _units(plan, report, terminal))
        else:
            _run_parts(plan, fd, report, terminal)
    print_report(report, terminal)
    if plan.query.format.is_text:
        terminal.lines(report.summary())
    return exit_code(plan, report)


def _with_topics(plan: Plan) -> Plan:
    """Return the plan with the ids of the topics in the filter."""
    if not plan.query.filter.topics:
        return plan
    from kraftops.dump.scan.topic_ids import with_topic_ids

    paths = [one.path for one in plan.sources if plan.query_of(one.path).reader.has_topics]
    if STANDARD_INPUT in paths and not all(map(_is_id, plan.query.filter.topics)):
        raise UsageError(
            "topics cannot be looked up in standard input, which is read only once",
            hint="name them by their ids, or give a file",
        )
    files = [ByteRange(path) for path in paths if path != STANDARD_INPUT]
    return replace(plan, query=with_topic_ids(plan.query, files))


def _is_id(topic: str) -> bool:
    from kraftops.uuids import from_text

    try:
        from_text(topic)
    except DecodeError:
        return False
    return True


def _refuse_to_follow(plan: Plan) -> None:
    """Refuse sources that do not grow, or are several logs.

    Raises:
        UsageError: the sources are of this kind.
    """
    if len({source.group for source in plan.sources}) > 1:
        raise UsageError("--follow follows one log, not several")
    last = plan.sources[-1].path
    name = file_name(last)
    if name is None or name.kind is not FileKind.LOG or name.archive or name.is_stdin:
        raise UsageError(f"--follow follows a segment or the directory of a partition, not {last}")


def _small_files(plan: Plan) -> list[str]:
    """Return the small files among the sources, if JSON is asked for."""
    if not plan.query.format.has_objects:
        return []
    from kraftops.dump.small_files import is_small_file

    return [source.path for source in plan.sources if is_small_file(source.path)]


def _run_small_files(plan: Plan, paths: list[str], report: Report, terminal: Terminal) -> int:
    """Write small files as JSON objects, one a line."""
    import json

    from kraftops.dump.small_files import small_file
    from kraftops.fileio.writing import write_all

    if len(paths) < len(plan.sources):
        raise UsageError(
            "logs and small files do not go together", hint="dump them by commands of their own"
        )
    with open_target(plan, terminal) as fd:
        for path in paths:
            try:
                found = small_file(path)
            except SourceError as error:
                report.refusal(error.message)
            else:
                assert found is not None
                line = json.dumps(found, ensure_ascii=False) + "\n"
                write_all(fd, line.encode("utf-8", "surrogateescape"))
                if "damage" in found:
                    report.has_failed = report.has_damage = True
                    report.remark(f"{path}: {found['damage']}")
            print_report(report, terminal)
    return exit_code(plan, report)


def _run_parquet(plan: Plan, report: Report, terminal: Terminal) -> int:
    if plan.limit is not None or plan.tail is not None:
        write_parquet_file(plan, _batches(plan, report, terminal))
    else:
        _run_parquet_parts(plan, report, terminal)
    print_report(report, terminal)
    return exit_code(plan, report)


def _run_parquet_parts(plan: Plan, report: Report, terminal: Terminal) -> None:
    from kraftops.dump.scan.arrow import ArrowParts, ParquetFile

    with open_target(plan, terminal) as fd, ParquetFile(fd) as file:
        _run_parts(
            plan, fd, report, terminal, lambda: nullcontext(ArrowParts(plan.query_of)), file.add
        )


def _batches(plan: Plan, report: Report, terminal: Terminal) -> Iterator[pa.RecordBatch]:
    limited = LimitedBatches(plan)
    for source in plan.sources:
        try:
            yield from limited.batches(ByteRange(source.path), plan.query_of(source.path), report)
        except (SourceError, UsageError) as error:
            report.refusal(error.message)
        print_report(report, terminal)
        if limited.is_done:
            return


def _run_follow(plan: Plan, fd: int, report: Report, terminal: Terminal) -> None:
    """Write the log of the last source, then the batches appended to it, forever."""
    import time

    from kraftops.dump.sources.follow import follow
    from kraftops.fileio.writing import write_all

    *before, last = plan.sources
    if before:
        _run_parts(replace(plan, sources=tuple(before), jobs=1), fd, report, terminal)
    query = plan.query_of(last.path)
    maker = PartMaker(query)
    findings = Findings(report)

    def tell(found: Found) -> None:
        for line in findings.add(found):
            terminal.line(line)

    for part in follow(last.path, lambda: time.sleep(_POLL_SECONDS), terminal.line):
        if (known := with_topics_of(part, query)) != query:
            query = known
            maker = PartMaker(query)
        for chunk in maker(part, tell):
            write_all(fd, chunk)


def with_topics_of(part: ByteRange, query: Query) -> Query:
    """Return the query with the ids of topics that were created in a part."""
    if not query.filter.topics or not query.reader.has_topics:
        return query
    from kraftops.dump.scan.topic_ids import with_topic_ids

    return with_topic_ids(query, [part])


class _RangeTexts:
    """Text of byte ranges, by the query of each source."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._by_query: dict[Query, PartMaker] = {}

    def __call__(self, part: ByteRange, tell: Callable[[Found], None]) -> Iterator[bytes]:
        query = self._plan.query_of(part.path)
        maker = self._by_query.get(query)
        if maker is None:
            maker = self._by_query[query] = PartMaker(query)
        return maker(part, tell)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for maker in self._by_query.values():
            maker.close()


def _run_parts(
    plan: Plan,
    fd: int,
    report: Report,
    terminal: Terminal,
    make: OpenProducer[ByteRange, Any] | None = None,
    on_batch: Callable[[Any], None] | None = None,
) -> None:
    """Write the text of all ranges, and pass the record batches of *make* to *on_batch*."""
    from kraftops.parallel.ordered import run_ordered
    from kraftops_cli.terminal.progress import Progress, is_wanted

    paths = [source.path for source in plan.sources]
    size = total_size(paths)
    jobs = job_count(size) if plan.jobs is None else plan.jobs
    if jobs > 1 and not plan.query.salvage:
        parts = plan_parts(paths, max_bytes=plan.query.max_bytes)
    else:
        parts = whole_files(paths)
    findings = Findings(report)
    with Progress(size, is_shown=fd >= 0 and is_wanted(fd)) as progress:

        def on_result(found: Any) -> None:
            if not isinstance(found, Found):
                assert on_batch
                on_batch(found)
                return
            progress.advance(found.size)
            lines = findings.add(found)
            if lines:
                progress.erase()
            for line in lines:
                terminal.line(line)

        run_ordered(parts, make or (lambda: _RangeTexts(plan)), fd, jobs, on_result)


def _units(plan: Plan, report: Report, terminal: Terminal) -> Iterator[Unit]:
    """Yield the text of each matching record, file by file, with the lines before it."""
    for source in plan.sources:
        query, part = plan.query_of(source.path), ByteRange(source.path)
        try:
            head = file_head(part, report) if query.format.is_text else b""
            yield from units(part, query, report, head)
        except (SourceError, UsageError) as error:
            report.refusal(error.message)
        print_report(report, terminal)
