"""What `kafka-dump-log --check` answers: a row for each partition or file, and the findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraftops.answers.fields import Answer, boolean, number, parts, text
from kraftops.display.columns import Column, Styled, folded
from kraftops.display.columns import number as number_column
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
    text("topic", "topic", may_be_null=True),
    number("partition", "partition", may_be_null=True),
    text(
        "state",
        "by the worst finding",
        values=[str(state) for state in State],
        column=Column("STATE"),
        get=lambda check: str(check.state),
        cell=lambda check: Styled(str(check.state), _STYLES.get(check.state, "bad")),
    ),
    boolean(
        "starts",
        "whether Kafka's loader takes it; null where that depends on what is unknown",
        may_be_null=True,
    ),
    text(
        "outcome",
        "what the loading means for the server",
        values=[consequence.value for consequence in Consequence],
        may_be_null=True,
        get="load.consequence.value",
    ),
    number("segments", "number of segments", column=number_column("SEGMENTS", 4)),
    number("bytes", "bytes of logs", column=number_column("BYTES", 3)),
    number(
        "startOffset",
        "first offset of the local log, after a start where that is known",
        may_be_null=True,
        column=number_column("START", 2),
        get="start",
    ),
    number(
        "endOffset",
        "offset after the last record, likewise",
        may_be_null=True,
        column=number_column("END"),
        get="end",
    ),
    number(
        "lostOffsets",
        "number of offsets that are lost, or that a start loses",
        column=number_column("LOST OFFSETS"),
    ),
    number(
        "lostBytes",
        "bytes of them, as far as they are still there",
        column=number_column("LOST BYTES", 1),
    ),
    parts("losses", "spans of lost offsets", _LOSS),
    text(
        "reason",
        "why it cannot be read",
        may_be_null=True,
        get=lambda check: check.unreadable or None,
    ),
)
CHECK = Answer(
    (parts("partitions", "partitions, and files that were named alone", PARTITION), FINDINGS)
)
