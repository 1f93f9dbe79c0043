"""What a start of a broker makes of its partitions is foretold, and what that means for the server."""

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from unittest.mock import patch

import pytest

from kraftops.findings.finding import Finding, Severity
from kraftops.image.verify import loading
from kraftops.image.verify.loading import Allowance, loading_findings
from kraftops.server.loader.contract import NEWEST_RELEASE
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import read_node
from tests.helpers.logs.log_directories import REAL
from tests.helpers.nodes.node_directories import DYNAMIC, format_node, make_node

EPOCHS = "plain-0/leader-epoch-checkpoint"


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """A node with the log directories d1, which has the metadata log, and d2, which has data."""
    node = make_node(tmp_path / "node", DYNAMIC, log_dirs="d1,d2")
    assert format_node(node, "--standalone").code == 0
    for path in (REAL / "stopped").iterdir():
        if path.name.startswith(("plain", "txn")):
            shutil.copytree(path, node / "d2" / path.name)
        elif path.name.endswith("checkpoint") or path.name == ".kafka_cleanshutdown":
            shutil.copy(path, node / "d2")
    return node


def found(folder: Path, most_bytes: int = 1 << 20) -> list[Finding]:
    with chdir(folder):
        node = read_node(load_config("server.properties"))
        return list(loading_findings(node, None, NEWEST_RELEASE, Allowance(most_bytes)))


def test_sound_partitions_have_no_finding(broker: Path) -> None:
    assert found(broker) == []


def words_for_epochs(directory: Path) -> None:
    (directory / EPOCHS).write_text("words\n")


def no_topic_id(directory: Path) -> None:
    (directory / "plain-0/partition.metadata").write_text("")


def zeros_at_the_end(directory: Path) -> None:
    with max((directory / "plain-0").glob("*.log")).open("ab") as log:
        log.write(bytes(100))


@pytest.mark.parametrize(
    ("damage", "codes"),
    [
        (words_for_epochs, ["start-refused", "directory-goes-offline"]),
        (no_topic_id, ["start-refused", "server-stops"]),
        (zeros_at_the_end, ["start-refused", "server-stops"]),
    ],
)
def test_refused_partition_costs_a_directory_or_the_server(
    damage: Callable[[Path], None], codes: list[str], broker: Path
) -> None:
    damage(broker / "d2")

    findings = found(broker)

    assert [(finding.code, finding.severity) for finding in findings] == [
        (code, Severity.STOPS) for code in codes
    ]
    assert (findings[1].place.node, findings[1].place.directory) == (1, "d2")
    assert "plain-0" in findings[1].text


def test_partition_in_two_directories_ends_the_broker(broker: Path) -> None:
    shutil.copytree(broker / "d2/plain-0", broker / "d1/plain-0")

    twice, stop = found(broker)

    assert str(twice).startswith("d2/plain-0: it is the same partition as d1/plain-0")
    assert (twice.code, stop.code) == ("partition-twice", "server-stops")
    assert (stop.place.directory, stop.text.rpartition(" ")[2]) == ("d2", "plain-0")


def test_directory_of_the_metadata_log_takes_the_server_with_it(broker: Path) -> None:
    for path in (broker / "d2").iterdir():
        if path.name != "meta.properties":
            shutil.move(path, broker / "d1" / path.name)
    words_for_epochs(broker / "d1")

    assert [finding.code for finding in found(broker)] == ["start-refused", "server-stops"]


def test_checkpoint_of_words_takes_the_directory_offline(broker: Path) -> None:
    (broker / "d2/recovery-point-offset-checkpoint").write_text("words\n")

    assert [finding.code for finding in found(broker)] == [
        "bad-checkpoint",
        "directory-goes-offline",
    ]


def test_checkpoint_with_an_odd_number_is_a_note(broker: Path) -> None:
    (broker / "d2/log-start-offset-checkpoint").write_text("0\n1\nplain x 5\n")

    (finding,) = found(broker)

    assert (finding.code, finding.severity) == ("bad-checkpoint", Severity.NOTE)


def test_end_below_the_high_watermark_is_a_loss(broker: Path) -> None:
    (broker / "d2/replication-offset-checkpoint").write_text("0\n1\ntxn 0 90\n")

    (finding,) = found(broker)

    assert (finding.code, finding.severity) == ("missing-end", Severity.LOSS)
    assert "it knows of offset 89 of txn-0, and" in finding.text
    assert "offsets 72 to 89 are lost" in finding.text


def test_end_before_its_producer_snapshot_is_a_loss(broker: Path) -> None:
    """A copy of a running broker has the log of an earlier moment than the snapshot."""
    (broker / "d2/txn-0" / f"{90:020}.snapshot").touch()

    (finding,) = found(broker)

    assert (finding.code, finding.severity) == ("missing-end", Severity.LOSS)
    assert "offsets 72 to 89 are lost" in finding.text


def test_producers_that_a_start_after_a_clean_stop_forgets_are_a_risk(broker: Path) -> None:
    for snapshot in (broker / "d2/txn-0").glob("*.snapshot"):
        snapshot.unlink()

    (finding,) = found(broker)

    assert (finding.code, finding.severity) == ("no-producers", Severity.RISK)
    assert finding.place.partition_name == "txn-0"
    assert finding.commands == ("rm d2/.kafka_cleanshutdown",)
    assert found(broker, most_bytes=100) == []
    (broker / "d2/.kafka_cleanshutdown").unlink()
    assert found(broker) == []


def test_empty_segment_before_others_is_a_loss(broker: Path) -> None:
    (broker / "d2/plain-0" / f"{9:020}.log").write_bytes(b"")

    (finding,) = found(broker)

    assert (finding.code, finding.severity) == ("missing-offsets", Severity.LOSS)


def test_segment_that_ends_before_its_index_is_a_loss(broker: Path) -> None:
    with (broker / "d2/plain-0" / f"{9:020}.log").open("r+b") as log:
        log.truncate(400)

    codes = {finding.code for finding in found(broker)}

    assert codes <= {"bad-batch", "missing-offsets"}
    assert codes


def test_log_start_that_no_broker_wrote_is_a_risk(broker: Path) -> None:
    """Where DeleteRecords has cut a log, its first epoch begins at the same offset."""
    shutil.copytree(REAL / "stopped/cut-0", broker / "d2/cut-0")
    checkpoint = broker / "d2/log-start-offset-checkpoint"
    assert checkpoint.read_text().splitlines()[2:] == ["cut 0 8"]
    assert found(broker) == []
    checkpoint.write_text("0\n2\ncut 0 8\nplain 0 5\n")

    (finding,) = found(broker)

    assert (finding.code, finding.severity) == ("checkpoint-differs", Severity.RISK)
    assert "plain-0: the log starts at 5, and the first epoch at 0" in finding.text


def test_replica_that_a_start_deletes_loses_nothing(broker: Path) -> None:
    (broker / "d2/replication-offset-checkpoint").write_text("0\n1\ntxn 0 90\n")
    (broker / "d2/txn-0").rename(broker / f"d2/txn-0.{'0' * 32}-delete")

    assert found(broker) == []


def test_large_segments_after_a_crash_are_left_to_a_check(broker: Path) -> None:
    (broker / "d2/.kafka_cleanshutdown").unlink()
    (broker / "d2/recovery-point-offset-checkpoint").write_text("0\n0\n")

    (finding,) = found(broker, 1000)

    assert (finding.code, finding.severity) == ("not-foretold", Severity.NOTE)
    assert "kafka-dump-log --check d2" in finding.commands


def test_large_segments_without_an_index_are_left_to_a_check(broker: Path) -> None:
    segment = broker / f"d2/plain-0/{18:020}"
    segment.with_suffix(".index").write_bytes(b"")

    assert found(broker) == []
    with patch.object(loading, "_INDEX_INTERVAL", 100):
        (finding,) = found(broker, 100)

    assert finding.code == "not-foretold"


def test_segment_on_a_disk_that_is_not_mounted_keeps_its_directory_from_loading(
    broker: Path, tmp_path: Path
) -> None:
    log = max((broker / "d2/plain-0").glob("*.log"))
    moved = tmp_path / "disk/moved.log"
    moved.parent.mkdir()
    log.rename(moved)
    log.symlink_to(moved)
    assert found(broker) == []
    moved.unlink()

    (finding,) = found(broker)

    assert (finding.code, finding.place.path) == ("unreadable", str(log.relative_to(broker)))
    assert finding.severity is Severity.LOSS
    assert finding.text == (
        f"it is a symbolic link to {tmp_path}/disk/moved.log, where nothing is: "
        "a start makes an empty one there"
    )
    (tmp_path / "disk").rmdir()
    assert found(broker)[0].severity is Severity.STOPS
    assert finding.cure == "mount the disk of the file, or put it back"


@pytest.mark.parametrize(("linked", "target"), [("d1", "d2"), ("d2", "d1")])
def test_of_a_partition_and_a_link_to_it_the_link_is_removed(
    linked: str, target: str, broker: Path
) -> None:
    if target == "d1":
        shutil.move(broker / "d2/plain-0", broker / "d1/plain-0")
    (broker / linked / "plain-0").symlink_to(broker / target / "plain-0")

    twice, _ = found(broker)
    subprocess.run(["sh", "-c", *twice.commands], check=True, cwd=broker)

    assert found(broker) == []
    assert list((broker / target / "plain-0").glob("*.log"))


def test_partition_with_a_relative_link_is_not_moved(broker: Path) -> None:
    """The link would lead nowhere from the other place."""
    shutil.copytree(broker / "d2/plain-0", broker / "d1/plain-0")
    place = broker / found(broker)[0].place.path
    log = next(place.glob("*.log"))
    log.rename(broker / log.name)
    log.symlink_to(f"../../{log.name}")

    twice, _ = found(broker)

    assert twice.commands == ()
    assert twice.cure.endswith(
        f"move this one away; first make its relative links absolute, which a move breaks: {log.name}"
    )


def test_partition_in_two_directories_is_not_moved_to_a_full_file_system(
    broker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(broker / "d2/plain-0", broker / "d1/plain-0")
    assert found(broker)[0].commands
    full = os.statvfs_result((4096, 4096, 1000, 0, 0, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    stat = os.stat
    other = stat("/proc/self")
    monkeypatch.setattr(
        os, "stat", lambda path, **keys: other if path == str(broker) else stat(path, **keys)
    )

    twice, _ = found(broker)

    assert twice.commands == ()
    assert "move this one away; copy it to a disk with more room: " in twice.cure
