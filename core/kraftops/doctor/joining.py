"""Findings of several checks, joined by cause: one finding for each, its effects as evidence."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from kraftops.findings.finding import (
    Evidence,
    Finding,
    Severity,
    Stake,
    worst,
    worst_first,
)

_EVIDENCE = 5
"""Places of a finding and effects that are told; the number has all."""
_START = frozenset({"server-stops", "directory-goes-offline"})
_CAUSES: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_START, frozenset({"start-refused", "bad-checkpoint", "partition-twice"})),
    "disk-full-soon": frozenset({"retention-stuck"}),
    "directory-failed": frozenset({"directory-silent", "disk-full-soon"}),
    "incident": frozenset({"broker-down", "directory-failed"}),
}
"""Codes of causes by those of their effects, on the same node."""

_EACH = frozenset({"incident", "unclean-elections"})
"""Codes of what happened: one in the same log has nothing to do with another."""

NodeOf = Callable[[str], int | None]
"""Returns the id of the node that a path belongs to."""


def joined(findings: Iterable[Finding], node_of: NodeOf) -> list[Finding]:
    """Return findings by severity, those of one cause as one."""
    alike: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for finding in dict.fromkeys(findings):
        alike[_cause_of(finding)].append(finding)
    grouped = [_grouped(group) for group in alike.values()]
    nodes = {id(finding): _node(finding, node_of) for finding in grouped}
    effects: dict[int, list[Finding]] = defaultdict(list)
    stands = []
    for finding in grouped:
        cause = next(
            (
                other
                for other in grouped
                if other.code in _CAUSES.get(finding.code, ())
                and nodes[id(other)] == nodes[id(finding)]
            ),
            None,
        )
        if cause is None:
            stands.append(finding)
        else:
            effects[id(cause)].append(finding)
    return worst_first(_with_effects(finding, effects[id(finding)]) for finding in stands)


def _cause_of(finding: Finding) -> tuple[object, ...]:
    """Return what findings of one cause share: a fault of many partitions is one of their disk."""
    place = finding.place
    directory = place.directory or (os.path.dirname(place.file) if place.file else None)
    begin = place.offset if finding.code in _EACH else None
    return finding.code, finding.severity, place.node, directory, begin


def _node(finding: Finding, node_of: NodeOf) -> int | None:
    place = finding.place
    return node_of(place.path) if place.node is None else place.node


def _grouped(group: Sequence[Finding]) -> Finding:
    first = group[0]
    if len(group) == 1:
        return first
    others = [Evidence(str(other.place) or other.code, other.text) for other in group[1:]]
    stakes = [finding.stake for finding in group]
    stake = None
    if all(stakes):
        records = [each.records for each in stakes if each]
        total = None if None in records else sum(number or 0 for number in records)
        stake = Stake(total, sum(each.bytes for each in stakes if each))
    return replace(
        first,
        evidence=(*first.evidence, *others[:_EVIDENCE]),
        count=sum(finding.count for finding in group),
        stake=stake or first.stake,
    )


def _with_effects(cause: Finding, effects: Sequence[Finding]) -> Finding:
    """Return a cause with its effects; it is as bad as the worst of them."""
    if not effects:
        return cause
    facts = [Evidence(effect.code, str(effect)) for effect in effects[:_EVIDENCE]]
    severity = worst([cause, *effects]) or Severity.NOTE
    return replace(cause, severity=severity, evidence=(*cause.evidence, *facts))
