"""`kafka-dump-log --summary`: count what logs hold instead of printing it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

from kraftops.dump.report import Report
from kraftops.dump.sources.parts import job_count, plan_parts, sizes_of, whole_files
from kraftops.dump.summary.file_counter import Counting, Quota
from kraftops.dump.summary.logs import Fields, Log, Reading, add_summary, fields_of, readings
from kraftops.dump.summary.plain import plain_rows
from kraftops.dump.summary.summarise import summarise
from kraftops.dump.summary.summary import Summary
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.writing import write_all
from kraftops.log.files import STANDARD_INPUT
from kraftops.log.ranges import ByteRange
from kraftops.memory import Turn
from kraftops.parallel.ordered import Produce, run_ordered
from kraftops_cli.dump_log.plan import Plan, Run, open_target
from kraftops_cli.dump_log.summaries.table import in_order, logs_text
from kraftops_cli.dump_log.summaries.text import damage_count, groups_text, summary_text
from kraftops_cli.terminal.streams import Terminal, json_line
from kraftops_terminal.console import Console
from kraftops_terminal.progress import Progress, Task
from kraftops_terminal.status import is_seen


class _Counted(NamedTuple):
    """The counts of a byte range, or the reason that it cannot be read."""

    path: str
    summary: Summary | None
    refusal: SourceError | None = None
    size: int = 0


def plan_readings(plan: Plan) -> list[Reading]:
    """Return the files to be read.

    Raises:
        UsageError: a log that is asked for is not there.
    """
    has_objects = plan.query.output_format.has_objects
    return readings(
        plan.sources, plan.query, plan.logs, details=has_objects, of_groups=bool(plan.groups)
    )


def run_summary(plan: Plan, terminal: Terminal) -> int:
    """Print a table of logs, or all about one of them; return the exit code.

    Raises:
        UsageError: a log that is asked for is not there, or standard input would be read twice.
    """
    files = plan_readings(plan)
    if plan.tail is not None and STANDARD_INPUT in plan.paths:
        raise UsageError(
            "--summary with --tail reads twice, which standard input does not allow",
            hint="give a file",
        )
    run = Run(plan, terminal, Report())
    quota = None if plan.limit is None else Quota(0, plan.limit)
    if plan.tail is not None:  # the last records are known only after a first count
        visible = [file._replace(details=False) for file in files if file.is_shown]
        first_count = count_files(run, visible, None)
        run = Run(plan, terminal, Report())  # the second count has the same errors
        total = sum(summary.records.count for summary in first_count.values())
        quota = Quota(max(total - plan.tail, 0), plan.tail)
    rows = _rows(plan, files) if quota is None else {}
    counted = count_files(run, [file for file in files if file.log not in rows], quota)
    summaries: dict[Log, Summary | Fields] = {**rows, **counted}
    logs = dict.fromkeys(file.log for file in files)
    return print_summaries(run, files, {log: summaries[log] for log in logs if log in summaries})


def _rows(plan: Plan, files: Sequence[Reading]) -> dict[Log, Fields]:
    """Return the rows of plain logs in a table; none where only one log would be in it."""
    rows = plain_rows(files, plan.query_of)
    visible = {file.log for file in files if file.is_shown}
    return rows if len(visible & rows.keys()) > 1 else {}


def count_files(run: Run, files: Sequence[Reading], quota: Quota | None) -> dict[Log, Summary]:
    """Count files, all of them or as many records as the quota has."""
    plan = run.plan
    by_path = {file.path: file for file in files}
    paths = [file.path for file in files]
    sizes = dict(zip(paths, sizes_of(paths), strict=True))
    size = sum(sizes.values())
    jobs = job_count(size) if plan.jobs is None else plan.jobs
    is_cut = jobs > 1 and not plan.query.salvage and quota is None
    # A damaged file is salvaged as one, and a quota is used up file by file.
    parts = plan_parts(paths, max_bytes=plan.query.max_bytes) if is_cut else whole_files(paths)
    summaries: dict[Log, Summary] = {}
    refused: set[str] = set()

    def producer(turn: Turn) -> AbstractContextManager[Produce[ByteRange, _Counted]]:
        counting = Counting(quota=quota, turn=turn)

        def produce(part: ByteRange, emit: Callable[[_Counted], None]) -> Iterator[bytes]:
            size = sizes[part.path] if part.stop is None else part.stop - part.start
            emit(_count(plan, part, by_path[part.path], counting)._replace(size=size))
            yield from ()

        return nullcontext(produce)

    with Progress(run.terminal.status, is_shown=is_seen(-1)) as bars:
        task = bars.add(Task(size, files=len(paths)))

        def on_result(counted: _Counted) -> None:
            bars.advance(task, counted.size, counted.path)
            if counted.summary is not None:
                add_summary(summaries, by_path[counted.path].log, counted.summary)
            elif counted.refusal and counted.path not in refused:
                refused.add(counted.path)
                run.report.refusal(counted.refusal)

        fd = run.terminal.fd
        run_ordered(parts, producer, fd, 1 if quota else jobs, on_result)
    return summaries


def _count(plan: Plan, part: ByteRange, file: Reading, counting: Counting) -> _Counted:
    query, quota = plan.query_of(part.path), counting.quota if file.is_shown else None
    try:
        summary = summarise(
            part.path,
            query,
            start=part.start,
            stop=part.stop,
            counting=Counting(file.details, quota, counting.turn),
        )
    except SourceError as error:
        return _Counted(part.path, None, error)
    return _Counted(part.path, summary)


def print_summaries(
    run: Run, files: Sequence[Reading], summaries: Mapping[Log, Summary | Fields]
) -> int:
    """Print summaries as text or JSON, to the output that is asked for; return the exit code."""
    plan = run.plan
    visible_logs = {file.log for file in files if file.is_shown and file.log in summaries}
    is_json = plan.query.output_format.has_objects
    are_rows = not is_json and len(visible_logs) > 1
    fields = fields_of(summaries, are_rows=are_rows)
    logs = in_order([summary for log, summary in fields.items() if log in visible_logs], plan.sort)
    console = run.terminal.console
    if plan.output is not None:
        console = replace(console, is_terminal=False)
    answer = {"logs": logs[: plan.top]}
    if is_json and plan.output is None and not plan.follow:
        run.terminal.answer("summary", answer)
    else:
        text = json_line("summary", answer) if is_json else _text(plan, logs, console)
        if plan.output is None:
            run.terminal.write(text)
        else:
            with open_target(plan, run.terminal) as fd:
                write_all(fd, text.encode("utf-8", "surrogateescape"))
    for log in visible_logs if are_rows else ():
        if isinstance(counted := summaries[log], Summary):
            for site in counted.spent:  # of other damage a row has the number
                run.report.note(site.path, site.position, site.reason)
    for summary in logs:
        is_wrong = summary["undecodable"]["count"] and plan.query.check
        run.report.has_damage |= bool(damage_count(summary) or is_wrong)
    run.flush_report()
    return run.exit_code()


def _text(plan: Plan, logs: Sequence[Mapping[str, Any]], console: Console) -> str:
    if plan.groups and (groups := groups_text(logs, console)):
        return groups
    if plan.logs or len(logs) < 2:
        return summary_text(logs[: plan.top], console)
    return logs_text(logs, console, top=plan.top)
