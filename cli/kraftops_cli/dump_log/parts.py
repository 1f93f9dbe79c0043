"""Whole dumps: all byte ranges of all sources, in one thread or several."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, Self

from kraftops.dump.report import Report
from kraftops.dump.scan.part_printer import PartPrinter
from kraftops.dump.scan.plain_texts import PlainText, plain_texts
from kraftops.dump.sources.parts import (
    PartResult,
    ReportMerger,
    job_count,
    plan_parts,
    source_sizes,
    whole_files,
)
from kraftops.log.ranges import ByteRange
from kraftops.memory import Turn
from kraftops.parallel.ordered import OpenProducer, run_ordered
from kraftops.query.query import Query
from kraftops_cli.dump_log.plan import Plan, Run, show_lines


class _SourcePrinter:
    """Prints byte ranges, each by the query of its source."""

    def __init__(self, plan: Plan, texts: Iterator[PlainText | None], turn: Turn) -> None:
        """*texts* are those of the ranges, as far as they are known."""
        self._plan, self._texts, self._turn = plan, texts, turn
        self._by_query: dict[Query, PartPrinter] = {}

    def __call__(self, part: ByteRange, emit: Callable[[PartResult], None]) -> Iterator[bytes]:
        if plain := next(self._texts, None):
            yield plain.text
            emit(
                PartResult(
                    part=part, report=Report(), first_offset=None, last_offset=None, size=plain.size
                )
            )
            return
        query = self._plan.query_of(part.path)
        printer = self._by_query.get(query)
        if printer is None:
            printer = self._by_query[query] = PartPrinter(query, self._turn)
        yield from printer(part, emit)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for printer in self._by_query.values():
            printer.close()


def run_parts(
    run: Run,
    fd: int,
    open_producer: OpenProducer[ByteRange, Any] | None = None,
    on_other_result: Callable[[Any], None] | None = None,
) -> None:
    """Write the output of all parts, and merge their reports.

    Args:
        run: the plan, the terminal and the report.
        fd: the output.
        open_producer: opens a reader of parts; None stands for a printer.
        on_other_result: takes the reader's results that are not reports.
    """
    plan = run.plan
    size = sum(source_sizes(plan.sources))
    jobs = job_count(size) if plan.jobs is None else plan.jobs
    if jobs > 1 and not plan.query.salvage:
        parts = plan_parts(plan.paths, max_bytes=plan.query.max_bytes)
    else:
        parts = whole_files(plan.paths)
    merger = ReportMerger(run.report)
    is_shown = fd >= 0 and run.terminal.has_seen_status(fd if plan.output is not None else 1)
    with _progress(run, size) if is_shown else nullcontext() as advance:

        def on_result(result: Any) -> None:
            if not isinstance(result, PartResult):
                assert on_other_result
                on_other_result(result)
                return
            if advance:
                advance(result.size, result.part.path)
            show_lines(run.terminal, merger.add(result))

        texts = plain_texts(plan.paths, plan.query_of) if jobs == 1 else iter(())
        printer = partial(_SourcePrinter, plan, texts)
        run_ordered(parts, open_producer or printer, fd, jobs, on_result)


@contextmanager
def _progress(run: Run, size: int) -> Iterator[Callable[[int, str], None]]:
    """Show the progress through *size* bytes; give a function of further bytes and their file."""
    from kraftops_terminal.progress import Progress, Task

    with Progress(run.terminal.status, is_shown=True) as progress:
        task = progress.add(Task(size, files=len(run.plan.paths)))
        yield partial(progress.advance, task)
