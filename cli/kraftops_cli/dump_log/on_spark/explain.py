"""Plan of a dump on Spark, as `--dry-run` prints it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraftops.dump.sources.parts import source_sizes
from kraftops.spark.jobs.planning import Split
from kraftops.spark.session.settings import server_text
from kraftops.uris import is_remote
from kraftops_cli.dump_log.plan import Plan
from kraftops_cli.spark.options import SparkRequest


def plan_text(plan: Plan, request: SparkRequest, splits: list[Split]) -> str:
    """Return the plan: master, sources, decoder, filter, output and splits."""
    return "".join(f"{line}\n" for line in _lines(plan, request, splits))


def _lines(plan: Plan, request: SparkRequest, splits: list[Split]) -> Iterator[str]:
    settings = request.settings()
    settings = replace(settings, master=settings.full_master)
    size = sum(source_sizes(plan.sources))
    yield f"master    {server_text(settings.master)}, {settings.tries} tries a task"
    yield f"sources   {len(plan.sources)} files, {size:,} bytes"
    yield f"decoder   {plan.query.decoder or 'by directory'}"
    if not plan.query.filter.is_empty:
        yield f"filter    {_filter_text(plan)}"
    yield f"output    {_output_text(plan, request)}"
    yield f"splits    {len(splits)}"
    for split in splits:
        for number, labelled in enumerate(split.ranges):
            part = labelled.range
            stop = "end" if part.stop is None else part.stop
            head = split.number if not number else ""
            yield f"{head:>8}  {part.path} {part.start}..{stop}"


def _filter_text(plan: Plan) -> str:
    filter_ = plan.query.filter
    default = type(filter_)()
    changed = {
        name: getattr(filter_, name)
        for name in filter_.__slots__
        if getattr(filter_, name) != getattr(default, name)
    }
    return ", ".join(
        f"{name}={','.join(map(str, sorted(value))) if isinstance(value, frozenset) else value}"
        for name, value in changed.items()
    )


def _output_text(plan: Plan, request: SparkRequest) -> str:
    if plan.summary:
        return "a summary"
    if request.sql:
        what = f"the answer to {request.sql!r}"
        where = f" in a table of {request.sink}:" if request.sink else " in"
        return f"{what}{where} {plan.output}" if plan.output else what
    if plan.output is None:
        return "a row for each damage" if plan.query.check else "none: --output DIR is missing"
    if request.sink:
        by = f" by {request.partition_by}" if request.partition_by else ""
        return f"a table of {request.sink}{by}, written by Spark: {plan.output}"
    if request.partition_by:
        who = "the workers" if is_remote(plan.output) else "Spark"
        return f"{plan.query.form} by {request.partition_by}, written by {who}: {plan.output}"
    kind = "one file, joined" if request.single_file else "a part a split, written by the workers"
    return f"{plan.query.form}, {kind}: {plan.output}"
