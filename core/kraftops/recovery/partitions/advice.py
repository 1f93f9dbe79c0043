"""Cures of findings about one copy of a partition, where the others are at hand to be compared."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from kraftops.findings.catalogue import catalogue, code_of_cure
from kraftops.findings.finding import Cure, Finding
from kraftops.image.verify.beside import MISSING_PARTITION, PUT_BACK
from kraftops.recovery.partitions.comparison import Comparison
from kraftops.recovery.partitions.start_order import NO_ORDER, WHILE_STOPPED
from kraftops.storage.verify.formatting import UNLESS_NEWER

_AFTER_COPIES = ", once what kafka-storage compare names is copied,"
_NOT_FORMATTED = "not-formatted"


def needs_copies(finding: Finding) -> bool:
    """Tell whether the cure of a finding depends on other copies of the partition."""
    if not finding.is_severe:
        return False
    if finding.code == _NOT_FORMATTED:
        return UNLESS_NEWER in finding.cure
    if finding.code == MISSING_PARTITION:
        return finding.cure.startswith(PUT_BACK) and not finding.commands
    row = catalogue().get(code_of_cure(finding))
    return bool(row and row.restores_replica and finding.place.partition is not None)


def advised(findings: Iterable[Finding], table: Comparison) -> list[Finding]:
    """Return findings whose cures name the same copy of a partition to take, wherever they are."""
    findings = list(findings)
    disputed = table.of_other_content
    names = {copy.name for copy in table.all_copies if not copy.is_missing} - disputed
    damaged: dict[str, set[int]] = defaultdict(set)
    for finding in findings:
        if needs_copies(finding) and finding.place.node is not None:
            damaged[finding.place.partition_name].add(finding.place.node)
    return [
        _advised(finding, table, names, damaged) if needs_copies(finding) else finding
        for finding in findings
    ]


def _advised(
    finding: Finding,
    table: Comparison,
    names: Collection[str],
    damaged: Mapping[str, Collection[int]],
) -> Finding:
    if finding.code == _NOT_FORMATTED:
        condition = _AFTER_COPIES if table.losses else ","
        return replace(finding, cure=finding.cure.replace(UNLESS_NEWER, condition))
    name, node = finding.place.partition_name, finding.place.node
    if name not in names:
        return finding
    is_missing = finding.code == MISSING_PARTITION
    if is_missing and name not in table.leaders:
        return replace(finding, cure=finding.cure.replace(UNLESS_NEWER, ","))
    brokers = {copy.broker for copy in table.all_copies if copy.name == name}
    others = {copy.broker for copy in table.all_copies if copy.name == name and not copy.is_missing}
    if not others - {node} or (not is_missing and node not in brokers):
        return finding
    source, cure = table.source(name, damaged[name]), table.keeping(name, damaged[name])
    if source.broker == node:
        cure = cure._replace(text=f"leave it where it is, no given copy has more: {cure.text}")
    if is_missing:
        # Without its disk, only the other copies are listed, with their commands.
        text = cure.text.replace(NO_ORDER, WHILE_STOPPED)
        cure = Cure(f"{PUT_BACK}; otherwise, {text}", cure.commands if node in brokers else ())
    return replace(finding, cure=cure.text, commands=cure.commands)
