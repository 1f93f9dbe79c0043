"""Gaps in offsets: those of compaction are no losses, and those of lost segments are.

The log `compact-0` of a real broker was compacted: offsets 0 and 5 are gone, whose keys came again.
"""

import shutil
from pathlib import Path

import pytest

from kraftops.dump.check import partition
from kraftops.dump.check.directories import CheckRequest, check_directories
from kraftops.dump.check.findings import PartitionCheck, State
from kraftops.findings.finding import Severity
from kraftops.log.batch import Record
from tests.helpers.logs.metadata_logs import records_batch
from tests.helpers.logs.written import batch_bytes

REAL = Path(__file__).parents[3] / "data/tiered-4.3.1/stopped"
OTHERS = ("kept-0", "orders-0", "orders-1")


@pytest.fixture
def broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log directory whose cleaner has not come to the log, as that of a new follower."""
    monkeypatch.setattr(partition, "_LOOKS", 1)
    folder = Path(shutil.copytree(REAL, tmp_path / "broker"))
    (folder / "cleaner-offset-checkpoint").write_text("0\n0\n")
    return folder


def check(folder: Path, *others: Path) -> PartitionCheck:
    names = [str(folder / "compact-0"), *map(str, others)]
    checks, _ = check_directories(CheckRequest(names))
    return checks[0]


def codes(found: PartitionCheck) -> list[str]:
    return [finding.code for finding in found.findings]


def assert_is_unexplained(found: PartitionCheck) -> None:
    """Expect a note with both outcomes, and nothing that counts."""
    (finding,) = found.findings
    assert (finding.code, finding.severity) == ("missing-offsets", Severity.NOTE)
    assert finding.is_possible
    assert finding.count == 2
    assert (found.state, found.lost_offsets) == (State.CLEAN, 0)


def without_segment(folder: Path, base: int) -> None:
    for path in (folder / "compact-0").glob(f"{base:020}.*"):
        path.unlink()


def test_compacted_log_of_a_new_follower_is_clean(broker: Path) -> None:
    """Two gaps were taken for two lost segments."""
    assert_is_unexplained(check(broker))


def test_compacted_log_without_its_log_directory_is_clean(broker: Path, tmp_path: Path) -> None:
    shutil.copytree(broker / "compact-0", tmp_path / "alone/compact-0")

    assert_is_unexplained(check(tmp_path / "alone"))


def test_lost_segment_of_a_compacted_log_of_a_follower_is_found(broker: Path) -> None:
    """Its own segments follow each other without a gap."""
    without_segment(broker, 21)

    found = check(broker)

    assert "missing-offsets" in codes(found)
    assert [(loss.first, loss.last) for loss in found.losses] == [(21, 35)]


@pytest.mark.parametrize("keys", [[b"a", b"b", b"a"], [b"a", b"b", None]], ids=["twice", "null"])
def test_gap_behind_keys_that_no_cleaner_leaves_is_a_loss(
    keys: list[bytes | None], tmp_path: Path
) -> None:
    folder = tmp_path / "compact-0"
    folder.mkdir()
    offsets = [0, 1, 2, 7]
    batches = [
        batch_bytes([Record(offset, 1, key, b"v")])
        for offset, key in zip(offsets, [*keys, b"z"], strict=True)
    ]
    (folder / f"{0:020}.log").write_bytes(b"".join(batches))

    found = check(tmp_path)

    assert codes(found) == ["missing-offsets"]
    assert found.lost_offsets == 4


@pytest.mark.parametrize(
    ("policy", "expected"),
    [("delete", ["missing-offsets"]), ("compact,delete", []), (None, ["missing-offsets"])],
)
def test_metadata_log_tells_the_cleanup_policy(
    policy: str | None, expected: list[str], broker: Path
) -> None:
    folder = broker / "__cluster_metadata-0"
    folder.mkdir()
    name = {"resourceType": 2, "resourceName": "compact", "name": "cleanup.policy"}
    values = ["compact" if policy is None else "delete", policy]
    records = [("ConfigRecord", {**name, "value": value}) for value in values]
    (folder / f"{0:020}.log").write_bytes(records_batch(0, *records))

    found = check(broker, folder)

    assert codes(found) == expected
    assert bool(found.losses) == (policy == "delete")
