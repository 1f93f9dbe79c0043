"""Build a report from what was read of logs."""

import os.path
from collections.abc import Iterable, Mapping, Sequence
from operator import add
from typing import NamedTuple

from kraftops.dump.summary.logs import Log
from kraftops.dump.summary.summary import Summary
from kraftops.findings.finding import Finding, Severity, worst_first
from kraftops.memory import USUAL, Budget
from kraftops.records.internal_topics import METADATA
from kraftops.report.changes import cut, with_likely_principals
from kraftops.report.cluster import MetadataPart, metadata_part
from kraftops.report.commands import MetadataCommands
from kraftops.report.document import More, Report, TimedIncident, Window, Worst
from kraftops.report.findings import (
    MOST_FINDINGS,
    UNCLEAN,
    log_findings,
    metadata_findings,
)
from kraftops.report.logs import logs_part
from kraftops.report.metadata_log import MetadataLog, Span
from kraftops.report.story import Story
from kraftops.timeline.authorizer import Request

DEFAULT_TITLE = "Incident report"


class Heading(NamedTuple):
    """The title of a report, its span, and the program that makes it with its version.

    *folder* is where commands name files from; without one, they have absolute paths.
    """

    title: str
    span: Span
    generator: str
    folder: str | None = None


class MetadataInput(NamedTuple):
    """A metadata log, the commands about it, and the id of its cluster, if that is known.

    *story* is what happened, if that can be told. *requests* are those that its authorizer allowed.
    """

    log: MetadataLog
    commands: MetadataCommands
    cluster_id: str | None
    story: Story | None = None
    requests: Iterable[Request] = ()


def build(
    heading: Heading,
    metadata: MetadataInput | None,
    summaries: Mapping[Log, Summary],
    budget: Budget = USUAL,
) -> Report:
    """Return the report of a metadata log, if there is one, and of the summaries of all logs.

    What is read once more has the *budget*.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    part: MetadataPart | None = None
    story: Story | None = None
    incidents: tuple[TimedIncident, ...] = ()
    findings: list[Finding] = []
    known_since: dict[str, int | None] = {}
    damaged: set[str] = set()
    if metadata is not None:
        log, commands, cluster_id, story, requests = metadata
        log_problems = log.image.log_findings
        damaged.update(problem.place.path for problem in log_problems)
        part = metadata_part(log, commands, cluster_id)
        if part.timeline is not None:
            changes = with_likely_principals(part.timeline.changes, requests)
            part = part._replace(timeline=part.timeline._replace(changes=changes))
        findings += metadata_findings(log, log_problems, part.timeline, commands)
        known_since[METADATA] = log.known_since
        incidents = tuple(
            TimedIncident(incident, commands.changes(incident.begin, incident.end))
            for incident in (story.incidents if story else ())
        )
    logs = logs_part(summaries, known_since, heading.folder)
    times = [source.last_time for source in logs.sources if source.last_time is not None]
    window = Window(heading.span.since, max(times, default=None))
    findings += log_findings(logs.logs, damaged, logs.transactions, window, budget)
    findings = worst_first(findings)
    more = _sum(logs.more, part.more if part else More())
    sentences = [text for text in (story and story.text, _losses(findings, incidents)) if text]
    title = " ".join(heading.title.split()) or DEFAULT_TITLE
    return Report(
        title=cut(title),
        generated_at=heading.span.now,
        generator=heading.generator,
        sources=logs.sources,
        folder=heading.folder and os.path.basename(heading.folder),
        window=Window(heading.span.since, heading.span.until),
        story=" ".join(sentences) or None,
        incidents=incidents,
        cluster=part.cluster if part else None,
        timeline=part.timeline if part else None,
        worst=part.worst if part else Worst((), ()),
        logs=logs.logs,
        groups=logs.groups,
        transactions=logs.transactions,
        findings=tuple(findings[:MOST_FINDINGS]),
        more=_sum(
            more,
            More(
                findings=max(len(findings) - MOST_FINDINGS, 0),
                incidents=story.left_out if story else 0,
            ),
        ),
    )


def _losses(findings: Sequence[Finding], incidents: Sequence[TimedIncident]) -> str:
    """Return a sentence about losses that no incident mentions."""
    losses = [
        finding.text
        for finding in findings
        if finding.severity is Severity.LOSS and not (incidents and finding.code == UNCLEAN)
    ]
    more = f", and {len(losses) - 1} more below" if len(losses) > 1 else ""
    return f"Lost: {losses[0]}{more}." if losses else ""


def _sum(first: More, second: More) -> More:
    return More(*map(add, first, second))
