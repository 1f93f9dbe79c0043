"""Partitions that are not where the metadata has them are found."""

import os
import shutil
import subprocess
from contextlib import chdir
from pathlib import Path

import pytest

from kraftops.dump.check.log_directory import misnamed_findings
from kraftops.findings.finding import Finding, Place, Severity, Stake
from kraftops.image.verify.assignments import (
    assignment_findings,
    image_of,
    lost_text,
    newest_images,
)
from kraftops.image.verify.beside import without_contradictions
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import read_node
from kraftops.uuids import to_text
from tests.helpers.logs.random_logs import MetadataRecord, uuid
from tests.helpers.nodes.assigned_partitions import (
    D1,
    D2,
    TOPIC,
    assigned,
    broker,
    partition,
    read,
    topic,
)
from tests.helpers.nodes.example_cluster import example_cluster
from tests.helpers.nodes.node_directories import CLUSTER_ID

OTHER = uuid(1 << 99)


def found_by(node: Path) -> list[Finding]:
    with chdir(node):
        return [
            finding
            for one in [read(node)]
            for image in newest_images([one]).values()
            for finding in assignment_findings(one, image)
        ]


def two_directories(tmp_path: Path, *records: MetadataRecord) -> Path:
    """Make broker 1 with t-0 in d1, in sync with nobody else."""
    records = (topic(), assigned(0, {1: D1}), *records)
    node = broker(tmp_path / "node", 1, {"d1": D1, "d2": D2}, *records)
    partition(node / "d1", "t-0")
    return node


def test_no_empty_log_is_foretold_beside_a_directory_that_fails(tmp_path: Path) -> None:
    node = two_directories(tmp_path, assigned(1, {1: D2, 2: OTHER}), assigned(2, {1: D2}))
    shutil.rmtree(node / "d2")
    (node / "d2").touch()

    with_other, alone = found_by(node)

    assert with_other.severity is Severity.RISK
    assert "may be in d2, without which the broker starts" in with_other.text
    assert "broker 2 can lead it" in with_other.text
    assert alone.severity is Severity.STOPS
    assert "it has no leader until then" in alone.text


def test_copy_of_a_move_is_taken_in_the_directory_that_the_metadata_has(tmp_path: Path) -> None:
    """Whether the other copy is there or not; elsewhere the broker makes an empty one."""
    node = two_directories(tmp_path, assigned(1, {1: D2}))
    future = partition(node / "d2", f"t-1.{'a' * 32}-future")

    assert found_by(node) == []
    future.rename(node / "d1" / future.name)
    (missing,) = found_by(node)
    assert missing.code == "missing-partition"


def stray(number: int, stake: Stake | None = None) -> Finding:
    place = Place(directory="d2", topic="t", partition=number)
    return Finding("other-broker", Severity.LOSS, "", place, stake=stake)


def test_partitions_where_they_belong_are_no_findings(tmp_path: Path) -> None:
    node = two_directories(tmp_path, assigned(1, {1: D2, 2: OTHER}), assigned(2, {2: OTHER}))
    partition(node / "d2", "t-1")
    partition(node / "d1", f"gone-0.{'a' * 32}-stray", topic_id=OTHER)
    partition(node / "d1", f"gone-0.{'a' * 32}-delete", topic_id=OTHER)
    partition(node / "d1", f"t-1.{'a' * 32}-future")

    assert found_by(node) == []


@pytest.mark.parametrize(
    ("name", "topic_id", "code", "reason"),
    [
        ("gone-0", OTHER, "unknown-topic", f"there is no topic gone with the id {to_text(OTHER)}"),
        ("t-0", OTHER, "unknown-topic", "topic t has another id now"),
        ("t-7", TOPIC, "unknown-partition", "the topic t has no partition 7"),
        ("t-1", TOPIC, "other-broker", "node 1 is not among the replicas [2] of t"),
        ("t-1", None, "no-topic-id", "it has no topic id"),
        ("other-1", TOPIC, "other-name", f"its topic id {to_text(TOPIC)} is that of t"),
    ],
)
def test_partition_that_a_broker_would_not_use_is_found(
    tmp_path: Path, name: str, topic_id: bytes | None, code: str, reason: str
) -> None:
    node = two_directories(tmp_path, assigned(1, {2: OTHER}))
    folder = partition(node / "d2", name, records=5, topic_id=topic_id)
    size = sum(path.stat().st_size for path in folder.glob("*.log"))

    (finding,) = found_by(node)

    assert (finding.code, finding.severity) == (code, "loss")
    assert (finding.place.path, finding.place.partition_name) == (f"d2/{name}", name)
    assert finding.stake == Stake(5, size)
    assert finding.text.startswith(reason)
    assert f"(5 records, {size} bytes)" in finding.text


def test_replica_without_topic_id_is_not_called_missing_too(tmp_path: Path) -> None:
    node = two_directories(tmp_path, assigned(1, {1: D2}))
    partition(node / "d2", "t-1", topic_id=None)

    (without_id,) = found_by(node)

    assert without_id.code == "no-topic-id"
    assert without_id.cure.endswith(f"version: 0 and topic_id: {to_text(TOPIC)}")


@pytest.mark.parametrize("rest", ["no segment", "no last segment"])
def test_partial_copy_gets_no_topic_id_and_is_missing(tmp_path: Path, rest: str) -> None:
    """With an id, the broker would take it for the replica in sync, and lead with it."""
    node = two_directories(tmp_path, assigned(1, {1: D2}))
    copy = partition(node / "d2", "t-1", topic_id=None)
    partition(node / "d2", "other-0", topic_id=OTHER)
    (copy / f"{3:020}.snapshot").touch()
    for segment in sorted(copy.glob("*.log"))[0 if rest == "no segment" else 1 :]:
        segment.unlink()

    missing, _ = found_by(node)[::-1]

    assert (missing.code, missing.severity, missing.commands) == ("missing-partition", "loss", ())
    assert "t-1 has no topic id, and not all that it had" in missing.text
    assert "no-topic-id" not in {finding.code for finding in found_by(node)}


@pytest.mark.parametrize("has_id", [True, False])
def test_partition_that_another_directory_has_too_gets_no_topic_id(
    tmp_path: Path, has_id: bool
) -> None:
    """With the same id in both, the broker does not start (`LogManager.loadLog`)."""
    node = two_directories(tmp_path, assigned(1, {1: D2}))
    partition(node / "d1", "t-1", topic_id=TOPIC if has_id else None)
    partition(node / "d2", "t-1", topic_id=None)

    *others, finding = (seen for seen in found_by(node) if seen.code == "no-topic-id")

    assert (finding.severity, finding.commands) == ("note", ())
    assert finding.place.directory == "d2"
    assert "leave it: the broker sets it aside, and d1 has no fewer records" in finding.cure
    assert [other.place.directory for other in others] == ([] if has_id else ["d1"])
    assert all("printf" in other.commands[0] for other in others)


def test_twin_with_fewer_records_is_moved_away_before_the_topic_id_is_written(
    tmp_path: Path,
) -> None:
    node = two_directories(tmp_path, assigned(1, {1: D2}))
    partition(node / "d1", "t-1", records=0)
    kept = partition(node / "d2", "t-1", topic_id=None)

    with chdir(node):
        (finding,) = without_contradictions(found_by(node))
        subprocess.run(finding.commands[0], shell=True, check=True)

    assert found_by(node) == []
    assert not (node / "d1/t-1").exists()
    assert len([*(node / "d1.aside").iterdir()]) == 1
    assert (kept / "partition.metadata").read_text().endswith(f"topic_id: {to_text(TOPIC)}\n")


def test_stray_without_data_costs_nothing(tmp_path: Path) -> None:
    node = two_directories(tmp_path)
    partition(node / "d2", "gone-0", records=0, topic_id=OTHER)

    (finding,) = found_by(node)

    assert (finding.code, finding.severity) == ("unknown-topic", "note")
    assert finding.stake == Stake(0, 0)


def test_partition_in_another_directory_of_the_node_is_a_note(tmp_path: Path) -> None:
    node = two_directories(tmp_path, assigned(1, {1: D2}))
    partition(node / "d1", "t-1")

    (finding,) = found_by(node)

    assert (finding.code, finding.severity) == ("other-directory", "note")
    assert finding.place.path == "d1/t-1"


@pytest.mark.parametrize(
    ("replicas", "isr", "severity", "path", "says"),
    [
        ({1: D2}, [1], "loss", "d2/t-1", "the metadata has it here, in sync: the broker makes"),
        ({1: D2, 2: OTHER}, [1, 2], "loss", "d2/t-1", "may lead the copies on broker 2"),
        ({1: D2, 2: OTHER}, [2], "note", "d2/t-1", "the broker fetches it from broker 2"),
        ({1: OTHER}, [1], "loss", "t-1", f"in directory {to_text(OTHER)}, which is none of this"),
        ({1: bytes(16)}, [1], "loss", "t-1", "the metadata has it on this node"),
    ],
)
def test_missing_partition_is_found(
    tmp_path: Path,
    replicas: dict[int, bytes],
    isr: list[int],
    severity: str,
    path: str,
    says: str,
) -> None:
    node = two_directories(tmp_path, assigned(1, replicas, isr))

    (finding,) = found_by(node)

    assert (finding.code, finding.severity) == ("missing-partition", severity)
    assert (finding.place.path, finding.place.partition_name) == (path, "t-1")
    assert says in finding.text


@pytest.mark.parametrize(
    ("isr", "eligible", "severity"),
    [
        ([], [1], "loss"),
        ([], [2], "note"),
        ([], [], "loss"),
        ([2], [1], "loss"),
        ([2], [], "note"),
    ],
)
def test_broker_that_may_lead_is_in_the_isr_or_the_elr(
    tmp_path: Path, isr: list[int], eligible: list[int], severity: str
) -> None:
    """A stopped broker leaves the ISR for the ELR, and leads where no other can (KIP-966)."""
    record = assigned(1, {1: D2, 2: OTHER}, isr, eligible)
    node = two_directories(tmp_path, record)

    (finding,) = found_by(node)

    assert (finding.code, finding.severity) == ("missing-partition", severity)


def test_directory_that_another_node_has_is_named(tmp_path: Path) -> None:
    node = two_directories(tmp_path, assigned(1, {1: OTHER}, [1]))
    other = broker(tmp_path / "other", 2, {"d3": OTHER}, topic())

    with chdir(other):
        second = read(other)
        assert second.metadata.meta
    with chdir(node):
        first = read(node)
        (image,) = newest_images([first]).values()
        (finding,) = assignment_findings(first, image, [first, second])

    assert f"in directory {to_text(OTHER)}, which is d3, in sync" in finding.text
    assert finding.cure == "put d3 into log.dirs of broker 1 again"


def test_partition_of_a_directory_that_failed_is_not_looked_for_elsewhere(tmp_path: Path) -> None:
    """The ids of a failed directory are unknown, so that it may be what the metadata means."""
    node = two_directories(tmp_path, assigned(1, {1: D2, 2: OTHER}, [2]))
    shutil.rmtree(node / "d2")
    (node / "d2").touch()

    (finding,) = found_by(node)

    assert (finding.severity, finding.cure) == ("note", "restore that directory")
    assert "it is missing, and may be in d2, without which the broker starts" in finding.text


def test_partition_of_another_topic_with_the_same_name_is_no_replacement(tmp_path: Path) -> None:
    node = two_directories(tmp_path, assigned(1, {1: D2}))
    partition(node / "d2", "t-1", topic_id=OTHER)

    assert [finding.code for finding in found_by(node)] == ["unknown-topic", "missing-partition"]


def test_node_without_metadata_is_not_compared(tmp_path: Path) -> None:
    node = broker(tmp_path / "node", 1, {"d1": D1})
    partition(node / "d1", "t-0")

    assert image_of(read(node)) is None
    assert found_by(node) == []


def test_newest_metadata_of_a_cluster_counts(tmp_path: Path) -> None:
    old = broker(tmp_path / "old", 1, {"d1": D1}, topic())
    new = broker(tmp_path / "new", 2, {"d1": D2}, topic(), assigned(0, {2: D2}))
    nodes = []
    images = {}
    for folder in (old, new):
        with chdir(folder):
            nodes.append(read(folder))
            _ = nodes[-1].content
    with chdir(new):
        images = newest_images(nodes)

    assert [(name, image.offset) for name, image in images.items()] == [(CLUSTER_ID, 1)]


def test_partitions_are_not_judged_by_a_log_that_lost_its_end(tmp_path: Path) -> None:
    """A broker fetches the rest before it loads them."""
    example_cluster(tmp_path)
    log = tmp_path / f"cluster/node-101/data/__cluster_metadata-0/{0:020}.log"
    os.truncate(log, 3000)
    with chdir(tmp_path / "cluster"):
        one = read_node(load_config("node-101.properties"))
        (image,) = newest_images([one]).values()
        (finding,) = assignment_findings(one, image)

    assert (finding.code, finding.severity.value) == ("metadata-log-lost", "note")
    assert finding.text.startswith("12 partitions cannot be judged by its own metadata log")


def test_long_lists_of_lost_partitions_are_cut() -> None:
    findings = [stray(number) for number in range(7)]

    assert lost_text(findings) == "t-0, t-1, t-2, t-3, t-4 and 2 more (0 records, 0 bytes)"


def test_link_whose_disk_is_not_mounted_is_no_empty_partition(tmp_path: Path) -> None:
    node = two_directories(tmp_path)
    shutil.move(node / "d1/t-0", tmp_path / "disk")
    (node / "d1/t-0").symlink_to(tmp_path / "disk")
    assert not found_by(node)
    (tmp_path / "disk").rename(tmp_path / "unmounted")

    (finding,) = found_by(node)

    assert (finding.code, finding.severity) == ("missing-partition", Severity.STOPS)
    assert f"it is a symbolic link to {tmp_path}/disk, where nothing is" in finding.text
    assert finding.cure.startswith("mount the disk")


@pytest.mark.parametrize("is_beside", [False, True])
def test_file_is_not_moved_away_before_the_directory_is_put_back(
    tmp_path: Path, is_beside: bool
) -> None:
    """The broker makes an empty partition as soon as the file is gone."""
    node = two_directories(tmp_path)
    shutil.move(node / "d1/t-0", node / "d1/t-0.old" if is_beside else tmp_path)
    (node / "d1/t-0").touch()

    with chdir(node):
        directories = read(node).directories
        findings = [*found_by(node), *misnamed_findings(directories[0])]
        missing, file = [
            finding
            for finding in without_contradictions(findings)
            if finding.place.path == "d1/t-0"
        ]
        for command in missing.commands:
            subprocess.run(["sh", "-c", command], check=True)

    assert "once the file in its place is gone" in missing.text
    assert (file.code, file.commands) == ("file-for-partition", ())
    assert file.cure.endswith("as [missing-partition] says")
    assert (node / "d1/t-0").is_dir() is is_beside
