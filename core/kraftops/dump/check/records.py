"""Records of a partition, read by the engine with the decoder of their topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraftops.dump.check.findings import Effect, Finding
from kraftops.dump.report import Report
from kraftops.dump.scan.outcomes import outcomes_of
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query


def record_findings(
    paths: Iterable[str], decoder: str | None, known: Iterable[Finding]
) -> Iterator[tuple[str, str, str, Effect, int]]:
    """Yield the arguments of findings about records that cannot be read, in whole batches.

    Args:
        paths: of the segments.
        decoder: its name, or None: only the framing is read.
        known: findings about batches, whose records are not reported again.

    Raises:
        SourceError: a segment cannot be read.
    """
    query = Query(deep_iteration=True, check=True, decoder=decoder, skip_record_metadata=True)
    damaged = {(finding.path, finding.position) for finding in known}
    for path in paths:
        for outcome in outcomes_of(ByteRange(path), query, Report()):
            for note in outcome.notes:
                if (path, note.position) not in damaged:
                    yield "bad-record", path, note.reason, Effect.STAYS, note.position
