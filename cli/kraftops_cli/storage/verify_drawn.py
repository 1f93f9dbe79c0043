"""Findings of `kafka-storage verify` on a terminal: a table of the nodes, then their findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kraftops.display.sizes import many
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import Cell, Column, Styled, Table, folded, number, table_text

if TYPE_CHECKING:
    from kraftops.storage.logdirs.inspector import Finding
    from kraftops.storage.logdirs.node import Node

_COLUMNS = (
    number("NODE"),
    Column("STATE"),
    number("FINDINGS"),
    number("NOTES"),
    folded("CONFIGURATION", 1),
)


def drawn_findings(
    console: Console, nodes: Sequence[Node], found: Sequence[Finding]
) -> Iterator[str]:
    """Yield a table of nodes, then the findings of each with their cures, and those of none.

    A cure stands on a line of its own, which is not folded: it may have a command to be pasted.
    """
    by_node: dict[int | None, list[Finding]] = defaultdict(list)
    for finding in found:
        by_node[_node_of(finding, nodes)].append(finding)
    rows = (_row(node, by_node[at]) for at, node in enumerate(nodes))
    yield table_text(console, Table(_COLUMNS, rows))
    titles: dict[int | None, str] = {
        at: f"node {node.config.node_id}: {node.config.path}" for at, node in enumerate(nodes)
    }
    for at, title in {**titles, None: "cluster"}.items():
        if not (findings := by_node[at]):
            continue
        yield "\n" + console.painted(escaped(title), "title") + "\n"
        for finding in sorted(findings, key=lambda finding: not finding.stops):
            kind = console.painted(*(("problem", "bad") if finding.stops else ("note", "warning")))
            yield f"{kind}: {escaped(str(finding))}\n   cure: {escaped(finding.cure)}\n"
    stopping = sum(finding.stops for finding in found)
    yield f"\n{many(stopping, 'problem')}, {many(len(found) - stopping, 'note')}\n"


def _row(node: Node, findings: Sequence[Finding]) -> list[Cell]:
    stopping = sum(finding.stops for finding in findings)
    state = Styled("has problems", "bad") if stopping else Styled("would start", "good")
    path = node.config.path
    return [str(node.config.node_id), state, stopping, len(findings) - stopping, path]


def _node_of(finding: Finding, nodes: Sequence[Node]) -> int | None:
    """Return the place of the node that has the path of a finding; None for the cluster."""
    for at, node in enumerate(nodes):
        paths = [node.config.path, *(state.directory.path for state in node.states)]
        if any(finding.path == path or finding.path.startswith(f"{path}/") for path in paths):
            return at
    return None
