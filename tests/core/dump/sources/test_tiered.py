"""Tiered segments, as `LocalTieredStorage` and Aiven's plugin name them, and partitions unread."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.helpers.logs.corpus_rows import logs_of, parsed
from tests.helpers.logs.log_directories import REAL
from tests.helpers.tools.console import run_here

ID = "LEFzPNdpQ3iPGVFX1yLGR-"
SEGMENT_IDS = ("oAtiIQ95REujbuzNd_lkLQ", "tqimKeZwStOEOwRzT3L5oQ", "MWJ6FHTfRYy67jzwZdeq-Q")
OFFSETS = (0, 16, 30)


def tiered(root: Path, folder: str, kinds: tuple[str, ...]) -> Path:
    """Copy the first segments of a real partition to a directory of a tier."""
    target = root / folder
    target.mkdir(parents=True)
    for offset, segment_id in zip(OFFSETS, SEGMENT_IDS, strict=True):
        for kind in kinds:
            source = REAL / f"stopped/txn-0/{offset:020}.{kind}"
            shutil.copy(source, target / f"{offset:020}-{segment_id}.{kind}")
    return root


@pytest.fixture(params=["local", "aiven"])
def tier(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A directory with tiered segments of orders-7."""
    if request.param == "local":
        kinds = ("log", "index", "timeindex", "txnindex")
        return tiered(tmp_path / "tier", f"orders-7-{ID}", kinds)
    root = tiered(tmp_path / "tier", f"orders-{ID}/7", ("log",))
    for path in root.rglob("*.log"):
        path.with_suffix(".indexes").write_bytes(b"\0" * 100)
        path.with_suffix(".rsm-manifest").write_text('{"version":"1","compression":false}')
    return root


def test_tiered_segments_are_found_through_a_directory(tier: Path) -> None:
    """And rows tell which segment holds an offset."""
    rows = parsed(run_here(str(tier), "--format", "json").text)
    [row] = parsed(run_here(str(tier), "--format", "json", "--offset", "20").text)

    assert [row["offset"] for row in rows] == sorted(row["offset"] for row in rows)
    assert {(row["topic"], row["partition"]) for row in rows} == {("orders", 7)}
    assert len({row["file"] for row in rows}) == 3
    assert row["file"].endswith(f"{16:020}-{SEGMENT_IDS[1]}.log")


def test_transactions_with_local_markers_are_not_open(tier: Path, tmp_path: Path) -> None:
    """A broker tiers what is stable: no transaction hangs there."""
    local = tmp_path / "local/txn-0"
    local.mkdir(parents=True)
    for offset in OFFSETS:
        shutil.copy(REAL / f"stopped/txn-0/{offset:020}.log", local)

    tiered, both = (
        logs_of(run_here("--summary", "--format", "json", *names).text)
        for names in ([str(tier)], [str(tier), str(local)])
    )

    assert [one["transactions"]["open"] for one in tiered] == [[]]
    assert not any(one["open"] for one in tiered[0]["producers"]["producers"])
    opened = {one["topic"]: len(one["transactions"]["open"]) for one in both}
    assert opened == {"orders": 0, "txn": 2}


def test_tiered_segments_are_checked_as_a_partition(tier: Path) -> None:
    sound = run_here("--check", str(tier))
    next(tier.rglob(f"{16:020}-*.log")).unlink()
    lost = run_here("--check", "--format", "json", str(tier))

    assert (sound.code, sound.text.splitlines()[-1]) == (0, "1 partition: 1 clean")
    (partition,) = json.loads(lost.text)["partitions"]
    assert lost.code == 2
    assert (partition["topic"], partition["partition"]) == ("orders", 7)
    assert partition["losses"] == [{"first": 16, "last": 29}]


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        ('{"compression":true}', "is compressed in chunks by the plugin"),
        ('{"compression":false,"encryption":{"dataKey":"x"}}', "is encrypted by the plugin"),
    ],
)
def test_segments_that_the_plugin_has_changed_are_refused(
    manifest: str, reason: str, tmp_path: Path
) -> None:
    root = tiered(tmp_path, f"orders-{ID}/7", ("log",))
    log = next(root.rglob("*.log"))
    log.with_suffix(".rsm-manifest").write_text(manifest)
    for other in root.rglob("*.log"):
        if other != log:
            other.unlink()

    done = run_here(str(root))

    assert (done.code, done.out) == (1, b"")
    assert reason in done.errors[0]


def test_other_layouts_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "1f2e-segment.log").touch()

    for arguments in ([], ["--check"]):
        done = run_here(*arguments, str(tmp_path))

        assert done.code == 1
        assert "1f2e-segment.log is not a name of a segment" in done.errors[0]
        assert "LocalTieredStorage" in done.errors[1]


def test_partition_that_cannot_be_read_does_not_refuse_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(REAL / "stopped", tmp_path / "logs")
    real = os.listdir

    def listdir(path: str) -> list[str]:
        if str(path).endswith("plain-0"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    done = run_here(str(folder), "--format", "csv")

    assert done.code == 1
    assert done.errors[0].endswith("plain-0: Permission denied [unreadable]")
    assert b"plain-1" in done.out
    assert b"plain-0" not in done.out
