"""What happened, for the top of a report: a paragraph in words, and the incidents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kraftops.display.times import iso_time
from kraftops.engine.timeline_contract import Timeline
from kraftops.errors import KraftopsError, SourceError, UsageError
from kraftops.image.load.loading import limits_of
from kraftops.memory import USUAL, Budget
from kraftops.report.metadata_log import MetadataLog, Span
from kraftops.timeline.answer import incident_text
from kraftops.timeline.changes import read_changes
from kraftops.timeline.incidents import Incident, incidents_of

MOST_CHANGES = 20_000
"""Changes that are grouped: each takes 20 µs, and a report about three times its summary."""
MOST_INCIDENTS = 200  # the last ones are read; the page says how many it leaves out
_MOST_SENTENCES = 3  # the paragraph is read at a glance
_AROUND = 60_000
"""ms before and after an incident that a report of it has: what led to it, and what followed."""
_EARLIER = 3_600_000
"""ms before a span in which one of its incidents may have begun: to read all takes long."""
_COUNTED = ("elections", "isrShrinks", "isrExpands")
_TABLES = ("brokers", "topics", "configs")
_NONE = "No incident: no broker went away, no controller took over, no topic was created again."


@dataclass(frozen=True, slots=True)
class Story:
    """The paragraph, the incidents by their beginning, and how many are left out."""

    text: str
    incidents: tuple[Incident, ...]
    left_out: int


def story_of(names: Sequence[str], log: MetadataLog, span: Span) -> Story | None:
    """Return what happened in a span of a metadata log; None if its changes cannot be told.

    Args:
        names: the files of the log.
        log: the log as it was read; its timeline has the number of changes.
        span: the times that count.
    """
    count = _changes_in(log.timeline)
    if count > MOST_CHANGES:
        text = f"{count:,} changes are too many to group: choose fewer with --since and --until."
        return Story(text, (), 0)
    try:
        story = story_about(_incidents(names, span, log.image.store.budget))
    except SourceError:
        raise  # a file that can no longer be read, and was read before
    except KraftopsError:
        return None  # damage: the findings say where
    last = log.image.provenance.timestamp
    if 0 <= last < (span.since or 0):
        text = f"The log ends at {iso_time(last)}, before the time of this report."
        return replace(story, text=text)
    return story


def story_about(incidents: Sequence[Incident]) -> Story:
    """Return the story of incidents, the latest of them."""
    left_out = max(len(incidents) - MOST_INCIDENTS, 0)
    return Story(_paragraph(incidents), tuple(incidents[left_out:]), left_out)


def incident_at(
    names: Sequence[str], span: Span, number: int, budget: Budget = USUAL
) -> tuple[Incident, Span]:
    """Return an incident by its number from 1 on, and its span with a minute around it.

    Raises:
        UsageError: the log does not have so many.
        KraftopsError: it cannot be read.
    """
    incidents = _incidents(names, span, budget)
    if not 1 <= number <= len(incidents):
        raise UsageError(
            f"there is no incident {number}: the log has {len(incidents)}",
            "kraftops incidents lists them in this order",
            code="not-found",
        )
    incident = incidents[number - 1]
    until = span.until if incident.end is None else incident.end + _AROUND
    return incident, span._replace(since=incident.begin - _AROUND, until=until)


def _incidents(names: Sequence[str], span: Span, budget: Budget) -> list[Incident]:
    """Return the incidents that a span has a part of; one may have begun before it."""
    since = span.since or 0
    before = None if span.since is None else limits_of(None, since - _EARLIER)
    log = read_changes(names, since=before, until=span.end, budget=budget, is_for_incidents=True)
    return [
        incident for incident in incidents_of(log) if incident.end is None or incident.end >= since
    ]


def _changes_in(timeline: Timeline) -> int:
    """Return the number of changes of partitions, brokers, topics and configurations."""
    of_partitions = sum(sum(timeline.series.get((name, None), ())) for name in _COUNTED)
    kept = sum(kept.change.table in _TABLES for kept in timeline.changes)
    return of_partitions + kept + sum(timeline.left_out.get(table, 0) for table in _TABLES)


def _paragraph(incidents: Sequence[Incident]) -> str:
    if not incidents:
        return _NONE
    worst = sorted(incidents, key=_harm, reverse=True)[:_MOST_SENTENCES]
    sentences = [f"{_clock(incident)} {incident_text(incident)}." for incident in incidents
                 if incident in worst]  # fmt: skip
    more = len(incidents) - len(worst)
    if more:
        sentences.append(f"{more} more {'are' if more > 1 else 'is'} below.")
    return " ".join(sentences)


def _harm(incident: Incident) -> tuple[int, int, int, int]:
    """Return the sort key of harm: lost records, what lasts, time without leaders, brokers."""
    offline = sum(topic.longest_offline * topic.offline for topic in incident.topics)
    return len(incident.unclean), incident.end is None, offline, len(incident.brokers)


def _clock(incident: Incident) -> str:
    return f"{(iso_time(incident.begin) or '')[:19].replace('T', ' ')} UTC:"
