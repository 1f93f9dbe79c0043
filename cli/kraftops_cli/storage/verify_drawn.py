"""Findings of `kafka-storage verify` on a terminal: a table of the nodes, then their findings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kraftops.findings.finding import Finding, Severity, worst
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.findings import finding_blocks
from kraftops_terminal.tables import Cell, Column, Styled, Table, folded, number, table_text

if TYPE_CHECKING:
    from kraftops.storage.logdirs.node import Node

_COLUMNS = (
    number("NODE"),
    Column("STATE"),
    *(number(severity.upper()) for severity in Severity),
    folded("CONFIGURATION", 1),
)


def drawn_findings(
    console: Console, nodes: Sequence[Node], found: Sequence[Finding]
) -> Iterator[str]:
    """Yield a table of nodes, then the findings of each with their cures, and those of none."""
    by_node: dict[int | None, list[Finding]] = defaultdict(list)
    for finding in found:
        by_node[_node_of(finding, nodes)].append(finding)
    rows = (_row(node, by_node[index]) for index, node in enumerate(nodes))
    yield table_text(console, Table(_COLUMNS, rows))
    titles: dict[int | None, str] = {
        index: f"node {node.config.node_id}: {node.config.path}" for index, node in enumerate(nodes)
    }
    for index, title in {**titles, None: "cluster"}.items():
        if findings := by_node[index]:
            yield "\n" + console.painted(escaped(title), "title") + "\n"
            yield from finding_blocks(console, findings)
    yield f"\n{_counts(found)}\n"


def _counts(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(f"{counts[severity]} {severity}" for severity in Severity)


def _row(node: Node, findings: Sequence[Finding]) -> list[Cell]:
    severity = worst(findings)
    is_stopped = severity in (Severity.LOSS, Severity.STOPS)
    state = Styled("has problems", "bad") if is_stopped else Styled("would start", "good")
    counts = Counter(finding.severity for finding in findings)
    numbers = [counts[severity] for severity in Severity]
    return [str(node.config.node_id), state, *numbers, node.config.path]


def _node_of(finding: Finding, nodes: Sequence[Node]) -> int | None:
    """Return the index of the node that has the path of a finding; None for the cluster."""
    path = finding.place.path
    for index, node in enumerate(nodes):
        places = [node.config.path, *(state.directory.path for state in node.states)]
        if any(path == place or path.startswith(f"{place}/") for place in places):
            return index
    return None
