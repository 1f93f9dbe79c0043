"""Run a dump of files, in the mode of its plan."""

import time
from dataclasses import replace

from kraftops.dump.report import Report
from kraftops.dump.scan.part_printer import PartPrinter
from kraftops.dump.sources.follow import follow
from kraftops.dump.sources.parts import PartResult, ReportMerger
from kraftops.engine.choice import engine_name
from kraftops.errors import UsageError
from kraftops.fileio.mounts import archive_of
from kraftops.fileio.writing import write_all
from kraftops.log.files import FileKind, file_name
from kraftops_cli.dump_log.parts import run_parts
from kraftops_cli.dump_log.plan import Plan, Run, open_target, show_lines, write_head
from kraftops_cli.dump_log.topics import with_topics_of
from kraftops_cli.terminal.streams import Terminal

_POLL_SECONDS = 0.2  # until a new batch is shown: a person does not notice it


def run_dump(plan: Plan, terminal: Terminal) -> int:
    """Run the dump; return its exit code.

    Raises:
        UsageError: the engine that is asked for is not there, or the sources do not go together.
    """
    engine_name()
    if plan.summary and plan.follow:
        from kraftops_cli.dump_log.growing.run import follow_summary

        return follow_summary(plan, terminal)
    if plan.summary:
        from kraftops_cli.dump_log.summary import run_summary

        return run_summary(plan, terminal)
    run = Run(plan, terminal, Report())
    if plan.follow:
        return _follow(run)
    if plan.query.output_format.has_objects:
        from kraftops_cli.dump_log.small_files import run_small_files, small_files

        if small := small_files(plan):
            return run_small_files(run, small)
    if plan.query.output_format.is_columns:
        from kraftops_cli.dump_log.parquet import run_parquet

        return run_parquet(run)
    with open_target(plan, terminal) as fd:
        write_head(plan, fd)
        if plan.has_limit:
            from kraftops_cli.dump_log.limited import lines_of_sources, write_limited

            write_limited(plan, fd, lines_of_sources(run))
        else:
            run_parts(run, fd)
    return end(run)


def _follow(run: Run) -> int:
    refuse_to_follow(run.plan)
    with open_target(run.plan, run.terminal) as fd:
        write_head(run.plan, fd)
        run_follow(run, fd)
    return end(run)


def end(run: Run) -> int:
    """Write the lines about the whole dump; return the exit code."""
    run.flush_report()
    if run.plan.query.output_format.is_text:
        run.terminal.lines(run.report.summary())
    return run.exit_code()


def refuse_to_follow(plan: Plan) -> None:
    """Refuse sources that do not grow, or not as one log.

    Raises:
        UsageError: they are several logs, or no segment or partition.
    """
    if len({source.group for source in plan.sources}) > 1:
        raise UsageError(
            "--follow follows one log, not several",
            hint="name the directory of one partition, such as DIR/orders-0, or the metadata log;"
            " summary --follow counts all of them",
        )
    last = plan.paths[-1]
    name = file_name(last)
    is_packed = bool(archive_of(last)) or bool(name and name.archive)
    if name is None or name.kind is not FileKind.LOG or is_packed or name.is_stdin:
        raise UsageError(f"--follow follows a segment or the directory of a partition, not {last}")


def run_follow(run: Run, fd: int) -> None:
    """Write the log as it is, unless its tail is 0, and then each new batch, forever."""
    plan, terminal = run.plan, run.terminal
    *before, last = plan.sources
    is_new = plan.tail is None
    if before and is_new:
        run_parts(replace(run, plan=replace(plan, sources=tuple(before), jobs=1)), fd)
    query = plan.query_of(last.path)
    printer = PartPrinter(query)
    merger = ReportMerger(run.report)

    def emit(result: PartResult) -> None:
        show_lines(terminal, merger.add(result))

    def wait() -> None:
        nonlocal is_new
        is_new = True
        time.sleep(_POLL_SECONDS)

    for part in follow(last.path, wait, terminal.line):
        if (changed := with_topics_of(part, query)) != query:
            query = changed
            printer = PartPrinter(query)
        if not is_new:
            continue
        for chunk in printer(part, emit):
            write_all(fd, chunk)
