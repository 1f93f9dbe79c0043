"""The fields of a finding, in every answer that has findings."""

from __future__ import annotations

from kraftops.answers.fields import Field, boolean, number, parts, text, texts, time
from kraftops.findings.finding import Severity

_EVIDENCE = (
    text("source", "file or command that tells it", get=lambda fact: fact.source),
    text("fact", "what it tells", get=lambda fact: fact.fact),
)
FINDING: tuple[Field, ...] = (
    text("code", "row of the catalogue; it stays the same", get=lambda finding: finding.code),
    text(
        "severity",
        "loss, stops, risk or note",
        values=[str(severity) for severity in Severity],
        get=lambda finding: str(finding.severity),
    ),
    boolean(
        "isPossible",
        "whether evidence was set aside, so that it need not be true",
        get=lambda finding: finding.is_possible,
    ),
    text("text", "what is wrong, in one sentence", get=lambda finding: finding.text),
    number("node", "id of the node", may_be_null=True, get=lambda finding: finding.place.node),
    text(
        "directory",
        "log directory",
        may_be_null=True,
        get=lambda finding: finding.place.directory,
    ),
    text("topic", "topic", may_be_null=True, get=lambda finding: finding.place.topic),
    number("partition", "partition", may_be_null=True, get=lambda finding: finding.place.partition),
    text(
        "file",
        "path of the file, or of a partition's directory",
        may_be_null=True,
        get=lambda finding: finding.place.file,
    ),
    number(
        "position",
        "position in the file, in bytes",
        may_be_null=True,
        get=lambda finding: finding.place.position,
    ),
    number("offset", "offset", may_be_null=True, get=lambda finding: finding.place.offset),
    time("time", "time of the record", may_be_null=True, get=lambda finding: finding.place.time),
    parts("evidence", "facts that it rests on", _EVIDENCE, get=lambda finding: finding.evidence),
    text(
        "consequence",
        "what follows, and for whom",
        may_be_null=True,
        get=lambda finding: finding.consequence or None,
    ),
    text("cure", "what to do", may_be_null=True, get=lambda finding: finding.cure or None),
    texts("commands", "commands to paste", get=lambda finding: list(finding.commands)),
    number("count", "how many times the cause was seen", get=lambda finding: finding.count),
    number(
        "records",
        "records at stake",
        may_be_null=True,
        get=lambda finding: finding.stake and finding.stake.records,
    ),
    number(
        "bytes",
        "bytes of records at stake",
        numeral="size",
        may_be_null=True,
        get=lambda finding: finding.stake and finding.stake.bytes,
    ),
)
FINDINGS = parts(
    "findings", "what is wrong, the worst first", FINDING, get=lambda answered: answered.findings
)
