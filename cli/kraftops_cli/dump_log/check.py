"""`kafka-dump-log --check` of directories: findings, and the state of each partition."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kraftops.dump.check.directories import check_directories
from kraftops.dump.check.findings import Effect, Finding, PartitionCheck, State
from kraftops.dump.sources.names import matching_paths
from kraftops.uris import local_path
from kraftops_cli.dump_log.plan import DAMAGED
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.escaping import escaped
from kraftops_terminal.progress import Progress, Task
from kraftops_terminal.status import is_seen
from kraftops_terminal.tables import Cell, Column, Styled, Table, folded, number, print_table

if TYPE_CHECKING:
    from kraftops.dump.sources.bundles import Bundle

_COLUMNS = (
    folded("PARTITION", style="name"),
    Column("STATE"),
    number("SEGMENTS", 4),
    number("BYTES", 3),
    number("START", 2),
    number("END"),
    number("LOST OFFSETS"),
    number("LOST BYTES", 1),
)
_STYLES = {
    State.CLEAN: "good",
    State.RECOVERABLE: "warning",
    State.DAMAGED: "bad",
    State.LOST: "bad",
    State.UNREADABLE: "bad",
}


def directories_among(
    names: Iterable[str], bundles: Mapping[str, Bundle]
) -> tuple[list[str], list[str]]:
    """Return the directories among names and patterns, and all other names.

    The directories of partitions in archives are among them.

    Raises:
        UsageError: there is none in an archive.
    """
    folders: list[str] = []
    others: list[str] = []
    for name in names:
        paths = list(matching_paths(local_path(name) if "://" in name else name))
        inside = [path for path in paths if path in bundles or os.path.isdir(path)]
        for path in inside:
            folders += bundles[path].partition_folders() if path in bundles else [path]
        if inside:
            others += [path for path in paths if path not in inside]
        else:
            others.append(name)
    return folders, others


def run_check(
    folders: list[str],
    terminal: Terminal,
    bundles: Iterable[Bundle],
    remote_metadata: Iterable[str] = (),
) -> int:
    """Check the partitions in directories, also those of *bundles*; return the exit code.

    *remote_metadata* are further logs of `__remote_log_metadata`.

    Raises:
        UsageError: a directory holds no log.
        SourceError: a directory or remote log metadata cannot be read.
    """
    output = _Json(terminal) if terminal.is_json else _Text(terminal)

    def shown(text: str) -> str:
        for bundle in bundles:
            text = bundle.shown(text)
        return text

    with Progress(terminal.status, is_shown=is_seen(-1)) as progress:
        task = progress.add(Task(0, "partitions"))

        def on_check(check: PartitionCheck) -> None:
            output.partition(check.renamed(shown))
            progress.advance(task, 1)

        found, of_directories = check_directories(folders, on_check, remote_metadata)
    checks = [check.renamed(shown) for check in found]
    common = tuple(finding.renamed(shown) for finding in of_directories)
    output.end(checks, common)
    findings = [*common, *(finding for check in checks for finding in check.findings)]
    if any(finding.effect is not Effect.MENDED for finding in findings):
        return DAMAGED
    return 1 if any(check.unreadable for check in checks) else 0


class _Text:
    """Findings as lines, then a table of the partitions."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def partition(self, check: PartitionCheck) -> None:
        if check.unreadable:
            self._terminal.error(check.unreadable)
        self._findings(check.findings)

    def end(self, checks: list[PartitionCheck], common: tuple[Finding, ...]) -> None:
        self._findings(common)
        print_table(self._terminal.console, Table(_COLUMNS, map(_row, checks)))
        states = Counter(check.state for check in checks)
        shown = ", ".join(f"{states[state]} {state}" for state in State if states[state])
        noun = "partition" if len(checks) == 1 else "partitions"
        self._terminal.write(f"{len(checks)} {noun}: {shown}\n")

    def _findings(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self._terminal.write(f"{escaped(str(finding))}\n")
        self._terminal.flush()


def _row(check: PartitionCheck) -> tuple[Cell, ...]:
    numbers = (
        check.segments,
        check.bytes,
        check.start,
        check.end,
        check.lost_offsets,
        check.lost_bytes,
    )
    state = Styled(str(check.state), _STYLES[check.state])
    return (check.path, state, *(None if one is None else str(one) for one in numbers))


class _Json:
    """An object for each finding and each partition."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def partition(self, check: PartitionCheck) -> None:
        self._findings(check.findings)
        self._terminal.json("check", {"kind": "partition", **check.as_dict()})
        self._terminal.flush()

    def end(self, _: list[PartitionCheck], common: tuple[Finding, ...]) -> None:
        self._findings(common)

    def _findings(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self._terminal.json("check", {"kind": "finding", **finding.as_dict()})
