"""What `kafka-dump-log --check` answers: a row for each partition or file, and the findings."""

from collections.abc import Sequence
from dataclasses import dataclass

from kraftops.answers.fields import Answer, boolean, number, parts, text
from kraftops.display.columns import Styled, folded
from kraftops.dump.check.findings import PartitionCheck, State
from kraftops.findings.answer import FINDINGS
from kraftops.findings.finding import Finding
from kraftops.server.loader.contract import Consequence

_STYLES = {State.CLEAN: "good", State.MENDED: "warning"}  # of all others "bad"


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """All that was checked, and what is wrong."""

    partitions: Sequence[PartitionCheck]
    findings: Sequence[Finding]


_LOSS = (number("first", "first offset"), number("last", "last offset"))
PARTITION = (
    text("path", "directory of the partition, or file", column=folded("PARTITION", style="name")),
    text("topic?", "topic"),
    number("partition?", "partition"),
    text(
        "state",
        "by the worst finding",
        values=[str(state) for state in State],
        column="STATE",
        get=lambda check: str(check.state),
        cell=lambda check: Styled(str(check.state), _STYLES.get(check.state, "bad")),
    ),
    boolean(
        "starts?", "whether Kafka's loader takes it; null where that depends on what is unknown"
    ),
    text(
        "outcome?",
        "what the loading means for the server",
        values=[consequence.value for consequence in Consequence],
        get="load.consequence.value",
    ),
    number("segments", "number of segments", column=("SEGMENTS", 4)),
    number("bytes", "bytes of logs", column=("BYTES", 3)),
    number(
        "startOffset?",
        "first offset of the local log, after a start where that is known",
        column=("START", 2),
        get="start",
    ),
    number("endOffset?", "offset after the last record, likewise", column="END", get="end"),
    number(
        "lostOffsets",
        "number of offsets that are lost, or that a start loses",
        column="LOST OFFSETS",
    ),
    number("lostBytes", "bytes of them, as far as they are still there", column=("LOST BYTES", 1)),
    parts("losses", "spans of lost offsets", _LOSS),
    text("reason?", "why it cannot be read", get=lambda check: check.unreadable or None),
)
CHECK = Answer(
    (parts("partitions", "partitions, and files that were named alone", PARTITION), FINDINGS)
)
