"""Dumps of the small files of a log directory, one JSON object each."""

import json

from kraftops.dump.small_files import is_small_file, small_file
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.writing import write_all
from kraftops_cli.dump_log.plan import Plan, Run, open_target


def small_files(plan: Plan) -> list[str]:
    return [path for path in plan.paths if is_small_file(path)]


def run_small_files(run: Run, paths: list[str]) -> int:
    """Write small files as JSON objects, one a line; return the exit code.

    Raises:
        UsageError: there are logs among the sources.
    """
    report = run.report
    if len(paths) < len(run.plan.sources):
        raise UsageError(
            "logs and small files do not go together", hint="dump them by commands of their own"
        )
    with open_target(run.plan, run.terminal) as fd:
        for path in paths:
            try:
                content = small_file(path)
            except SourceError as error:
                report.refusal(error)
            else:
                assert content is not None
                line = json.dumps(content, ensure_ascii=False) + "\n"
                write_all(fd, line.encode("utf-8", "surrogateescape"))
                if "damage" in content:
                    report.has_failed = report.has_damage = True
                    report.remark(f"{path}: {content['damage']}")
            run.flush_report()
    return run.exit_code()
