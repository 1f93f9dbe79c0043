"""What a check counts as lost, and what not: each case was once told wrongly.

The partitions are of a broker 4.3.1 that was stopped.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops.dump.check import partition
from kraftops.dump.check.directories import CheckRequest, check_directories
from kraftops.dump.check.findings import PartitionCheck, State
from kraftops.findings.finding import Finding
from tests.helpers.logs.log_directories import REAL

LAST_LOG = "plain-0/00000000000000000018.log"


@pytest.fixture(autouse=True)
def _one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "_LOOKS", 1)


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REAL / "stopped", tmp_path / "broker"))


def checked(*paths: Path) -> tuple[dict[str, PartitionCheck], list[Finding]]:
    """Return the checks that are not clean, by the names of partitions, and all findings."""
    checks, common = check_directories(CheckRequest([*map(str, paths)]))
    findings = [*common, *(finding for check in checks for finding in check.findings)]
    return {Path(check.path).name: check for check in checks if check.findings}, findings


def losses(check: PartitionCheck) -> list[tuple[int, int]]:
    return [(loss.first, loss.last) for loss in check.losses]


def kill(broker: Path) -> None:
    (broker / ".kafka_cleanshutdown").unlink()


def change_checkpoint(broker: Path, name: str, before: str, after: str) -> None:
    path = broker / f"{name}-offset-checkpoint"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))


def rename_segment(folder: Path, before: int, after: int) -> None:
    for path in folder.glob(f"{before:020}.*"):
        path.rename(folder / f"{after:020}{path.suffix}")


@pytest.mark.parametrize("size", [12, 16, 40, 300])
@pytest.mark.parametrize("byte", [b"\0", b"\xa7"], ids=["zeros", "noise"])
def test_bytes_after_the_last_batch_of_a_killed_broker_are_not_a_lost_record(
    size: int, byte: bytes, broker: Path
) -> None:
    kill(broker)
    with (broker / LAST_LOG).open("ab") as log:
        log.write(byte * size)

    checks, _ = checked(broker)

    assert (checks["plain-0"].state, losses(checks["plain-0"])) == (State.MENDED, [])


def test_damage_before_the_log_start_loses_nothing(broker: Path) -> None:
    with (broker / "cut-0/00000000000000000000.log").open("r+b") as log:
        log.seek(100)  # offset 1; the log starts at 8
        log.write(b"\xff")

    checks, _ = checked(broker)

    assert (checks["cut-0"].state, losses(checks["cut-0"])) == (State.MENDED, [])


def test_log_start_after_the_end_loses_what_the_epochs_begin_with(broker: Path) -> None:
    change_checkpoint(broker, "log-start", "cut 0 8", "cut 0 800")

    checks, _ = checked(broker)

    assert losses(checks["cut-0"]) == [(8, 9), (10, 19), (20, 23)]


def test_first_segment_gone_after_a_kill_is_lost(broker: Path) -> None:
    """Also where the log start is in its checkpoint, and not only in the epochs."""
    kill(broker)
    for path in (broker / "cut-0").glob("00000000000000000000.*"):
        path.unlink()

    checks, _ = checked(broker)

    assert losses(checks["cut-0"]) == [(8, 9)]


@pytest.mark.parametrize(("before", "after"), [(9, 5), (9, 12), (18, 25)])
def test_segment_with_another_name_has_lost_no_offsets(
    before: int, after: int, broker: Path
) -> None:
    rename_segment(broker / "plain-0", before, after)

    checks, _ = checked(broker)

    assert (checks["plain-0"].state, losses(checks["plain-0"])) == (State.DAMAGED, [])


def test_noise_beside_the_segments_has_lost_no_offsets(broker: Path) -> None:
    (broker / "plain-0/00000000000000000005.log").write_bytes(b"\xa7" * 500)

    checks, _ = checked(broker)

    assert losses(checks["plain-0"]) == []


def test_noise_in_an_index_does_not_make_a_possible_loss_certain(broker: Path) -> None:
    shutil.rmtree(broker / "__cluster_metadata-0")
    (broker / "cleaner-offset-checkpoint").unlink()
    (broker / "kept-0/00000000000000000000.index").write_bytes(bytes((0x77, 1, 2, 3) * 2))

    checks, _ = checked(broker)

    assert losses(checks["kept-0"]) == []
    assert {finding.code for finding in checks["kept-0"].findings} == {
        "index-differs",
        "missing-offsets",
    }


def test_findings_name_partition_directory_and_node(broker: Path) -> None:
    change_checkpoint(broker, "recovery-point", "txn 0 72", "txn 0 60")

    _, (finding,) = checked(broker)

    place = finding.place
    assert (place.node, place.directory) == (1, str(broker))
    assert (place.topic, place.partition, finding.code) == ("txn", 0, "checkpoint-differs")


# Log directories


def second_directory(first: Path) -> Path:
    """Return another log directory of the same broker, without partitions."""
    second = first.with_name("second")
    second.mkdir()
    text = (first / "meta.properties").read_text()
    (second / "meta.properties").write_text(text.replace("directory.id=q", "directory.id=r"))
    return second


def test_partition_that_was_moved_to_the_other_directory_is_not_missing(broker: Path) -> None:
    second = second_directory(broker)
    shutil.move(broker / "plain-0", second)

    _, findings = checked(broker, second)

    assert "missing-partition" not in {finding.code for finding in findings}


def test_directory_that_was_only_formatted_is_checked_beside_others(broker: Path) -> None:
    checks, findings = checked(broker, second_directory(broker))

    assert (checks, [finding for finding in findings if finding.is_severe]) == ({}, [])


def no_partition(broker: Path) -> None:
    (broker / "lost+found").mkdir()


def other_number(broker: Path) -> None:
    """`LocalLog.parseTopicPartitionName` reads it as plain-0."""
    shutil.copytree(broker / "plain-0", broker / "plain-00")


@pytest.mark.parametrize(
    ("fault", "code"), [(no_partition, "unknown-directory"), (other_number, "partition-twice")]
)
def test_directory_whose_name_ends_a_broker_is_told(
    fault: Callable[[Path], None], code: str, broker: Path
) -> None:
    fault(broker)

    _, findings = checked(broker)

    assert code in {finding.code for finding in findings}


def test_strays_of_one_name_end_no_broker(broker: Path) -> None:
    """A broker renames them before it looks whether there are two, as 4.3.1 does."""
    second = second_directory(broker)
    for directory in (broker, second):
        shutil.copytree(broker / "plain-0", directory / "gone-0")

    _, findings = checked(broker, second)

    assert "partition-twice" not in {finding.code for finding in findings}


def test_partition_that_is_named_with_its_directory_is_checked_once(broker: Path) -> None:
    checks, _ = check_directories(CheckRequest([str(broker), str(broker / "plain-0")]))

    assert len(checks) == 7


def test_copy_without_any_segment_has_not_lost_each_partition(broker: Path) -> None:
    """As an archive is packed from which only a metadata log is to be recovered."""
    for path in broker.glob("*-[01]/*"):
        if path.name.endswith(("log", "index")) and "__cluster" not in str(path):
            path.unlink()

    checks, findings = checked(broker)

    assert not any(map(losses, checks.values()))
    assert [finding.code for finding in findings if not finding.is_severe] == ["no-segments"]
