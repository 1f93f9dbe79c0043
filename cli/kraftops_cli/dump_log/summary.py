"""`kafka-dump-log --summary`: count what logs hold instead of printing it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import NamedTuple

from kraftops.dump.sources.parts import job_count, plan_parts, total_size, whole_files
from kraftops.dump.summary.summarise import summarise
from kraftops.dump.summary.summary import Summary
from kraftops.dump.summary.text import summary_text
from kraftops.errors import SourceError
from kraftops.fileio.writing import write_all
from kraftops.log.ranges import ByteRange
from kraftops.parallel.ordered import run_ordered
from kraftops_cli.dump_log.plan import Plan, open_target
from kraftops_cli.terminal.progress import Progress, is_wanted
from kraftops_cli.terminal.streams import Terminal

_WIDTH = 80


class _Counted(NamedTuple):
    """The counts of a byte range, or the reason that it cannot be read."""

    path: str
    size: int
    summary: Summary | None
    refusal: str = ""


def run_summary(plan: Plan, terminal: Terminal) -> int:
    """Print a summary of each partition, and of all other files together; return the exit code."""
    paths = plan.paths
    size = total_size(paths)
    jobs = job_count(size) if plan.jobs is None else plan.jobs
    # A damaged file is salvaged as one.
    parts = plan_parts(paths) if jobs > 1 and not plan.query.salvage else whole_files(paths)
    logs = {source.path: (source.topic, source.partition) for source in plan.sources}
    summaries: dict[object, Summary] = {}
    refused: set[str] = set()

    def produce(part: ByteRange, emit: Callable[[_Counted], None]) -> Iterator[bytes]:
        emit(_count(plan, part))
        yield from ()

    with Progress(size, is_shown=is_wanted(-1)) as progress:

        def on_result(counted: _Counted) -> None:
            progress.advance(counted.size)
            if counted.summary is None:
                if counted.refusal not in refused:
                    progress.erase()
                    terminal.error(counted.refusal)
                refused.add(counted.refusal)
                return
            log = (counted.summary.decoder, logs.get(counted.path))
            known = summaries.setdefault(log, counted.summary)
            if known is not counted.summary:
                known.merge(counted.summary)

        run_ordered(parts, lambda: nullcontext(produce), terminal.fd, jobs, on_result)
    found = [summary.as_dict() for summary in summaries.values()]
    print_summaries(plan, terminal, found)
    return 1 if refused else 0


def _count(plan: Plan, part: ByteRange) -> _Counted:
    query = plan.query_of(part.path)
    size = total_size([part.path]) if part.stop is None else part.stop - part.start
    try:
        summary = summarise(
            part.path,
            query,
            start=part.start,
            stop=part.stop,
        )
    except SourceError as error:
        return _Counted(part.path, size, None, error.message)
    return _Counted(part.path, size, summary)


def print_summaries(plan: Plan, terminal: Terminal, found: list[dict[str, object]]) -> None:
    """Print summaries as text or JSON, to the output that is asked for."""
    if plan.query.output_format.has_objects:
        import json

        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found)
    else:
        text = "\n".join(summary_text(one, _columns(terminal)) for one in found)
    with open_target(plan, terminal) as fd:
        write_all(fd, text.encode("utf-8", "surrogateescape"))


def _columns(terminal: Terminal) -> int:
    try:
        return os.get_terminal_size(terminal.fd).columns
    except OSError:
        return _WIDTH
