"""Findings as text: a line each for pipes, and blocks with evidence and cure for a terminal."""

from collections.abc import Iterable, Iterator

from kraftops.findings.finding import Finding, Severity, worst_first
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped

STYLES = {
    Severity.LOSS: "bad",
    Severity.STOPS: "bad",
    Severity.RISK: "warning",
    Severity.NOTE: "note",
}
"""Styles of the theme for severities."""


def finding_line(finding: Finding) -> str:
    severity = f"possible {finding.severity}" if finding.is_possible else str(finding.severity)
    text = "; ".join(filter(None, (str(finding), finding.consequence, finding.remedy)))
    return escaped(f"{severity}: {text} [{finding.code}]")


def finding_blocks(console: Console, findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the worst findings first, each as a block."""
    for finding in worst_first(findings):
        yield from finding_block(console, finding)


def finding_block(console: Console, finding: Finding) -> Iterator[str]:
    """Yield a finding with its evidence, its cure, and commands to paste.

    A command stands alone on its line, which is not folded.
    """
    severity = f"possible {finding.severity}" if finding.is_possible else str(finding.severity)
    yield f"{console.painted(severity, STYLES[finding.severity])}: {escaped(str(finding))}"
    yield f" [{escaped(finding.code)}]\n"
    for fact in finding.evidence:
        yield f"   evidence: {escaped(str(fact))}\n"
    if finding.consequence:
        yield f"   so: {escaped(finding.consequence)}\n"
    if finding.cure:
        yield f"   cure: {escaped(finding.cure)}\n"
    for command in finding.commands:
        yield f"   {escaped(command)}\n"
