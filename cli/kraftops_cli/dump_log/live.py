"""`kafka-dump-log --controllers`: the metadata log of a running cluster, once or for ever."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.dump.report import Report
from kraftops.dump.scan.part_scan import PartMaker, Unit, file_head, units
from kraftops.dump.sources.parts import Findings, Found
from kraftops.engine.choice import engine_name
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
from kraftops_cli.dump_log.run import with_topics_of
from kraftops_cli.live.connect import QuorumOptions, quorum_target
from kraftops_cli.live.options import LIVE
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    import pyarrow as pa

    from kraftops.wire.quorum.quorum_target import QuorumTarget


class _Asked(NamedTuple):
    """A part, and what is to be shown of it; where it *begins_anew*, what came before is void."""

    part: ByteRange
    query: Query
    begins_anew: bool


def run_live(plan: Plan, options: dict[str, object], terminal: Terminal) -> int:
    """Dump what controllers have; return the exit code.

    Raises:
        UsageError: the options make no sense, or there is no such engine.
        ConfigError: a file makes no sense.
        WireError: nobody leads, or answers; AnswerError: it is not permitted to read the log.
    """
    engine_name()
    terminal.flush()
    named: dict[str, Any] = {name: options[name] for name in LIVE}
    target = quorum_target(terminal, QuorumOptions(**named))
    if plan.summary:
        return _run_summary(plan, target, terminal)
    report = Report()
    parts = _asked(plan, target, terminal)
    if plan.query.format.is_columns:
        write_parquet_file(plan, _batches(LimitedBatches(plan), parts, report, terminal))
        print_report(report, terminal)
        return exit_code(plan, report)
    with open_target(plan, terminal) as fd:
        write_head(plan, fd)
        if plan.limit is not None or plan.tail is not None:
            write_limited(plan, fd, _units(parts, report, terminal))
        else:
            _write(parts, fd, report, terminal)
    print_report(report, terminal)
    if plan.query.format.is_text:
        terminal.lines(report.summary())
    return exit_code(plan, report)


def _asked(plan: Plan, target: QuorumTarget, terminal: Terminal) -> Iterator[_Asked]:
    """Yield the parts of the log as they come, with the ids of the topics that are asked for."""
    from kraftops.wire.quorum.live_log import LiveLog
    from kraftops.wire.quorum.live_parts import live_parts

    query = plan.query_of(plan.sources[0].path)
    with LiveLog(target, note=lambda line: terminal.error(f"note: {line}")) as log:
        for part, begins_anew in live_parts(log.read(follow=plan.follow)):
            # A topic comes before all that is about it.
            query = with_topics_of(part, query)
            yield _Asked(part, query, begins_anew)


def _write(parts: Iterator[_Asked], fd: int, report: Report, terminal: Terminal) -> None:
    """Write the text of parts, each as soon as it is there."""
    from kraftops.fileio.writing import write_all

    findings = Findings(report)
    query = maker = None

    def on_found(found: Found) -> None:
        for line in findings.add(found):
            terminal.line(line)

    for part, asked, _ in parts:
        if maker is None or query != asked:
            query, maker = asked, PartMaker(asked)
        for chunk in maker(part, on_found):
            write_all(fd, chunk)


def _units(parts: Iterator[_Asked], report: Report, terminal: Terminal) -> Iterator[Unit]:
    """Yield the text of each record that matches, with the lines that belong before it."""
    head = b""
    for part, query, _ in parts:
        if query.format.is_text and not part.start:
            head = file_head(part, report)
        yield from units(part, query, report, head)
        print_report(report, terminal)


def _batches(
    limited: LimitedBatches, parts: Iterator[_Asked], report: Report, terminal: Terminal
) -> Iterator[pa.RecordBatch]:
    for part, query, _ in parts:
        yield from limited.batches(part, query, report)
        print_report(report, terminal)
        if limited.is_done:
            return


def _run_summary(plan: Plan, target: QuorumTarget, terminal: Terminal) -> int:
    """Print the summary of all that there is."""
    from kraftops.dump.summary.summarise import summarise
    from kraftops.dump.summary.summary import Summary
    from kraftops_cli.dump_log.summary import print_summaries

    summary: Summary | None = None
    for part, query, begins_anew in _asked(plan, target, terminal):
        found = summarise(part.path, query, start=part.start)
        if summary is None or begins_anew:
            summary = found
        else:
            summary.merge(found)
    found = summary or Summary(plan.query_of(plan.sources[0].path).reader.name)
    print_summaries(replace(plan, follow=False), terminal, [found.as_dict()])
    return 0
