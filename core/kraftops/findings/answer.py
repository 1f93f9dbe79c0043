"""The fields of a finding, in every answer that has findings."""

from kraftops.answers.fields import Field, boolean, number, parts, size, text, texts, time
from kraftops.findings.finding import Severity

_EVIDENCE = (text("source", "file or command that tells it"), text("fact", "what it tells"))
FINDING: tuple[Field, ...] = (
    text("code", "row of the catalogue; it stays the same"),
    text(
        "severity",
        "loss, stops, risk or note",
        values=[str(severity) for severity in Severity],
        get=lambda finding: str(finding.severity),
    ),
    boolean("isPossible", "whether evidence was set aside, so that it need not be true"),
    text("text", "what is wrong, in one sentence"),
    number("node?", "id of the node", get="place.node"),
    text("directory?", "log directory", get="place.directory"),
    text("topic?", "topic", get="place.topic"),
    number("partition?", "partition", get="place.partition"),
    text("file?", "path of the file, or of a partition's directory", get="place.file"),
    number("position?", "position in the file, in bytes", get="place.position"),
    number("offset?", "offset", get="place.offset"),
    time("time?", "time of the record", get="place.time"),
    parts("evidence", "facts that it rests on", _EVIDENCE),
    text(
        "consequence?",
        "what follows, and for whom",
        get=lambda finding: finding.consequence or None,
    ),
    text("cure?", "what to do", get=lambda finding: finding.cure or None),
    texts("commands", "commands to paste", get=lambda finding: list(finding.commands)),
    number("count", "how many times the cause was seen"),
    number("records?", "records at stake", get="stake.records"),
    size("bytes?", "bytes of records at stake", get="stake.bytes"),
)
FINDINGS = parts("findings", "what is wrong, the worst first", FINDING)
