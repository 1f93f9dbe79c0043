"""A report tells what happened, by an incident with known answers."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kraftops.engine.timeline_contract import MIN_ISR
from kraftops.findings.finding import worst_first
from kraftops.report.build import Heading, MetadataInput, build
from kraftops.report.cluster import metadata_part
from kraftops.report.commands import (
    MetadataCommands,
    of_controllers,
    of_log,
    of_metadata_files,
)
from kraftops.report.document import Report, Series, as_data
from kraftops.report.metadata_log import Span, read_metadata_log
from tests.helpers.logs.incidents import (
    HOSTILE,
    MINUTE,
    SECRET,
    START,
    TOPIC,
    at,
    change,
    incident_directory,
)
from tests.helpers.logs.random_logs import LogBatch, new_record
from tests.helpers.project.json_schemas import problems
from tests.helpers.tools.corpus import DATA

NOW = at(60)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return incident_directory(tmp_path_factory.mktemp("incident"))


def _report(log: Path, span: Span | None = None) -> Report:
    chosen = span or Span(None, None, NOW)
    folder = str(log / "__cluster_metadata-0")
    found = read_metadata_log([folder], chosen)
    metadata = MetadataInput(found, of_metadata_files((), folder), "abc")
    return build(Heading("What happened", chosen, "kraftops 1"), metadata, {})


@pytest.fixture(scope="module")
def report(log: Path) -> Report:
    return _report(log)


def _series(report: Report, name: str, by: int | None = None) -> dict[float, int]:
    """Return the values of a series that are not 0, by minute of the incident."""
    assert report.timeline
    found = [one for one in report.timeline.series if (one.name, one.by) == (name, by)]
    assert len(found) == 1
    assert isinstance(found[0], Series)
    times = (report.timeline.start + n * report.timeline.step for n in range(1000))
    pairs = zip(times, found[0].values, strict=False)
    return {(time - START) / MINUTE: value for time, value in pairs if value}


def _minutes(report: Report, name: str) -> tuple[float, float]:
    """Return the first and the last minute at which a level is not 0."""
    found = _series(report, name)
    return min(found), max(found)


def test_the_report_has_the_form_of_its_schema(report: Report) -> None:
    data = {"command": "report", "formatVersion": 2, **as_data(report)}

    assert problems("report", json.dumps(data)) == []


def test_secrets_are_not_in_the_report(report: Report) -> None:
    text = json.dumps(as_data(report))

    assert "ssl.keystore.password" in text
    assert "4096 iterations" in text
    assert SECRET not in text
    assert SECRET.encode().hex() not in text
    assert "aHVudGVyMi1vcGVuc2VzYW1l" not in text  # base64 of it


def test_brokers_have_bands(report: Report) -> None:
    assert report.timeline
    bands = {
        one.id: [(band.state, (band.start - START) / MINUTE) for band in one.bands]
        for one in report.timeline.brokers
    }

    states = ["active", "fenced"] * 3 + ["active"]
    assert bands[1] == list(zip(states, [0, 10, 20, 21, 22, 23, 24], strict=True))
    assert bands[2] == [("active", 0)]
    ends = {one.bands[-1].end for one in report.timeline.brokers}
    assert ends == {at(30)}


def test_levels_last_as_long_as_they_did(report: Report) -> None:
    first, last = _minutes(report, "offline")
    assert 12.9 <= first <= 13
    assert 14.9 <= last <= 15
    assert max(_series(report, "offline").values()) == 1
    first, last = _minutes(report, "underMinIsr")
    assert 11.9 <= first <= 12
    assert 15.9 <= last <= 16
    assert max(_series(report, "underReplicated").values()) == 2
    first, last = _minutes(report, "underReplicated")
    assert 9.9 <= first <= 10
    assert 19.9 <= last <= 20


def test_events_are_counted_by_broker(report: Report) -> None:
    assert sum(_series(report, "elections").values()) == 4
    assert sum(_series(report, "elections", 2).values()) == 2
    assert sum(_series(report, "elections", 3).values()) == 2
    assert sum(_series(report, "uncleanElections").values()) == 1
    assert sum(_series(report, "isrShrinks", 1).values()) == 2
    assert sum(_series(report, "isrExpands", 1).values()) == 2
    assert sum(_series(report, "records").values()) == 31


def test_the_worst_partition_has_its_losses(report: Report) -> None:
    worst, second = report.worst.partitions

    assert (worst.topic, worst.partition, worst.is_deleted) == ("orders", 0, False)
    assert worst.offline_ms == 2 * MINUTE
    assert worst.under_min_isr_ms == 4 * MINUTE
    assert worst.under_replicated_ms == 10 * MINUTE
    assert (worst.elections, worst.isr_changes) == (3, 5)
    assert worst.command
    assert worst.command.endswith("history-of /image/topics/byName/orders/0")
    assert (second.partition, second.under_replicated_ms, second.offline_ms) == (1, 10 * MINUTE, 0)
    topic = report.worst.topics[0]
    assert (topic.partitions, topic.under_replicated_ms) == (2, 20 * MINUTE)


def test_changes_have_before_and_after(report: Report) -> None:
    assert report.timeline
    found = {
        (one.kind, one.what, (one.time - START) / MINUTE): (one.before, one.after)
        for one in report.timeline.changes
    }

    assert found["config", f"TOPIC:orders {MIN_ISR}", 2] == (None, "2")
    assert found["config", f"TOPIC:orders {MIN_ISR}", 25] == ("2", "1")
    assert found["config", "TOPIC:orders retention.ms", 26] == ("5000", "9000")
    assert found["config", "BROKER:1 ssl.keystore.password", 3] == (None, "<redacted>")
    assert found["scram", "SCRAM-SHA-256 of alice", 3] == (None, "4096 iterations")
    assert found["broker", "broker 1", 10] == ("active", "fenced")
    assert found["broker", "broker 2", 0] == (None, "active, registered at b2:9092, rack r1")
    assert found["feature", "metadata.version", 0] == (None, "4.0-IV3")
    created = found["topic-created", "topic orders", 1][1]
    assert created
    assert created.startswith("2 partitions, 3 replicas, id ")
    assert ("topic-deleted", f"topic {HOSTILE}", 29) in found
    times = [one.time for one in report.timeline.changes]
    assert times == sorted(times)


def test_no_change_is_left_out_where_a_topic_went_with_its_configurations(tmp_path: Path) -> None:
    log = incident_directory(tmp_path)
    path = log / "__cluster_metadata-0" / f"{0:020}.log"
    record = new_record("RemoveTopicRecord", topicId=TOPIC)._replace(timestamp=at(31))
    path.write_bytes(path.read_bytes() + bytes(LogBatch(35, [record], 4)))

    report = _report(log)

    assert report.timeline
    last = report.timeline.changes[-1]
    assert (last.kind, last.what) == ("topic-deleted", "topic orders")
    assert report.more.changes == 0


def test_the_quorum_has_its_leaders(report: Report) -> None:
    assert report.timeline
    found = [
        (one.leader, one.epoch, (one.start - START) / MINUTE, (one.end - START) / MINUTE)
        for one in report.timeline.leadership
    ]

    assert found == [
        (100, 1, 0, 11),
        (101, 2, 11, 11.5),
        (102, 3, 11.5, 11.75),
        (100, 4, 11.75, 30),
    ]


def _recorded(path: Path) -> Report:
    span = Span(None, None, 2 * NOW)
    found = read_metadata_log([str(path)], span)
    metadata = MetadataInput(found, of_metadata_files([str(path)], None), "abc")
    return build(Heading("What happened", span, "kraftops 1"), metadata, {})


def test_a_leader_of_the_quorum_that_is_killed_is_down_until_it_registers_again() -> None:
    report = _recorded(DATA / "incidents/three/00000000000000000000.log")

    assert report.timeline
    states = {
        node.id: [(band.state, band.end - band.start) for band in node.bands]
        for node in report.timeline.controllers
    }
    assert states == {
        1: [("follower", 138_857), ("leader", 100_381)],
        2: [("follower", 239_238)],
        3: [("leader", 139_311), ("down", 2_735), ("follower", 97_646)],
    }


def test_a_follower_that_registers_again_has_a_mark(log: Path, tmp_path: Path) -> None:
    def register(number: int) -> bytes:
        record = new_record(
            "RegisterControllerRecord", controllerId=9, zkMigrationReady=False,
            incarnationId=bytes([number]) * 16, endPoints=[], features=[],
        )  # fmt: skip
        return bytes(LogBatch(34 + number, [record._replace(timestamp=at(30 + number))], 4))

    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    data = (log / "__cluster_metadata-0" / f"{0:020}.log").read_bytes()
    (folder / f"{0:020}.log").write_bytes(data + register(1) + register(2))

    report = _report(tmp_path)

    assert report.timeline
    (node,) = (node for node in report.timeline.controllers if node.id == 9)
    assert [(band.state, band.start, band.offset) for band in node.bands] == [
        ("follower", at(31), 35), ("down", at(32), 36),
    ]  # fmt: skip


def test_changes_by_the_format_of_the_cluster_are_marked() -> None:
    report = _recorded(DATA / "incidents/principals/00000000000000000000.log")

    assert report.timeline
    bootstrap = [change.offset for change in report.timeline.changes if change.is_bootstrap]
    assert bootstrap == [2, 3, 4, 5, 6, 7, 8]


def test_commands_without_a_folder_name_absolute_paths(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)

    commands = of_metadata_files((), "meta/__cluster_metadata-0")

    assert commands.record(5) == (
        f"kraftops dump-log --from-start {tmp_path}/meta/__cluster_metadata-0 --offset 5"
    )
    assert of_controllers("c:1", "abc").changes(0, None) == (
        "kraftops changes -C c:1 --expect-cluster-id abc --since 1970-01-01T00:00:00.000Z"
    )
    assert of_log(["s3://bucket/t-0", "-odd"], None, "--summary") == (
        f"kraftops dump-log s3://bucket/t-0 {tmp_path}/-odd --summary"
    )


def test_findings_name_what_went_wrong(report: Report) -> None:
    found = {one.code: (one.severity, one.count) for one in report.findings}

    assert found == {
        "offline-partitions": ("stops", 1),
        "unclean-elections": ("loss", 1),
        "under-min-isr": ("risk", 1),
        "under-replicated": ("risk", 2),
        "flapping-broker": ("risk", 3),
        "quorum-instability": ("risk", 3),
    }
    assert list(report.findings) == worst_first(report.findings)


def test_the_cluster_is_that_of_the_end(report: Report) -> None:
    cluster = report.cluster

    assert cluster
    assert (cluster.cluster_id, cluster.metadata_version, cluster.release) == (
        "abc", "4.0-IV3", "4.0",
    )  # fmt: skip
    assert [(one.id, one.state, one.host) for one in cluster.brokers] == [
        (number, "active", f"b{number}:9092") for number in (1, 2, 3)
    ]
    assert (cluster.topics, cluster.partitions, cluster.replicas) == (1, 2, 6)
    assert (cluster.offline, cluster.under_min_isr, cluster.under_replicated) == (0, 0, 0)


def test_a_window_begins_with_the_state_before_it(log: Path) -> None:
    report = _report(log, Span(at(14), at(22.5), NOW))

    assert report.timeline
    assert report.worst.partitions[0].offline_ms == MINUTE
    assert sum(_series(report, "elections").values()) == 1
    bands = [(one.state, one.start, one.end) for one in report.timeline.brokers[0].bands]
    assert bands == [
        ("fenced", at(14), at(20)),
        ("active", at(20), at(21)),
        ("fenced", at(21), at(22)),
        ("active", at(22), at(22)),
    ]
    assert [(one.leader, one.start) for one in report.timeline.leadership] == [(100, at(14))]
    assert report.cluster
    assert report.cluster.time == at(22)
    assert {one.time for one in report.timeline.changes} == {at(20), at(21), at(22)}


def test_a_clock_that_jumps_breaks_no_bucket(log: Path, tmp_path: Path) -> None:
    data = (log / "__cluster_metadata-0" / f"{0:020}.log").read_bytes()
    moments = [(-1, 3), (at(-5000), 2), (1 << 60, 1)]
    for number, (time, leader) in enumerate(moments):
        record = change(1, leader=leader)._replace(timestamp=time)
        data += bytes(LogBatch(35 + number, [record], 4))
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(data)

    report = _report(tmp_path)

    assert report.timeline
    assert report.timeline.leadership[-1].end == at(30)
    assert sum(_series(report, "elections").values()) == 6
    finding = next(one for one in report.findings if one.code == "odd-times")
    assert (finding.count, finding.severity) == (3, "note")


def test_a_report_without_logs_is_empty() -> None:
    report = build(Heading("", Span(None, None, NOW), "kraftops 1"), None, {})

    assert report.title == "Incident report"
    assert (report.cluster, report.timeline, report.findings) == (None, None, ())
    assert report._replace(title="x").sources == ()


def test_states_of_brokers_begin_late_where_earlier_ones_are_left_out(log: Path) -> None:
    """What a broker was before the first change that was kept is not known."""
    span, folder = Span(None, None, NOW), str(log / "__cluster_metadata-0")
    found = read_metadata_log([folder], span)
    timeline = found.timeline
    kept = [one for one in timeline.changes if one.time >= at(5)]
    cut = timeline._replace(changes=kept, left_out={**timeline.left_out, "brokers": 3})

    whole = metadata_part(found, MetadataCommands(), None).timeline
    late = metadata_part(replace(found, timeline=cut), MetadataCommands(), None).timeline

    assert whole is not None
    assert late is not None
    begins = [each.bands[0].start for each in late.brokers]
    assert min(each.bands[0].start for each in whole.brokers) < at(5)
    assert min(begins) == max(begins) >= at(5)
