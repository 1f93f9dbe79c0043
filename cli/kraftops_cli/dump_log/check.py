"""`kafka-dump-log --check`: findings, and the state of each partition or file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kraftops.answers.fields import json_of
from kraftops.dump.check.answer import CHECK, PARTITION, CheckAnswer
from kraftops.dump.check.directories import CheckRequest, check_directories
from kraftops.dump.check.files import can_be_checked
from kraftops.dump.check.findings import PartitionCheck, State
from kraftops.dump.check.units import RunUnits, run_units
from kraftops.dump.sources.names import expand, matching_paths
from kraftops.errors import SourceError
from kraftops.findings.finding import (
    Evidence,
    Finding,
    Place,
    Severity,
    exit_code,
    worst_first,
)
from kraftops.log.reader import DamagedArchive
from kraftops.uris import is_remote, local_path
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.findings import finding_line
from kraftops_terminal.progress import Progress, Task
from kraftops_terminal.status import is_seen
from kraftops_terminal.tables import print_table, table_of

if TYPE_CHECKING:
    from kraftops.dump.sources.bundles import Bundle


class Checked(NamedTuple):
    """What is checked as a whole, and the names of all that is checked as it is dumped."""

    request: CheckRequest
    others: list[str]


class Archives(NamedTuple):
    """Archives of directories, unpacked, and the errors of what was not read, which were shown."""

    bundles: Mapping[str, Bundle]
    skipped: Sequence[SourceError] = ()


def among(
    names: Iterable[str], alone: Collection[str], bundles: Mapping[str, Bundle], decoder: str | None
) -> Checked:
    """Return what is checked as a whole among names and patterns.

    These are directories, also those of partitions in archives, and the files among *alone*.

    Raises:
        UsageError: there is no partition in an archive.
    """
    folders: list[str] = []
    files: list[str] = []
    others: list[str] = []
    for name in names:
        local = local_path(name) if "://" in name else name
        if is_remote(local) and name in alone:  # in object stores, files are checked alone
            remote_paths = [source.path for source in expand([name], from_start=True)]
            files += filter(can_be_checked, remote_paths)
            others += (path for path in remote_paths if not can_be_checked(path))
            continue
        paths = list(matching_paths(local))
        inside = [path for path in paths if path in bundles or os.path.isdir(path)]
        for path in inside:
            folders += bundles[path].partition_folders() if path in bundles else [path]
        remaining = [path for path in paths if path not in inside] if inside else (paths or [name])
        whole = [path for path in remaining if name in alone and can_be_checked(path)]
        files += whole
        others += [path for path in remaining if path not in whole]
    return Checked(CheckRequest(folders, files, decoder), others)


def run_check(
    request: CheckRequest,
    terminal: Terminal,
    archives: Archives | None = None,
    run: RunUnits = run_units,
    *,
    has_progress: bool = True,
) -> int:
    """Check files and partitions, also those of archives; return the exit code.

    *run* does the work, and shows the progress unless *has_progress*.

    Raises:
        UsageError: a directory holds no log.
        SourceError: a directory or remote log metadata cannot be read.
    """
    output = _Json(terminal) if terminal.is_json else _Text(terminal)
    bundles, skipped = archives or Archives({})

    def shown(text: str) -> str:
        for bundle in bundles.values():
            text = bundle.shown(text)
        return text

    cut = list(_of_archives(skipped))

    def as_packed(check: PartitionCheck) -> PartitionCheck:
        renamed = check.renamed(shown)
        return replace(
            renamed, findings=tuple(_doubted(finding, cut) for finding in renamed.findings)
        )

    with Progress(terminal.status, is_shown=is_seen(-1) and has_progress) as progress:
        task = progress.add(Task(0, "partitions"))

        def on_check(check: PartitionCheck) -> None:
            output.partition(as_packed(check))
            progress.advance(task, 1)

        partition_checks, of_directories = check_directories(request, on_check, run)
    checks = [as_packed(check) for check in partition_checks]
    common = (*cut, *(_doubted(finding.renamed(shown), cut) for finding in of_directories))
    output.end(checks, common)
    findings = [*common, *(finding for check in checks for finding in check.findings)]
    return exit_code(findings) or int(any(check.unreadable for check in checks))


def _of_archives(skipped: Iterable[SourceError]) -> Iterator[Finding]:
    """Yield the findings about archives that are damaged."""
    for error in skipped:
        if isinstance(error, DamagedArchive):
            path, reason = str(error.known["path"]), str(error.known["reason"])
            yield Finding("bad-archive", Severity.RISK, reason, Place(file=path))


def _doubted(finding: Finding, cut: Sequence[Finding]) -> Finding:
    """Return a finding, which may be for want of the rest of one of the archives that are *cut*."""
    archives = [(archive.place.path.partition("!/")[0], archive.text) for archive in cut]
    evidence = tuple(
        Evidence(path, text) for path, text in archives if finding.place.path.startswith(f"{path}!")
    )
    if not evidence:
        return finding
    return replace(finding, is_possible=True, evidence=(*finding.evidence, *evidence))


class _Text:
    """Findings as lines, then a table of the partitions."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._printed: set[Finding] = set()

    def partition(self, check: PartitionCheck) -> None:
        if check.unreadable:
            self._terminal.error(check.unreadable)
        self._findings(check.findings)

    def end(self, checks: list[PartitionCheck], common: tuple[Finding, ...]) -> None:
        self._findings(common)
        # What others say of a partition comes at the end.
        self._findings(finding for check in checks for finding in check.findings)
        print_table(self._terminal.console, table_of(PARTITION, checks))
        states = Counter(check.state for check in checks)
        state_counts = ", ".join(f"{states[state]} {state}" for state in State if states[state])
        self._terminal.write(f"{_counted(checks)}: {state_counts}\n")

    def _findings(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            if finding not in self._printed:
                self._printed.add(finding)
                self._terminal.write(f"{finding_line(finding)}\n")
        self._terminal.flush()


def _counted(checks: list[PartitionCheck]) -> str:
    files = sum(check.is_file for check in checks)
    if len(checks) == 1:
        return "1 file" if files else "1 partition"
    nouns = [
        noun for noun, count in (("partitions", len(checks) - files), ("files", files)) if count
    ]
    return f"{len(checks)} {' and '.join(nouns)}"


class _Json:
    """One object at the end, with the partitions and the findings of all."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def partition(self, check: PartitionCheck) -> None:
        """Wait for the others."""

    def end(self, checks: list[PartitionCheck], common: tuple[Finding, ...]) -> None:
        findings = [*common, *(finding for check in checks for finding in check.findings)]
        answered = CheckAnswer(checks, worst_first(findings))
        self._terminal.answer("check", json_of(CHECK.fields, answered))
