"""`kraftops doctor`: all checks that apply, joined by cause."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraftops_cli.doctor.options import ExaminedOptions
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import manual
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.syntax.option_fields import flag, option
from kraftops_cli.syntax.shared_options import OVERWRITE_ATTRIBUTES
from kraftops_cli.terminal.answer import FORM_ATTRIBUTES, print_answer
from kraftops_cli.terminal.failure import code_with_skipped
from kraftops_cli.terminal.streams import Terminal
from kraftops_cli.version import VERSION

if TYPE_CHECKING:
    from kraftops.checkup.checks import CheckRun
    from kraftops.checkup.diagnosis import Diagnosis, Selection
    from kraftops.checkup.examination import Examination
    from kraftops.errors import KraftopsError
    from kraftops_terminal.console import Console


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(ExaminedOptions):
    """The options; *only* and *skip* are codes with commas."""

    controllers: str | None = option(
        "--controllers", "-C [ID@]HOST:PORT,…", help="Addresses of controllers."
    )
    deep: bool = flag("--deep", help="Read whole partitions, not only what Kafka's loader reads.")
    release_version: str | None = option(
        "--release-version RELEASE",
        help="The release that is to run the nodes, such as 4.3.  [default: the one that has]",
    )
    only: str | None = option("--only CODE,…", help="Only findings with these codes.")
    skip: str | None = option("--skip CODE,…", help="Leave out findings with these codes.")
    baseline: str | None = option(
        "--baseline FILE", help="Only what is new since this JSON of an earlier examination."
    )
    html: str | None = option(
        "--html FILE", help="Write a page too: a report, with the findings on top."
    )
    overwrite: bool = option("--overwrite", **OVERWRITE_ATTRIBUTES)
    form: str = option("--format", **FORM_ATTRIBUTES)


@tool_command(
    Argparse4j(expands_files=False),
    name="doctor",
    answer="kraftops.checkup.diagnosis:DOCTOR",
    options=DoctorOptions,
    **manual(__file__),
)
def doctor(terminal: Terminal, options: DoctorOptions) -> int:
    """Examine what is named; return the exit code."""
    from kraftops.checkup.diagnosis import DOCTOR, diagnosis_of
    from kraftops.checkup.examination import Examination
    from kraftops.checkup.page import page_of
    from kraftops.fileio.output import OutputFlags, open_output, refuse_output
    from kraftops.fileio.writing import write_all
    from kraftops.storage.verify.release import target_named
    from kraftops_cli.installed import engine_lines

    selection = _selection(options.only, options.skip, options.baseline)
    path, flags = options.html, OutputFlags(overwrite=options.overwrite)
    if path is not None:
        refuse_output(path, flags)
    skipped: list[KraftopsError] = []
    with ExitStack() as stack:
        examination = Examination(
            configs=options.nodes(terminal),
            sources=stack.enter_context(options.opened_sources(terminal, skipped)),
            access=stack.enter_context(options.access(terminal)) if options.is_live else None,
            target=target_named(options.release_version),
            is_deep=options.deep,
            now=int(time.time() * 1000),
            parents=options.names,
            budget=terminal.budget,
        )
        diagnosis = diagnosis_of(examination, _runs(examination, terminal), selection)
        if path is not None:
            with open_output(path, options.names, flags) as fd:
                text = page_of(diagnosis, examination, f"kraftops {VERSION}")
                write_all(fd, text.encode("utf-8", "surrogateescape"))
    if options.deep:  # which reads all bytes, for minutes
        terminal.lines(engine_lines())
    print_answer(terminal, DOCTOR.fields, diagnosis, lambda: _text(terminal.console, diagnosis))
    return code_with_skipped(diagnosis.exit_code, skipped)


def _runs(examination: Examination, terminal: Terminal) -> Iterator[CheckRun]:
    """Yield runs of checks; a terminal shows which one is waited for."""
    from kraftops.checkup.checks import CHECKS, Check, run_checks
    from kraftops_terminal.progress import Progress, Task
    from kraftops_terminal.status import is_seen

    with Progress(terminal.status, is_shown=is_seen(-1)) as progress:
        task = progress.add(Task(len(CHECKS), "checks"))

        def waiting(check: Check) -> None:
            task.note = f"now: {check.title}"
            progress.draw()

        for run in run_checks(examination, CHECKS, waiting):
            progress.advance(task, 1)
            yield run


def _selection(only: str | None, skip: str | None, baseline: str | None) -> Selection:
    """Return the selection of codes.

    Raises:
        UsageError: a code does not exist, or the baseline is not the JSON of an examination.
    """
    from kraftops.checkup.codes import pages_of
    from kraftops.checkup.diagnosis import Selection
    from kraftops.errors import SourceError, UsageError

    chosen, skipped = (
        {code.strip() for code in (text or "").split(",") if code.strip()} for text in (only, skip)
    )
    for code in chosen | skipped:
        pages_of(code)
    earlier: set[tuple[object, ...]] = set()
    if baseline is not None:
        try:
            with open(baseline, encoding="utf-8") as file:
                findings = json.load(file)["findings"]
            names = ("code", "node", "directory", "topic", "partition", "file")
            earlier = {tuple(finding[name] for name in names) for finding in findings}
        except OSError as error:
            raise SourceError.of(baseline, error) from None
        except (ValueError, KeyError, TypeError):
            raise UsageError(
                f"{baseline} is not the JSON of an earlier examination",
                hint="kraftops doctor --format json > FILE makes one",
            ) from None
    return Selection(chosen, skipped, earlier)


def _text(console: Console, diagnosis: Diagnosis) -> Iterator[str]:
    from kraftops.checkup.checks import Status
    from kraftops.checkup.diagnosis import CHECK
    from kraftops_terminal.escaping import escaped
    from kraftops_terminal.findings import finding_block
    from kraftops_terminal.tables import table_of, table_text

    severe = any(finding.is_severe for finding in diagnosis.findings)
    yield console.painted(escaped(diagnosis.verdict), "bad" if severe else "good") + "\n\n"
    for finding in diagnosis.findings:  # its cause first, not only by severity
        yield from finding_block(console, finding)
    if diagnosis.findings:
        yield "\n"
    skipped: dict[str | None, list[str]] = defaultdict(list)
    for run in diagnosis.runs:
        if run.status is Status.SKIPPED:
            skipped[run.reason].append(run.check.name)
    made = [run for run in diagnosis.runs if run.status is not Status.SKIPPED]
    yield table_text(console, table_of(CHECK, made))
    reasons = (f"{', '.join(names)} ({reason})" for reason, names in skipped.items())
    if skipped:
        yield escaped(f"skipped: {'; '.join(reasons)}") + "\n"
