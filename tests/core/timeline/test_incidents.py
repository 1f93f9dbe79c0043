"""Incidents of recorded logs, whose causes are known."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from kraftops.timeline.answer import incident_text
from kraftops.timeline.changes import ChangeLog, read_changes
from kraftops.timeline.incidents import incidents_of
from kraftops.timeline.tracking import Tracked
from tests.helpers.logs.incidents import INCIDENT, fencing, incident_directory
from tests.helpers.logs.random_logs import new_record
from tests.helpers.tools.corpus import DATA

RECORDED = DATA / "incidents/three"
SCENARIOS = (
    *("three", "racks-3.9", "racks-4.1", "unseen-4.0", "unseen-4.2", "unseen-4.3"),
    *("fresh-3.9", "fresh-4.3", "later-3.9", "later-4.3"),
)
COMBINED = ("fresh-3.9",)
"""Scenarios whose brokers are controllers."""
CAUSES = {
    "start": None,
    "restart": "restarted",
    "kill": "crashed",
    "pause": "cut-off",
    "two at once": "several-brokers",
    "rolling restart": "rolling-restart",
    "leader of the quorum": "controller-failover",
    "reassignment": "reassignment",
    "topic created again": "topic-created-again",
    "flapping": "flapping",
    "bad configuration": "bad-configuration",
    "stays away": "fenced",
    "stays stopped": "stopped",
    "rack": "rack",
    "directory": "directory-failed",
    "full disk": "directory-failed",
    "only disk full": "fenced",
    "refused connections": "cut-off",
    "feature upgrade": "feature-changed",
    "every broker": "several-brokers",
    "short pause": None,  # nothing was written: a follower without new records stays in ISRs
    "stopped together": "stopped-together",
    "paused leader of the quorum": "controller-failover",
    "leaders as assigned": None,
    "topic deleted": None,
    "restart with a crash": ("restarted", "crashed", "restarted"),
    "slow follower": "slow-replicas",
    "two falls apart": ("crashed", "crashed"),
    "pause two": "several-brokers",
    "stopped leader of the quorum": "controller-failover",
    "restarted twice": ("restarted", "restarted"),
    "decommissioned": "unregistered",
    "killed and started at once": "crashed",
    "killed while moving": ("reassignment", "crashed"),
    "strict default": "bad-configuration",
    "topic created wider": "topic-created-again",
    "killed again and again": "flapping",
    "two stay away": "several-brokers",
    "reassignment beside a kill": ("crashed", "reassignment"),
    "directory while another is away": ("crashed", "directory-failed"),
    "killed for good while moving": ("reassignment", "fenced"),
}
"""The causes of what `tests.helpers.incidents.recording` does."""


@cache
def log(folder: Path = RECORDED) -> ChangeLog:
    return read_changes(str(folder / "00000000000000000000.log"))


def recorded() -> Iterator[object]:
    """Yield what was done, with the folder of its log."""
    for name in SCENARIOS:
        folder = DATA / "incidents" / name
        for done in json.loads((folder / "done.json").read_text()):
            yield pytest.param(folder, done, id=f"{name}-{done['name']}")


@pytest.mark.parametrize(("folder", "done"), list(recorded()))
def test_the_cause_is_what_was_done(folder: Path, done: dict[str, object]) -> None:
    assert isinstance(done["begin"], int)
    assert isinstance(done["end"], int)
    expected = CAUSES[str(done["name"])]

    incidents = [
        incident for incident in incidents_of(log(folder))
        if done["begin"] <= incident.begin <= done["end"] + 8_000
    ]  # fmt: skip
    if folder.name in COMBINED and expected != "controller-failover":
        # The node may have led the quorum, too.
        incidents = [one for one in incidents if one.cause != "controller-failover"]

    causes = [expected] if isinstance(expected, str) else [*(expected or ())]
    assert [incident.cause for incident in incidents] == causes
    assert isinstance(done["brokers"], list)
    if done["brokers"] and incidents:
        assert {broker for each in incidents for broker in each.brokers} == set(done["brokers"])
    assert all(incident.first_offset <= incident.last_offset for incident in incidents)


def test_an_incident_ends_when_all_is_in_sync() -> None:
    *ended, last = incidents_of(log())

    assert all(one.end is not None for one in ended)
    assert last.end is None
    assert last.back is None
    assert incident_text(last).startswith("broker 102 was fenced, and is not back; ")
    lasting = incident_text(replace(last, cause="slow-replicas"))
    assert lasting.startswith("broker 102 fell behind as a follower, and it lasts at the end of")


def test_what_a_crash_does_is_told() -> None:
    """Of single-0, broker 102 had the only replica."""
    (crash,) = [one for one in incidents_of(log()) if one.cause == "crashed"]

    assert crash.unclean == ("single-0",)
    assert [topic.topic for topic in crash.topics if topic.offline] == ["single"]
    assert crash.took_over == {101: 3, 103: 2}
    assert incident_text(crash) == (
        "broker 102 ended without a controlled shutdown, and was started again, all in sync after"
        " 8 s 213 ms; 1 partition without a leader, up to 7 s 533 ms (single);"
        " 1 partition under min ISR (single); unclean elections, records may be lost: single-0;"
        " leaders instead: 101 (3), 103 (2)"
    )


def test_a_broker_that_flaps_has_one_incident() -> None:
    (flapping,) = [one for one in incidents_of(log()) if one.cause == "flapping"]

    assert flapping.falls == 3


def test_the_configuration_before_is_named() -> None:
    (bad,) = [one for one in incidents_of(log()) if one.cause == "bad-configuration"]

    assert bad.config == "TOPIC:orders min.insync.replicas: default → 3"


def test_the_start_of_another_cluster_is_no_incident() -> None:
    node = DATA / "shell/in/n431"
    changes = read_changes(str(node))
    first = changes.changes[0]

    assert not [one for one in incidents_of(changes) if one.begin < first.time + 1000]


@pytest.mark.parametrize("name", SCENARIOS)
def test_incidents_need_only_the_changes_that_are_read_for_them(name: str) -> None:
    path = str(DATA / "incidents" / name / "00000000000000000000.log")

    fewer = read_changes(path, is_for_incidents=True)

    assert incidents_of(fewer) == incidents_of(log(DATA / "incidents" / name))
    assert len(fewer.changes) < len(log(DATA / "incidents" / name).changes)


@pytest.mark.parametrize(
    ("numbers", "cause"),
    [((3,), "unregistered"), ((2, 3), "unregistered"), ((), "several-brokers")],
)
def test_a_broker_that_is_unregistered_was_not_cut_off(
    numbers: tuple[int, ...], cause: str, tmp_path: Path
) -> None:
    """A decommissioned broker stops, is fenced, and goes without having been unfenced."""
    gone = [
        (6.5, [new_record("UnregisterBrokerRecord", brokerId=number, brokerEpoch=number)])
        for number in numbers
    ]
    fenced = [(6, [fencing(number, 1) for number in numbers or (2, 3)])]
    directory = incident_directory(tmp_path / "node", [*INCIDENT[:6], *fenced, *gone])

    incidents = incidents_of(read_changes(str(directory)))

    (incident,) = [row for row in incidents if row.cause != "controller-failover"]
    assert (incident.cause, incident.brokers) == (cause, numbers or (2, 3))
    assert (incident.end is None) == (not numbers)


def test_a_topic_that_is_only_deleted_is_none_of_an_incident() -> None:
    """A reassignment that lasted counted all topics deleted meanwhile."""
    tracked = Tracked(begin=0, first_offset=0, last_offset=0, cause="reassignment")

    tracked.forget_topic("deleted", time=5)

    assert not tracked.offline
    assert not tracked.under_min_isr
