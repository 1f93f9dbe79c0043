"""Cures of findings about one copy of a partition, where the others are at hand to be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kraftops.findings.catalogue import catalogue, code_of_cure
from kraftops.findings.finding import Cure, Finding
from kraftops.image.verify.beside import MISSING_PARTITION, PUT_BACK
from kraftops.recovery.partitions.comparison import Comparison
from kraftops.recovery.partitions.copies import PartitionCopy, newest_of
from kraftops.recovery.partitions.start_order import NO_ORDER, WHILE_STOPPED, replacement
from kraftops.storage.verify.formatting import UNLESS_NEWER

_AFTER_COPIES = ", once what kafka-storage compare names is copied,"
_NOT_FORMATTED = "not-formatted"


def needs_copies(finding: Finding) -> bool:
    """Tell whether other copies of a partition decide what its cure is."""
    if not finding.is_severe:
        return False
    if finding.code == _NOT_FORMATTED:
        return UNLESS_NEWER in finding.cure
    if finding.code == MISSING_PARTITION:
        return finding.cure.startswith(PUT_BACK) and not finding.commands
    row = catalogue().get(code_of_cure(finding))
    return bool(row and row.restores_replica and finding.place.partition is not None)


def advised(findings: Iterable[Finding], table: Comparison) -> list[Finding]:
    """Return findings with cures that name the copies that are whole."""
    copies: dict[str, list[PartitionCopy]] = defaultdict(list)
    disputed = table.of_other_content
    for copy in table.all_copies:
        if copy.name not in disputed:
            copies[copy.name].append(copy)
    return [
        _advised(finding, copies[finding.place.partition_name], table)
        if needs_copies(finding)
        else finding
        for finding in findings
    ]


def _advised(finding: Finding, copies: Sequence[PartitionCopy], table: Comparison) -> Finding:
    if finding.code == _NOT_FORMATTED:
        condition = _AFTER_COPIES if table.losses else ","
        return replace(finding, cure=finding.cure.replace(UNLESS_NEWER, condition))
    node = finding.place.node
    own = [copy for copy in copies if copy.broker == node]
    others = [copy for copy in copies if copy.broker != node and not copy.is_missing]
    cure = None
    if finding.code != MISSING_PARTITION:
        cure = _cure_of_damaged(own, others)
    elif others:
        cure = _cure_of_missing(finding, others, table)
        # Without its disk the other copies alone are told with their commands.
        cure = cure if own or not cure else Cure(cure.text)
    return replace(finding, cure=cure.text, commands=cure.commands) if cure else finding


def _cure_of_missing(
    finding: Finding, others: Sequence[PartitionCopy], table: Comparison
) -> Cure | None:
    """Return what to do where the directory cannot be put back."""
    name = finding.place.partition_name
    best = newest_of(others, table.leaders.get(name, ()))
    if name in table.leaders:
        cure = table.keeping(best)
        text = cure.text.replace(NO_ORDER, WHILE_STOPPED)
        return cure._replace(text=f"{PUT_BACK}; otherwise, {text}")
    text = finding.cure.replace(UNLESS_NEWER, ",")
    return None if text == finding.cure else Cure(text)


def _cure_of_damaged(
    damaged: Sequence[PartitionCopy], others: Sequence[PartitionCopy]
) -> Cure | None:
    """Return how a copy that is whole replaces a damaged one; None if none is as new."""
    whole = [
        copy
        for copy in others
        if copy.is_loaded
        and copy.is_end_exact
        and not copy.holes
        and all((copy.epoch, copy.end) >= (mine.epoch, mine.end) for mine in damaged)
    ]
    if not (damaged and whole):
        return None
    best = newest_of(whole)
    cure = replacement(best, [damaged[0].broker], [best, damaged[0]])
    return cure._replace(text=f"{WHILE_STOPPED}, {cure.text}")
