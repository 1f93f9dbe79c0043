"""Dumps of a log that grows (`--follow`)."""

from __future__ import annotations

import time
from dataclasses import replace

from kraftops.dump.scan.part_printer import PartPrinter
from kraftops.dump.sources.follow import follow
from kraftops.dump.sources.parts import PartResult, ReportMerger
from kraftops.errors import UsageError
from kraftops.fileio.writing import write_all
from kraftops.log.files import FileKind, file_name
from kraftops.log.streams import PackedName
from kraftops_cli.dump_log.parts import run_parts
from kraftops_cli.dump_log.plan import Plan, Run, show_lines
from kraftops_cli.dump_log.topics import with_topics_of

_POLL_SECONDS = 0.2


def refuse_to_follow(plan: Plan) -> None:
    """Refuse sources that do not grow, or not as one log.

    Raises:
        UsageError: they are several logs, or no segment or partition.
    """
    if len({source.group for source in plan.sources}) > 1:
        raise UsageError("--follow follows one log, not several")
    last = plan.paths[-1]
    name = file_name(last)
    is_packed = isinstance(last, PackedName) or bool(name and name.archive)
    if name is None or name.kind is not FileKind.LOG or is_packed or name.is_stdin:
        raise UsageError(f"--follow follows a segment or the directory of a partition, not {last}")


def run_follow(run: Run, fd: int) -> None:
    """Write the log as it is, unless its tail is 0, and then each new batch, for ever."""
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
