"""Run a dump of files, in the mode of its plan."""

from __future__ import annotations

from kraftops.dump.report import Report
from kraftops.engine.choice import engine_name
from kraftops_cli.dump_log.parts import run_parts
from kraftops_cli.dump_log.plan import Plan, Run, open_target, write_head
from kraftops_cli.terminal.streams import Terminal


def run_dump(plan: Plan, terminal: Terminal, *, is_whole: bool = True) -> int:
    """Run the dump; return its exit code.

    *is_whole*: everything that was named is among the sources.

    Raises:
        UsageError: the engine that is asked for is not there, or the sources do not go together.
        KraftopsError: no log knows the topics or groups that are asked for.
    """
    engine_name()
    if plan.query.filter.topics or plan.groups:
        from kraftops_cli.dump_log.topics import unknown_error, unknown_names, with_topics

        plan = with_topics(plan)
        if is_whole and (unknown := unknown_names(plan)):
            unknown_error(unknown, plan, terminal)
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
    from kraftops_cli.dump_log.follow import refuse_to_follow, run_follow

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
