"""Run a dump: sources in, text or rows out, in one thread or several."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from kraftops.dump.report import Report
from kraftops.dump.scan.part_scan import PartMaker, Unit, file_head, units
from kraftops.dump.sources.names import Source
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
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    import pyarrow as pa

    from kraftops.parallel.ordered import OpenProducer

DAMAGED = 2
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the command line asks for besides the query."""

    sources: tuple[Source, ...]
    query: Query
    output: str | None = None
    jobs: int | None = None
    limit: int | None = None
    tail: int | None = None
    summary: bool = False
    follow: bool = False

    def query_of(self, path: str) -> Query:
        """Return the query of a source: with the decoder of its directory, if it has one."""
        decoder = next((one.decoder for one in self.sources if one.path == path), None)
        return self.query.for_source(decoder)


def run(plan: Plan, terminal: Terminal) -> int:
    """Run the dump; return its exit code.

    Raises:
        UsageError: the engine that is asked for is not there, or the sources do not go together.
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
    tell(report, terminal)
    if plan.query.format.is_text:
        terminal.lines(report.summary())
    return exit_code(plan, report)


def tell(report: Report, terminal: Terminal) -> None:
    """Write the lines of a report that came since the last call."""
    for line in report.take_lines():
        terminal.line(line)


def exit_code(plan: Plan, report: Report) -> int:
    """Return the exit code of a dump: Kafka's, or that of `--check`."""
    if not plan.query.check:
        return 1 if report.has_failed else 0
    if report.refused and report.refused >= len(plan.sources):
        return 1
    return DAMAGED if report.has_damage else 0


def _with_topics(plan: Plan) -> Plan:
    """Return the plan with the ids of the topics that are asked for."""
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
    """Refuse what does not grow, or not as one log.

    Raises:
        UsageError: it is such.
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
            tell(report, terminal)
    return exit_code(plan, report)


def _run_parquet(plan: Plan, report: Report, terminal: Terminal) -> int:
    if plan.limit is not None or plan.tail is not None:
        write_parquet_file(plan, _batches(plan, report, terminal))
    else:
        _run_parquet_parts(plan, report, terminal)
    tell(report, terminal)
    return exit_code(plan, report)


def _run_parquet_parts(plan: Plan, report: Report, terminal: Terminal) -> None:
    from kraftops.dump.scan.arrow import ArrowParts, ParquetFile

    with open_target(plan, terminal) as fd, ParquetFile(fd) as file:
        _run_parts(
            plan, fd, report, terminal, lambda: nullcontext(ArrowParts(plan.query_of)), file.add
        )


def write_parquet_file(plan: Plan, batches: Iterable[pa.RecordBatch]) -> None:
    """Write the last rows of *batches*, where they are asked for, or all to the output file."""
    from kraftops.dump.scan.arrow import last_rows, write_parquet
    from kraftops.fileio.output import open_output

    if plan.limit is None and plan.tail is not None:
        batches = last_rows(batches, plan.tail)
    assert plan.output is not None
    with open_output(plan.output, [source.path for source in plan.sources]) as fd:
        write_parquet(batches, fd)


def _batches(plan: Plan, report: Report, terminal: Terminal) -> Iterator[pa.RecordBatch]:
    limited = Limited(plan)
    for source in plan.sources:
        try:
            yield from limited.batches(ByteRange(source.path), plan.query_of(source.path), report)
        except (SourceError, UsageError) as error:
            report.refusal(error.message)
        tell(report, terminal)
        if limited.is_done:
            return


class Limited:
    """Record batches of parts, up to the limit of rows, if there is one."""

    def __init__(self, plan: Plan) -> None:
        """Read up to the limit of *plan*."""
        self._left = plan.limit

    @property
    def is_done(self) -> bool:
        """Whether the limit is reached."""
        return self._left == 0

    def batches(self, part: ByteRange, query: Query, report: Report) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part."""
        from kraftops.dump.scan.arrow import arrow_schema, first_batches, scan_batches

        if self._left is None:
            yield from scan_batches(part, query, report, arrow_schema())
            return
        for batch in first_batches(part, query, report, self._left):
            self._left -= batch.num_rows
            yield batch


def _run_follow(plan: Plan, fd: int, report: Report, terminal: Terminal) -> None:
    """Write what is there of the last source and its like, and what is appended, for ever."""
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


def open_target(plan: Plan, terminal: Terminal) -> AbstractContextManager[int]:
    """Give the descriptor of the output file, or of standard output."""
    if plan.output is None:
        return nullcontext(terminal.fd)
    from kraftops.fileio.output import open_output

    return open_output(plan.output, [source.path for source in plan.sources])


def write_head(plan: Plan, fd: int) -> None:
    """Write the line that a file begins with, if the format has one."""
    from kraftops.fileio.writing import write_all

    write_all(fd, plan.query.format.head.encode())


class _Makers:
    """Makes the text of any part, by the query of its source."""

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
    """Write the text of all parts, or hand on the batches that what *make* makes tells besides."""
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

        run_ordered(parts, make or (lambda: _Makers(plan)), fd, jobs, on_result)


def write_limited(plan: Plan, fd: int, found: Iterator[Unit]) -> None:
    """Write the first or last records of those that match."""
    from kraftops.fileio.writing import Chunks, write_all

    chunks = Chunks(lambda data: write_all(fd, data))
    chosen = deque(found, plan.tail) if plan.limit is None else islice(found, plan.limit)
    last = Unit(b"", b"", b"")
    for unit in chosen:
        for line, before in zip(unit[:2], last[:2], strict=True):
            if line is not before:
                chunks.add(line)
        chunks.add(unit.line)
        last = unit
    chunks.flush()


def _units(plan: Plan, report: Report, terminal: Terminal) -> Iterator[Unit]:
    """Yield the text of each record that matches, file by file, with the lines before it."""
    for source in plan.sources:
        query, part = plan.query_of(source.path), ByteRange(source.path)
        try:
            head = file_head(part, report) if query.format.is_text else b""
            yield from units(part, query, report, head)
        except (SourceError, UsageError) as error:
            report.refusal(error.message)
        tell(report, terminal)
