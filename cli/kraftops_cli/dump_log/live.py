"""`kafka-dump-log --controllers`: the metadata log of a running cluster, once or forever."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kraftops.dump.report import Report
from kraftops.dump.scan.part_printer import PartPrinter, file_head
from kraftops.dump.scan.record_lines import RecordLine, record_lines
from kraftops.dump.sources.parts import PartResult, ReportMerger
from kraftops.dump.summary.file_counter import Counting, Quota
from kraftops.dump.summary.summarise import scope_of, summarise
from kraftops.dump.summary.summary import Summary
from kraftops.engine.choice import engine_name
from kraftops.errors import UsageError
from kraftops.fileio.writing import write_all
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.wire.quorum.live_log import LiveLog
from kraftops.wire.quorum.live_parts import live_parts
from kraftops_cli.dump_log.limited import write_limited
from kraftops_cli.dump_log.plan import Plan, Run, open_target, show_lines, write_head
from kraftops_cli.dump_log.run import end
from kraftops_cli.dump_log.summary import plan_readings, print_summaries
from kraftops_cli.dump_log.topics import (
    knows_topic,
    topic_text,
    unknown_error,
    with_topics_of,
)
from kraftops_cli.live.connect import quorum_target
from kraftops_cli.live.options import QuorumOptions
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    import pyarrow as pa

    from kraftops.wire.rpc.endpoints import Endpoints


class _LivePart(NamedTuple):
    """A part of the log and its query; *is_restart*: it replaces all parts before."""

    part: ByteRange
    query: Query
    is_restart: bool


def run_live(plan: Plan, options: QuorumOptions, terminal: Terminal) -> int:
    """Dump the metadata log of controllers; return the exit code.

    Raises:
        UsageError: options contradict each other, or the engine does not exist.
        ConfigError: a configuration file is wrong.
        WireError: no controller answers or leads; AnswerError: the log may not be read.
    """
    engine_name()
    if plan.follow and plan.summary:
        raise UsageError(
            "--summary --follow is for files, not for --controllers",
            hint="kafka-cluster describe --watch shows a running cluster",
        )
    terminal.flush()
    target = quorum_target(terminal, options)
    if plan.summary:
        return _run_summary(plan, target, terminal)
    run = Run(plan, terminal, Report())
    parts = _live_parts(plan, target, terminal)
    if plan.query.output_format.is_columns:
        return _write_parquet(run, parts)
    with open_target(plan, terminal) as fd:
        write_head(plan, fd)
        if plan.has_limit and not plan.follow:
            write_limited(plan, fd, _lines(run, parts))
        else:
            _write(run, parts, fd)
    return end(run)


def _live_parts(plan: Plan, target: Endpoints, terminal: Terminal) -> Iterator[_LivePart]:
    """Yield the parts of the log as they come; each query has the topic ids known so far.

    Raises:
        KraftopsError: the log has ended, and does not know the topics that are asked for.
    """
    query = plan.query_of(plan.sources[0].path)
    is_known = not query.filter.topics
    with LiveLog(target, note=lambda line: terminal.error(f"note: {line}")) as log:
        for part, is_restart in live_parts(log.read(follow=plan.follow)):
            # The record of a topic precedes all other records about it.
            query = with_topics_of(part, query)
            is_known = is_known or knows_topic(part, query)
            # With --follow --tail 0, what was there at the start is only read for the topics.
            if not plan.follow or plan.tail is None or log.has_caught_up:
                yield _LivePart(part, query, is_restart)
    if not is_known:
        unknown_error(topic_text(query.filter.topics), plan, terminal)


def _write(run: Run, parts: Iterator[_LivePart], fd: int) -> None:
    """Write the output of parts, each as soon as it comes."""
    merger = ReportMerger(run.report)
    query = printer = None

    def emit(result: PartResult) -> None:
        show_lines(run.terminal, merger.add(result))

    for part, part_query, _ in parts:
        if printer is None or query != part_query:
            query, printer = part_query, PartPrinter(part_query)
        for chunk in printer(part, emit):
            write_all(fd, chunk)


def _lines(run: Run, parts: Iterator[_LivePart]) -> Iterator[RecordLine]:
    head = b""
    for part, query, _ in parts:
        if query.output_format.is_text and not part.start:
            head = file_head(part, query, run.report)
        yield from record_lines(part, query, run.report, head)
        run.flush_report()


def _write_parquet(run: Run, parts: Iterator[_LivePart]) -> int:
    from kraftops_cli.dump_log.parquet import LimitedBatches, write_parquet_file

    limited = LimitedBatches(run.plan)

    def batches() -> Iterator[pa.RecordBatch]:
        for part, query, _ in parts:
            yield from limited.batches(part, query, run.report)
            run.flush_report()
            if limited.is_done:
                return

    write_parquet_file(run.plan, batches())
    run.flush_report()
    return run.exit_code()


def _run_summary(plan: Plan, target: Endpoints, terminal: Terminal) -> int:
    """Print the summary of the whole log."""
    if plan.tail is not None:
        raise UsageError(
            "--summary with --tail reads twice, which a running cluster does not allow"
        )
    (file,) = plan_readings(plan)
    summary: Summary | None = None
    counting = _counting(plan)
    for part, query, is_restart in _live_parts(plan, target, terminal):
        if is_restart:
            counting = _counting(plan)
        part_summary = summarise(part.path, query, start=part.start, counting=counting)
        if summary is None or is_restart:
            summary = part_summary
        else:
            summary.merge(part_summary)
        if counting.quota and not counting.quota.most:
            break
    if summary is None:
        query = plan.query_of(plan.sources[0].path)
        summary = Summary(scope_of(query, counting))
    run = Run(replace(plan, follow=False), terminal, Report())
    return print_summaries(run, [file], {file.log: summary})


def _counting(plan: Plan) -> Counting:
    return Counting(quota=None if plan.limit is None else Quota(0, plan.limit))
