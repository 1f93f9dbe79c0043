"""What `kafka-storage verify` answers: a row for each node, and the findings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kraftops.answers.fields import Answer, Field, boolean, number, parts, text, texts
from kraftops.display.columns import Styled, folded
from kraftops.display.columns import number as number_column
from kraftops.findings.answer import FINDINGS
from kraftops.findings.finding import Finding, Severity
from kraftops.storage.logdirs.node import Node
from kraftops.storage.verify.release import AssumedRelease, ReleaseSource

WOULD_START = "would start"
_STATES = {Severity.STOPS: "would not start", Severity.LOSS: "would start with loss"}


@dataclass(frozen=True, slots=True)
class VerifiedNode:
    """A node, the release that it was checked against, and the findings about its own files."""

    node: Node
    release: AssumedRelease
    findings: Sequence[Finding]

    @property
    def state(self) -> str:
        """What a start makes of it; the worst first, as it may have both."""
        return next((_STATES[kind] for kind in _STATES if self.count(kind)), WOULD_START)

    def count(self, severity: Severity) -> int:
        return Counter(finding.severity for finding in self.findings)[severity]


@dataclass(frozen=True, slots=True)
class VerifyAnswer:
    """All nodes, and all findings, the worst first."""

    nodes: Sequence[VerifiedNode]
    findings: Sequence[Finding]


def _count_of(severity: Severity) -> Field:
    return number(
        f"{severity}Findings",
        f"findings about its own files with the severity {severity}",
        column=number_column(severity.upper()),
        get=lambda verified: verified.count(severity),
    )


NODE = (
    number(
        "nodeId",
        "node id of the configuration",
        column="NODE",
        get="node.config.node_id",
        cell=lambda verified: str(verified.node.config.node_id),
    ),
    boolean(
        "wouldStart",
        "whether nothing keeps it from starting with all its data",
        column="STATE",
        get=lambda verified: verified.state == WOULD_START,
        cell=lambda verified: Styled(
            verified.state, "good" if verified.state == WOULD_START else "bad"
        ),
    ),
    *map(_count_of, Severity),
    text(
        "release",
        "release of Kafka that it was checked against, the newest if several are possible",
        column="RELEASE",
        get="release.newest.release.name",
        cell=lambda verified: verified.release.names,
    ),
    text(
        "oldestRelease",
        "oldest possible release, against which it was checked too",
        get="release.oldest.name",
    ),
    text(
        "releaseFrom",
        "what tells the release: an option, the installation, the node's registration in the "
        "metadata, only the features of the metadata, or nothing",
        values=[str(source) for source in ReleaseSource],
        get=lambda verified: str(verified.release.source),
    ),
    text(
        "config",
        "path of the configuration",
        column=folded("CONFIGURATION", 1),
        get="node.config.path",
    ),
    texts("roles", "process.roles", get=lambda verified: sorted(verified.node.config.roles)),
    text("clusterId?", "cluster id of its directories", get="node.cluster_id"),
    texts(
        "voters?",
        "voters in its metadata log, ID@HOST:PORT:DIRECTORY_ID; null without any",
        get=lambda verified: [str(voter) for voter in verified.node.voters] or None,
    ),
)
VERIFY = Answer(
    (
        boolean(
            "isSound",
            "whether there are no findings but notes",
            get=lambda answered: not any(finding.is_severe for finding in answered.findings),
        ),
        parts("nodes", "nodes, in the order of the options", NODE),
        FINDINGS,
    )
)
