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
from kraftops.dump.check.tier import Surroundings
from kraftops.dump.check.units import RunUnits, Unit, run_units
from kraftops.dump.sources.names import expand, matching_paths
from kraftops.errors import SourceError
from kraftops.fileio.mounts import archive_of
from kraftops.findings.catalogue import with_cure
from kraftops.findings.finding import (
    BAD_ARCHIVE,
    Finding,
    Place,
    Severity,
    doubted,
    exit_code,
    worst_first,
)
from kraftops.log.reader import DamagedArchive
from kraftops.query.query import Query
from kraftops.uris import is_remote, local_path
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.findings import finding_blocks, finding_line
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
    """Archives of directories, and the errors of what was not read, which were shown."""

    bundles: Mapping[str, Bundle]
    skipped: Sequence[SourceError] = ()


def among(
    names: Iterable[str], alone: Collection[str], bundles: Mapping[str, Bundle], query: Query
) -> Checked:
    """Return what is checked as a whole among names and patterns.

    These are directories, also those of partitions in archives, and the files among *alone*.

    Raises:
        UsageError: there is no partition in an archive.
    """
    folders: list[str] = []
    partitions: list[str] = []
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
            if path in bundles:
                partitions += bundles[path].partition_folders()
            else:
                folders.append(path)
        remaining = [path for path in paths if path not in inside] if inside else (paths or [name])
        whole = [path for path in remaining if name in alone and can_be_checked(path)]
        files += whole
        others += [path for path in remaining if path not in whole]
    request = CheckRequest(
        folders, files, query.decoder, partitions=partitions, budget=query.budget
    )
    return Checked(request, others)


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
    cut = list(_of_archives(archives.skipped if archives else ()))

    def as_packed(finding: Finding) -> Finding:
        doubtful = doubted(finding, cut)
        # No command mends what is packed.
        is_packed = finding.place.path and archive_of(finding.place.path)
        return replace(doubtful, commands=()) if is_packed else doubtful

    with Progress(terminal.status, is_shown=is_seen(-1) and has_progress) as progress:
        task = progress.add(Task(0, "partitions"))

        def run_counted(
            units: Sequence[Unit], surroundings: Surroundings
        ) -> Iterator[PartitionCheck]:
            for check in run(units, surroundings):
                progress.advance(task, 1)
                yield check

        checks, common = check_directories(request, run_counted)
    if archives and archives.bundles:
        checks = [
            replace(check, findings=tuple(map(as_packed, check.findings)))
            if check.findings
            else check
            for check in checks
        ]
    findings = [finding for check in checks for finding in check.findings]
    answered = CheckAnswer(checks, worst_first([*cut, *map(as_packed, common), *findings]))
    if terminal.is_json:
        terminal.answer("check", json_of(CHECK.fields, answered))
    else:
        _print(answered, terminal)
    return exit_code(answered.findings) or int(any(check.unreadable for check in checks))


def _of_archives(skipped: Iterable[SourceError]) -> Iterator[Finding]:
    """Yield the findings about archives that are damaged."""
    for error in skipped:
        if isinstance(error, DamagedArchive):
            path, reason = str(error.known["path"]), str(error.known["reason"])
            yield with_cure(Finding(BAD_ARCHIVE, Severity.RISK, reason, Place(file=path)), path)


def _print(answered: CheckAnswer, terminal: Terminal) -> None:
    """Print the findings, the worst first, then a table of the partitions."""
    for check in answered.partitions:
        if check.unreadable:
            terminal.error(check.unreadable)
    findings = dict.fromkeys(answered.findings)
    if terminal.console.is_drawn_on:
        terminal.write("".join(finding_blocks(terminal.console, findings)))
    else:
        terminal.write("".join(f"{finding_line(finding)}\n" for finding in findings))
    print_table(terminal.console, table_of(PARTITION, answered.partitions))
    states = Counter(check.state for check in answered.partitions)
    counts = ", ".join(f"{states[state]} {state}" for state in State if states[state])
    terminal.write(f"{_counted(answered.partitions)}: {counts}\n")


def _counted(checks: Sequence[PartitionCheck]) -> str:
    files = sum(check.is_file for check in checks)
    if len(checks) == 1:
        return "1 file" if files else "1 partition"
    nouns = [
        noun for noun, count in (("partitions", len(checks) - files), ("files", files)) if count
    ]
    return f"{len(checks)} {' and '.join(nouns)}"
