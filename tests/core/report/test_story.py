"""The paragraph of a report, and its incidents."""

import pytest

from kraftops.errors import SourceError, UsageError
from kraftops.report import story
from kraftops.report.cluster import metadata_part
from kraftops.report.commands import MetadataCommands
from kraftops.report.metadata_log import MetadataLog, Span, read_metadata_log
from kraftops.timeline.changes import read_changes
from kraftops.timeline.incidents import incidents_of
from tests.helpers.tools.corpus import DATA

NAMES = [str(DATA / "incidents/three/00000000000000000000.log")]
ALWAYS = Span(None, None, 1_795_500_000_000)


def read(span: Span = ALWAYS) -> MetadataLog:
    return read_metadata_log(NAMES, span)


def test_the_paragraph_has_the_worst_and_says_how_many_more_there_are() -> None:
    told = story.story_of(NAMES, read(), ALWAYS)

    assert told
    assert list(told.incidents) == incidents_of(read_changes(NAMES))
    assert "broker 102 ended without a controlled shutdown" in told.text
    assert "unclean elections, records may be lost: single-0" in told.text
    assert "broker 102 was fenced, and is not back; before it" in told.text
    assert told.text.endswith(f"{len(told.incidents) - 3} more are below.")


def test_a_span_has_the_incidents_that_it_has_a_part_of() -> None:
    every = incidents_of(read_changes(NAMES))
    kill = next(one for one in every if one.cause == "crashed")
    assert kill.end
    span = ALWAYS._replace(since=kill.begin + 1, until=kill.end + 1)

    told = story.story_of(NAMES, read(span), span)

    assert told
    assert [one.begin for one in told.incidents] == [kill.begin]


def test_the_span_of_an_incident_has_a_minute_around_it() -> None:
    every = incidents_of(read_changes(NAMES))

    incident, span = story.incident_at(NAMES, ALWAYS, 2)

    assert incident == every[1]
    assert incident.end
    assert (span.since, span.until) == (every[1].begin - 60_000, every[1].end + 60_000)
    assert story.incident_at(NAMES, ALWAYS, len(every))[1].until is None  # it still lasts
    with pytest.raises(
        UsageError, match=f"there is no incident {len(every) + 1}: the log has {len(every)}"
    ):
        story.incident_at(NAMES, ALWAYS, len(every) + 1)


def test_too_many_changes_are_not_grouped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story, "MOST_CHANGES", 10)

    told = story.story_of(NAMES, read(), ALWAYS)

    assert told
    assert told.incidents == ()
    assert "with --since and --until" in told.text


def test_the_first_start_of_a_broker_is_not_an_outage() -> None:
    timeline = metadata_part(read(), MetadataCommands(), None).timeline

    assert timeline
    for broker in timeline.brokers:
        states = [band.state for band in broker.bands if band.state != "unregistered"]
        assert states[:2] == ["starting", "active"]
        assert "fenced" in states[2:]
        assert "starting" not in states[1:]


def test_file_that_cannot_be_read_again_is_an_error_and_no_quiet_time() -> None:
    with pytest.raises(SourceError):
        story.story_of(["/nowhere/0.log"], read(), ALWAYS)
