"""What a check foretells of a start: refusals, what is cut off, and what is lost or perhaps lost.

The partitions are of a broker 4.3.1 that was stopped, or killed (`running`), or are made here.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops.dump.check import partition
from kraftops.dump.check.directories import CheckRequest, check_directories
from kraftops.dump.check.findings import PartitionCheck, State
from kraftops.findings.finding import Finding, Severity, Stake
from kraftops.log.batch import Record
from kraftops.log.indexes import OffsetEntry
from kraftops.log.log_file import LogFile
from kraftops.server.loader.contract import Consequence
from tests.helpers.findings.check_faults import FAULTS, Faulty
from tests.helpers.logs.log_directories import REAL
from tests.helpers.logs.metadata_logs import records_batch
from tests.helpers.logs.written import batch_bytes, offset_index_bytes

METADATA_LOG = "__cluster_metadata-0"
TIERED = "remote-log-index-cache"
BATCH = 2000  # bytes of a value: each third batch has an index entry


@pytest.fixture(autouse=True)
def _one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "_LOOKS", 1)


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REAL / "stopped", tmp_path / "stopped"))


@pytest.fixture
def running(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REAL / "running", tmp_path / "running"))


def checked(folder: Path, name: str) -> tuple[PartitionCheck, tuple[Finding, ...]]:
    """Check a log directory; return the check of a partition, and the findings on top."""
    checks, findings = check_directories(CheckRequest([str(folder)]))
    return next(check for check in checks if check.path.endswith(f"/{name}")), findings


def finding_of(check: PartitionCheck, code: str) -> Finding:
    return next(finding for finding in check.findings if finding.code == code)


def consequence_of(check: PartitionCheck) -> Consequence | None:
    return check.load and check.load.consequence


def lost(check: PartitionCheck) -> list[tuple[int, int]]:
    return [(loss.first, loss.last) for loss in check.losses]


def active_log(folder: Path) -> Path:
    return max(folder.glob("*.log"))


def delete_segment(folder: Path, base_offset: int) -> None:
    for path in folder.glob(f"{base_offset:020}.*"):
        path.unlink()


def batches_of(log: Path) -> list[bytes]:
    with LogFile(str(log)) as file:
        return [batch.data for batch in file.batches()]


# Refusals


def garble_txn_index(folder: Path) -> None:
    next((folder / "txn-0").glob("*.txnindex")).write_bytes(b"x" * 34)


def write_negative_epoch(folder: Path) -> None:
    (folder / "plain-0/leader-epoch-checkpoint").write_text("0\n1\n-1 0\n")


def empty_partition_metadata(folder: Path) -> None:
    (folder / "plain-0/partition.metadata").write_bytes(b"")


def append_zeros(folder: Path) -> None:
    with active_log(folder / "plain-0").open("ab") as file:
        file.write(bytes(100))


def rename_segment(folder: Path) -> None:
    log = active_log(folder / "txn-0")
    log.rename(log.with_name(f"{int(log.stem) + 5:020}.log"))


def flip_high_bit(folder: Path) -> None:
    """Flip a bit of a base offset in the middle of the active segment: no checksum covers it."""
    log = active_log(folder / "plain-0")
    batches = batches_of(log)
    batches[3] = bytes([1]) + batches[3][1:]
    log.write_bytes(b"".join(batches))


@pytest.mark.parametrize(
    ("stop", "fault", "name", "reason"),
    [
        ("stopped", garble_txn_index, "txn-0", "KafkaException: Unexpected aborted transaction"),
        ("stopped", write_negative_epoch, "plain-0", "IllegalArgumentException: Received invalid"),
        ("stopped", empty_partition_metadata, "plain-0", "NullPointerException"),
        ("stopped", append_zeros, "plain-0", "CorruptRecordException: Found record size 0"),
        ("stopped", rename_segment, "txn-0", "IllegalArgumentException: Split operation"),
        ("running", flip_high_bit, "plain-0", "IllegalArgumentException: Split operation"),
    ],
)
def test_start_that_kills_the_broker_is_told_on_top(
    stop: str, fault: Callable[[Path], None], name: str, reason: str, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(REAL / stop, tmp_path / stop))
    fault(folder)

    check, findings = checked(folder, name)

    assert (check.starts, consequence_of(check)) == (False, Consequence.BROKER_DIES)
    refusal = finding_of(check, "start-refused")
    assert refusal.severity is Severity.STOPS
    assert reason in refusal.text
    assert [finding.code for finding in findings] == ["server-stops"]
    assert name in findings[0].text
    assert check.lost_offsets <= 1


@pytest.mark.parametrize(
    ("has_metadata_log", "code"), [(True, "server-stops"), (False, "directory-goes-offline")]
)
def test_start_without_a_log_directory_is_told_on_top(
    stopped: Path, code: str, *, has_metadata_log: bool
) -> None:
    """A server needs the directory of its metadata log."""
    (stopped / "plain-0/partition.metadata").write_text("version: x\ntopic_id: x\n")
    if not has_metadata_log:
        shutil.rmtree(stopped / METADATA_LOG)

    check, findings = checked(stopped, "plain-0")

    assert check.state is State.REFUSED
    assert consequence_of(check) is Consequence.DIRECTORY_OFFLINE
    assert code in [finding.code for finding in findings]


def test_checkpoint_that_takes_the_directory_offline_is_told_on_top(stopped: Path) -> None:
    shutil.rmtree(stopped / METADATA_LOG)
    (stopped / "log-start-offset-checkpoint").write_text("words\n")

    _, findings = checked(stopped, "plain-0")

    assert [finding.code for finding in findings] == ["bad-checkpoint", "directory-goes-offline"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("leader-epoch-checkpoint", "words\n"),  # of another log only its directory goes offline
        ("0.checkpoint", ""),  # the loader of a partition has no snapshots
    ],
)
def test_metadata_log_that_does_not_load_ends_the_server(
    name: str, content: str, stopped: Path
) -> None:
    (stopped / METADATA_LOG / name).write_text(content)

    check, findings = checked(stopped, METADATA_LOG)

    assert (check.starts, consequence_of(check)) == (False, Consequence.BROKER_DIES)
    assert [finding.code for finding in findings] == ["server-stops"]


def test_zeros_behind_the_log_of_a_killed_broker_are_no_refusal(running: Path) -> None:
    append_zeros(running)

    check, findings = checked(running, "plain-0")

    assert (check.state, check.starts, check.end, findings) == (State.MENDED, True, 24, ())


@pytest.mark.parametrize("stop", ["stopped", "running"])
def test_flipped_base_offset_loses_no_more_than_its_batch(stop: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(REAL / stop, tmp_path / stop))
    flip_high_bit(folder)

    check, _ = checked(folder, "plain-0")

    assert lost(check) == [(21, 21)]


# Segments that are gone


def test_first_segment_is_lost_where_only_other_topics_are_tiered(running: Path) -> None:
    delete_segment(running / "txn-0", 0)
    (running / TIERED).mkdir()

    check, _ = checked(running, "txn-0")

    assert (check.state, lost(check)) == (State.LOST, [(0, 15)])
    assert not finding_of(check, "missing-start").is_possible


def test_partition_without_topic_id_is_lost_as_a_stray(stopped: Path) -> None:
    whole, _ = checked(stopped, "plain-0")
    (stopped / "plain-0/partition.metadata").unlink()

    check, _ = checked(stopped, "plain-0")

    finding = finding_of(check, "no-topic-id")
    assert finding.severity is Severity.LOSS
    assert whole.start is not None
    assert whole.end is not None
    assert finding.stake == Stake(whole.end - whole.start, whole.bytes)
    assert (check.lost_offsets, check.lost_bytes) == finding.stake


def test_metadata_log_without_topic_id_gets_it_from_a_start(stopped: Path) -> None:
    (stopped / METADATA_LOG / "partition.metadata").unlink()

    check, _ = checked(stopped, METADATA_LOG)

    assert finding_of(check, "no-topic-id").severity is Severity.NOTE
    assert check.lost_offsets == 0


@pytest.mark.parametrize(
    "code",
    [
        "bad-batch",
        "missing-end",
        "missing-offsets",
        "missing-partition",
        "missing-start",
        "start-cuts-log",
    ],
)
def test_finding_of_a_loss_counts_its_records(code: str, tmp_path: Path) -> None:
    faulty = FAULTS[code]
    assert isinstance(faulty, Faulty)
    folder = Path(shutil.copytree(REAL / faulty.name, tmp_path / faulty.name))
    faulty.make(folder)

    checks, _ = check_directories(CheckRequest([str(folder)]))

    (check,) = (check for check in checks if check.lost_offsets)
    stakes = [finding.stake for finding in check.findings if finding.severity is Severity.LOSS]
    assert code in [finding.code for finding in check.findings]
    assert sum(stake.records or 0 for stake in stakes if stake) == check.lost_offsets
    assert sum(stake.bytes for stake in stakes if stake) == check.lost_bytes


def test_first_segment_is_perhaps_lost_where_no_metadata_log_tells(running: Path) -> None:
    delete_segment(running / "txn-0", 0)
    (running / TIERED).mkdir()
    shutil.rmtree(running / METADATA_LOG)

    check, _ = checked(running, "txn-0")

    finding = finding_of(check, "missing-start")
    assert (finding.severity, finding.is_possible) == (Severity.NOTE, True)
    assert "if the topic is tiered" in finding.text
    assert "if it is not, they are lost" in finding.text
    assert check.lost_offsets == 0


def test_checkpoint_older_than_the_partition_still_counts_a_lost_end(running: Path) -> None:
    """A copy keeps no times: it may be of a partition that was deleted before, or right."""
    delete_segment(running / "txn-0", 60)
    for path in running.glob("*-checkpoint"):
        os.utime(path, (1e9, 1e9))

    check, _ = checked(running, "txn-0")

    finding = finding_of(check, "missing-end")
    assert (finding.severity, finding.is_possible) == (Severity.LOSS, True)
    assert "older than the partition" in finding.text
    assert [str(evidence) for evidence in finding.evidence] == [
        f"{running}/replication-offset-checkpoint: 72"
    ]
    assert lost(check) == [(60, 71)]


# Batches out of order, and cuts


def made_partition(parent: Path, segments: dict[int, list[int]], keys: str = "unique") -> Path:
    """Make a killed broker's log directory with a topic `made`: base offsets, and offsets."""
    folder = parent / "made-0"
    folder.mkdir(parents=True)
    for base, offsets in segments.items():
        batches = [made_batch(offset, keys) for offset in offsets]
        (folder / f"{base:020}.log").write_bytes(b"".join(batches))
        entries = [
            OffsetEntry(offsets[number], number * len(batches[0]))
            for number in range(3, len(offsets), 3)
        ]
        (folder / f"{base:020}.index").write_bytes(offset_index_bytes(entries, base))
        (folder / f"{base:020}.timeindex").write_bytes(b"")
    (folder / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    topic_id = "topic_id: zHCMXnVfTbWYJ0gHcZYg2Q"
    (folder / "partition.metadata").write_text(f"version: 0\n{topic_id}\n")
    (parent / "recovery-point-offset-checkpoint").write_text(f"0\n1\nmade 0 {max(segments)}\n")
    return parent


def made_batch(offset: int, keys: str) -> bytes:
    key = b"%d" % offset if keys == "unique" else None
    return batch_bytes([Record(offset, -1, key, b"v" * BATCH)], leader_epoch=0)


@pytest.mark.parametrize(
    "offsets",
    [[10, 11, 12, 13, 14, 15, 13, 16], [10, 11, 12, 14, 15, 16, 13]],
    ids=["duplicated", "moved"],
)
def test_batch_that_fits_no_index_makes_a_start_empty_the_segment(
    offsets: list[int], tmp_path: Path
) -> None:
    """`LogLoader` takes the offset that its index refuses for a reason to cut all of it off."""
    folder = made_partition(tmp_path, {0: list(range(10)), 10: offsets})

    check, _ = checked(folder, "made-0")

    assert (check.starts, check.start, check.end) == (True, 0, 10)
    assert check.state is State.LOST
    assert lost(check) == [(10, 16)]
    assert "ends the log at offset 10" in finding_of(check, "start-cuts-log").text


CUT = [0, 1, 2, 3, 4, 8, 9]


def with_metadata_log(parent: Path, policy: str) -> None:
    folder = parent / METADATA_LOG
    folder.mkdir()
    config = {"resourceType": 2, "resourceName": "made", "name": "cleanup.policy", "value": policy}
    (folder / f"{0:020}.log").write_bytes(records_batch(0, ("ConfigRecord", config)))


@pytest.mark.parametrize("has_index", [True, False], ids=["index", "no index"])
@pytest.mark.parametrize("policy", ["delete", "compact", None])
@pytest.mark.parametrize("keys", ["unique", "null"])
def test_records_cut_out_of_a_closed_segment(
    keys: str, policy: str | None, tmp_path: Path, *, has_index: bool
) -> None:
    """They are lost, unless a cleaner may have removed them."""
    folder = made_partition(tmp_path, {0: list(range(10)), 10: [10, 11]}, keys)
    log = folder / f"made-0/{0:020}.log"
    log.write_bytes(b"".join(made_batch(offset, keys) for offset in CUT))
    if not has_index:
        log.with_suffix(".index").write_bytes(b"")
    if policy:
        with_metadata_log(folder, policy)

    check, _ = checked(folder, "made-0")

    if policy == "compact":
        assert check.lost_offsets == 0
    elif policy == "delete" or keys == "null" or has_index:
        assert lost(check) == [(5, 7)]
        assert finding_of(check, "missing-offsets").severity is Severity.LOSS
    else:
        finding = finding_of(check, "missing-offsets")
        assert (finding.severity, finding.is_possible) == (Severity.NOTE, True)
        assert "if it is not, they are lost" in finding.text
        assert check.lost_offsets == 0


def test_end_that_an_index_hides_after_a_clean_stop_is_lost(tmp_path: Path) -> None:
    """The last entry leads beyond the cut log, where a start finds nothing: the end is its base."""
    folder = tmp_path / "logs/t-0"
    folder.mkdir(parents=True)
    batches = [batch_bytes([Record(offset, 1, None, bytes(90))]) for offset in range(6)]
    last = OffsetEntry(5, sum(map(len, batches[:5])))
    (folder / f"{0:020}.log").write_bytes(b"".join(batches[:3]))
    (folder / f"{0:020}.index").write_bytes(offset_index_bytes([last], 0))
    (folder.parent / ".kafka_cleanshutdown").write_text("")
    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        (folder.parent / name).write_text("0\n1\nt 0 6\n")
    check, _ = checked(folder.parent, "t-0")
    assert check.end == 0
    assert sorted(lost(check)) == [(0, 2), (3, 5)]
    finding = finding_of(check, "start-cuts-log")
    (evidence,) = finding.evidence
    assert evidence.source == f"{0:020}.index"
    assert finding.cure.endswith("so that the start recovers the log: it then ends at offset 3")
    for command in finding.commands:
        subprocess.run(["sh", "-c", command], check=False, cwd=tmp_path)
    check, _ = checked(folder.parent, "t-0")
    assert (check.end, lost(check)) == (3, [(3, 5)])


def test_segment_that_waits_for_its_deletion_is_put_back_where_the_log_needs_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "logs/t-0"
    folder.mkdir(parents=True)
    for name in ("log-start-offset-checkpoint", "cleaner-offset-checkpoint"):
        (folder.parent / name).write_text("0\n0\n")
    (folder / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    for base in range(3):
        batch = batch_bytes([Record(base, 1, None, bytes(90))])
        (folder / f"{base:020}.log").write_bytes(batch)
    (folder / f"{0:020}.log").rename(folder / f"{0:020}.log.deleted")

    check, _ = checked(folder.parent, "t-0")

    finding = next(one for one in check.findings if one.code == "missing-start")
    assert finding.cure == f"put back what the next start would delete: {0:020}.log.deleted"
    for command in finding.commands:
        subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path)
    check, _ = checked(folder.parent, "t-0")
    assert (check.start, [one.code for one in check.findings if one.code == "missing-start"]) == (
        0,
        [],
    )


def test_partition_that_is_moved_here_can_keep_a_directory_from_loading(stopped: Path) -> None:
    """LogManager loads `-future`, `-delete` and `-stray` like all others."""
    future = stopped / f"plain-0.{7:032x}-future"
    shutil.copytree(stopped / "plain-0", future)
    _, sound = checked(stopped, "plain-0")
    (future / "leader-epoch-checkpoint").write_text("words\n")
    check, damaged = checked(stopped, "plain-0")
    assert check.state is State.CLEAN
    new = [finding for finding in damaged if finding not in sound]
    assert [finding.code for finding in new] == ["start-refused", "server-stops"]
    assert future.name in new[1].text


def with_second_directory(first: Path, identity: str) -> Path:
    """Return a log directory beside another one, with one of its partitions."""
    second = first.with_name("second")
    shutil.copytree(first / "plain-0", second / "plain-0")
    text = (first / "meta.properties").read_text()
    (second / "meta.properties").write_text(text.replace(*identity.split("->")))
    return second


def findings_of_both(first: Path, second: Path) -> list[Finding]:
    return [*check_directories(CheckRequest([str(first), str(second)]))[1]]


def test_partition_in_two_log_directories_of_a_broker_ends_it(stopped: Path) -> None:
    second = with_second_directory(stopped, "directory.id=q->directory.id=r")
    twice, stop = (finding for finding in findings_of_both(stopped, second) if finding.is_severe)
    assert (twice.code, twice.severity) == ("partition-twice", Severity.STOPS)
    assert twice.place.path == str(second / "plain-0")
    assert str(stopped) in twice.text
    assert stop.text == "node 1 will not start: it cannot load plain-0"


@pytest.mark.parametrize(
    "identity",
    [
        pytest.param("node.id=1->node.id=2", id="a replica on another broker"),
        pytest.param("->", id="a copy of the directory"),
        pytest.param("directory.id=->#", id="perhaps a copy: of Kafka before 3.7"),
    ],
)
def test_same_partition_elsewhere_is_not_twice_on_a_broker(identity: str, stopped: Path) -> None:
    second = with_second_directory(stopped, identity)
    assert "partition-twice" not in {finding.code for finding in findings_of_both(stopped, second)}


def test_forbidden_checkpoint_is_not_to_be_removed(
    stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (stopped / "replication-offset-checkpoint").write_text("words\n")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read all files
    _, findings = checked(stopped, "plain-0")
    finding = next(finding for finding in findings if finding.code == "bad-checkpoint")
    assert finding.is_possible
    assert finding.cure.startswith("give the permission to read it")
    assert all(finding.is_possible for finding in findings if finding.is_severe)
