"""Findings of `kafka-storage verify` on a terminal: a table of the nodes, then their findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kraftops.findings.finding import Finding, Severity
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.findings import finding_blocks
from kraftops_terminal.tables import table_of, table_text

if TYPE_CHECKING:
    from kraftops.storage.logdirs.node import Node
    from kraftops.storage.verify.answer import VerifiedNode, VerifyAnswer
    from kraftops.storage.verify.release import AssumedRelease


def verified_nodes(
    nodes: Sequence[Node], releases: Sequence[AssumedRelease], findings: Sequence[Finding]
) -> list[VerifiedNode]:
    """Return nodes with their releases, and the findings about their own files."""
    from kraftops.storage.verify.answer import VerifiedNode

    return [
        VerifiedNode(node, release, [finding for finding in findings if _is_about(finding, node)])
        for node, release in zip(nodes, releases, strict=True)
    ]


def drawn_findings(console: Console, answered: VerifyAnswer) -> Iterator[str]:
    """Yield a table of nodes, then the findings of each with their cures, and those of none."""
    from kraftops.storage.verify.answer import NODE

    yield table_text(console, table_of(NODE, answered.nodes))
    of_cluster = list(answered.findings)
    for verified in answered.nodes:
        config = verified.node.config
        if verified.findings:
            yield _title(console, f"node {config.node_id}: {config.path}")
            yield from finding_blocks(console, verified.findings)
            of_cluster = [finding for finding in of_cluster if finding not in verified.findings]
    if of_cluster:
        yield _title(console, "cluster")
        yield from finding_blocks(console, of_cluster)
    counts = Counter(finding.severity for finding in answered.findings)
    yield "\n" + ", ".join(f"{counts[severity]} {severity}" for severity in Severity) + "\n"


def _title(console: Console, text: str) -> str:
    return "\n" + console.painted(escaped(text), "title") + "\n"


def _is_about(finding: Finding, node: Node) -> bool:
    path = finding.place.path
    places = [node.config.path, *(directory.path for directory in node.directories)]
    return any(path == place or path.startswith((f"{place}/", f"{place}:")) for place in places)
